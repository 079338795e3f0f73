"""The files of traces that commands save, and how much they print about them."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from ccmatic import controllers
from ccmatic.answers import reports
from ccmatic.answers.explanation import Explanation
from ccmatic.cli.answers import trace_file
from ccmatic.networks.traces import Trace
from support import ROOT
from support.cli import lines, run

LATE_DRAIN = Trace.load(ROOT / "results" / "gallery" / "late_drain.json")
CONTROLLER = controllers.parse(LATE_DRAIN.controller, "late_drain")


def name(question=None, sender=CONTROLLER, **changes):
    return trace_file("traces", sender, replace(LATE_DRAIN, **changes), question).name


def about(**changes):
    return {**LATE_DRAIN.query, **changes}


def test_a_name_tells_controller_model_horizon_and_question():
    assert trace_file("traces", CONTROLLER, LATE_DRAIN).parent == Path("traces")
    assert name().startswith("late_drain-ccac-T7-synthesis_invariant-")
    assert name("share").startswith("late_drain-ccac-T7-share-")


def test_the_same_question_has_the_same_file_whatever_the_answer():
    assert name() == name(columns={}, broken=("another",))


def test_another_question_or_controller_has_another_file():
    threshold = {**LATE_DRAIN.query["property"], "utilisation": "1/3"}
    others = [
        name(query=about(buffer="1")),
        name(query=about(jitter="0")),
        name(query=about(property=threshold)),
        name(sender=replace(CONTROLLER, name="another")),
        name(controller="def rate(C_L):\n    return C_L\n"),
    ]
    assert len({name(), *others}) == 6


@pytest.mark.parametrize("model", ["/home/a b/wireless.py", "ccac2021:rate=1/2", "$(touch x)"])
def test_a_name_is_a_plain_file_name(model):
    made = name(query=about(model=model))
    assert "/" not in made and not {*made} & {*" $()'\\;*"} and len(made) < 255


def test_two_runs_about_other_networks_leave_two_traces_that_replay(tmp_path):
    network = ["--model", "ccac", "--horizon", "5", "--buffer"]
    saved = set()
    for buffer in ("1/2", "1", "1"):
        _, out, _ = run("verify", "always_double", *network, buffer, "--json", cwd=tmp_path)
        saved.add(lines(out)[0]["trace"])
    assert saved == {str(file.relative_to(tmp_path)) for file in (tmp_path / "ccmatic-traces").iterdir()}
    assert len(saved) == 2


def test_the_command_that_is_printed_checks_the_trace(tmp_path):
    network = ["--model", "ccac", "--horizon", "5", "--buffer", "1", "--out", "my traces"]
    _, out, _ = run("verify", "always_double", *network, cwd=tmp_path)
    (command,) = [line.split("check it: ccmatic ")[1] for line in out.splitlines() if "check it: " in line]
    assert run(*shlex.split(command), cwd=tmp_path)[0] == 0


def test_a_verdict_fits_on_a_screen_and_verbose_prints_all_columns(tmp_path):
    asked = ["verify", "always_double", "--model", "ccac", "--horizon", "7", "--buffer", "1/2"]
    _, short, _ = run(*asked, cwd=tmp_path)
    assert len(short.splitlines()) <= 24 and "is not met" in short and "C_L: what" not in short
    _, whole, _ = run(*asked, "--verbose", cwd=tmp_path)
    assert "C_L: a belief of the sender" in whole and [line for line in whole.splitlines() if line[:3] == "t  "]


@pytest.mark.parametrize("count, length", [(1, 5000), (3, 60), (50, 60), (50, 100)])
def test_as_many_sentences_as_fit_are_printed(count, length):
    told = Explanation(("x" * length,) * count, (), ())
    shown = reports.on_a_screen("report\nin two lines", told).splitlines()
    sentences = shown.count("x" * length)
    assert sentences >= 1
    if sentences < count:
        assert shown[-1].startswith(f"… and {count - sentences} more")
        rows = sum(-(-max(len(line), 1) // 80) for line in shown)
        assert sentences == 1 or 24 - length // 80 - 1 <= rows <= 24
