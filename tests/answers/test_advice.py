"""What an answer says to ask next."""

import json

import pytest
from click.testing import CliRunner

from ccmatic.cli.commands import cli
from ccmatic.questions.query import advice, make
from support.cli import run

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


@pytest.mark.parametrize("expect, advised", [("utilisation >= 50%", True), ("no timeout", False)])
def test_a_counterexample_is_of_one_trace_and_worst_is_advised_where_there_is_an_amount(expect, advised, tmp_path):
    about = ["reno", "--on", "24 mbit, rtt 40 ms, buffer 1 bdp", "--expect", expect, "--out", tmp_path]
    code, out, _ = run("verify", *about)
    assert code == 1 and f"{expect}: in this trace " in out
    assert ("    try: `worst` with the same options" in out) is advised
    code, out, _ = run("verify", *about, "--json")
    assert ("advice" in json.loads(out)) is advised
    code, out, _ = run("worst", *about)
    assert code == (1 if advised else 2) and "try: `worst`" not in out


@pytest.mark.parametrize(
    "controller, start, expect, says",
    [
        ("reno", "any", "queue <= 1/2 bdp while window <= 1 packet", "waits from before the start"),
        ("vegas", "any", "utilisation >= 90%", "is measured, of bytes that waited since before the trace"),
        ("vegas", "start", "utilisation >= 90%", None),
    ],
)
def test_what_is_from_before_the_trace_is_said(controller, start, expect, says, tmp_path):
    about = [controller, "--on", "24 mbit, rtt 40 ms, buffer 1 bdp", "--expect", expect, "--from", start]
    code, out, _ = run("verify", *about, "--out", tmp_path, "--verbose")
    assert code == 1 and ("from before the start" in out, (says or "") in out) == (says is not None, True)
    assert ("try: --from converged, or --from start: the first step alone" in out) is ("queue" in expect)
    (file,) = tmp_path.glob("*.json")
    run("replay", file, "--html", tmp_path / "page.html")
    assert ("from before the start" in (tmp_path / "page.html").read_text()) is (says is not None)


COUNTS = "count: number = 1\n\n\ndef update(count):\n    count = 1\n\n\ndef send(MSS):\n    return MSS\n"
PACED = (
    "pace: rate = above(0)\n\n\ndef update(pace, MSS, R_m):\n    pace = MSS / R_m\n\n\ndef send(pace): return pace\n"
)
DOUBLES = "def rate(C_L):\n    return 2 * C_L\n"


@pytest.mark.parametrize(
    "sender, network, expectation, measured, compared",
    [
        (
            COUNTS,
            "ideal",
            "count <= 0.5",
            "count <= 0.5: in this trace 1 at 0 R_m",
            "count at t = 0: 1, more than 0.5;",
        ),
        (PACED, "ideal", "rate <= 1%", " % at 0 R_m", " C, more than 0.01 (1% of the link's rate)"),
        (DOUBLES, "ccac", "no queue", " bdp at ", "C·R_m, more than 0 (0%)"),
    ],
)
def test_values_have_the_units_of_their_quantities(sender, network, expectation, measured, compared, tmp_path):
    (tmp_path / "mine.py").write_text(sender)
    on = f"{network}, buffer 1 bdp"
    code, out, _ = run("verify", "mine.py", "--on", on, "--expect", expectation, "--from", "any", cwd=tmp_path)
    assert code == 1 and measured in out and compared in out
