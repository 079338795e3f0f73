"""What an answer says to ask next."""

import json

import pytest
from click.testing import CliRunner

from ccmatic.cli.commands import cli
from ccmatic.query import advice, make

HYSTART = "--model {} with a horizon {} times as long: hystart compares delays with parts of R_m, and a step is {}"


def advised(controller, model, undecided=False, horizon=5):
    query = make(model, "1", horizon, property="avoids", thresholds={"what": "S[1] < 0"})
    return advice(query, query.controller(controller), undecided)


@pytest.mark.parametrize(
    "model, finer, times, step",
    [
        ("ccac_windows", "ccac_windows:R=8", 8, "R_m"),
        ("ccac_windows:R=2", "ccac_windows:R=8", 4, "R_m/2"),
        ("ccac2021:composing=no,R=3", "ccac2021:composing=no,R=24", 8, "R_m/3"),
    ],
)
def test_shorter_steps_are_advised_where_delays_are_compared_with_parts_of_an_rtt(model, finer, times, step):
    [sentence] = advised("hystart", model)
    assert sentence.startswith(HYSTART.format(finer, times, step))


@pytest.mark.parametrize("controller, model", [("hystart", "ccac_windows:R=8"), ("vegas", "ccac_windows:R=4")])
def test_no_steps_are_advised_where_they_tell_what_is_compared_apart(controller, model):
    assert advised(controller, "ccac_windows") and not advised(controller, model)


@pytest.mark.parametrize("controller", ["cubic", "bbr_v1", "reno", "lp"])
def test_nothing_is_advised_of_a_controller_that_compares_no_such_delay(controller):
    assert not advised(controller, "ccac_windows")


def test_where_there_is_no_answer_in_time_a_smaller_question_is_advised():
    told = " ".join(advised("cubic", "ccac_windows", undecided=True, horizon=9))
    assert all(part in told for part in ("horizon than 9", "alpha ==", "worst --at", "cubic_20ms"))
    assert "cubic_20ms" not in " ".join(advised("bbr", "ccac_windows", undecided=True))


@pytest.mark.parametrize("command", [("verify", "--property", "avoids", "--threshold", "what=S[1] < S[0]"), ("worst",)])
def test_commands_print_it_for_people_and_as_json(command, tmp_path):
    name, *more = command
    asked = [name, "vegas", "--model", "ccac_windows", "--buffer", "1", "--horizon", "3", *more]
    asked += ["--out", str(tmp_path)] + (["--at", "1/2"] if name == "worst" else [])
    assert "    try: --model ccac_windows:R=4 with" in CliRunner().invoke(cli, asked).stdout
    line = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout.splitlines()[0])
    assert line["advice"][0].startswith("--model ccac_windows:R=4 with")
