"""Traces of questions about a path state the path, so expectations about them may have its units."""

import json
from dataclasses import replace

import pytest

import ccmatic as cm
from ccmatic.base import InputError
from support import ROOT
from support.cli import lines, run

PATH = "24 mbit, rtt 40 ms, buffer 1 bdp"
QUESTIONS = [
    ("cc_qdel", f"{PATH}, jitter 40 ms", "queue <= 100 kb"),
    ("cc_qdel", f"{PATH}, jitter 40 ms", "delay <= 80 ms"),
    ("aimd", f"{PATH}, jitter 40 ms", "queue <= 100 kb"),
    ("aimd", PATH, "rate <= 24 mbit"),
    ("aimd", f"ccac 24 mbit, R=2, {PATH.removeprefix('24 mbit, ')}", "queue <= 100 kb"),
]


@pytest.fixture(scope="module")
def trace():
    return cm.answer(cm.ask(*QUESTIONS[0])).trace


@pytest.mark.parametrize("controller, on, expect", QUESTIONS)
def test_the_saved_trace_shows_the_value_of_its_answer(controller, on, expect):
    question = cm.ask(controller, on, expect)
    trace = cm.Trace.from_json(cm.answer(question).trace.to_json())
    judged = cm.measure(trace, expect)
    assert (judged.verdict, judged.measured) == ("not met", question.measured(trace))


def test_the_trace_of_a_worst_case_states_its_path():
    worst = cm.worst(cm.ask("cc_qdel", f"{PATH}, jitter 40 ms", "loss <= 10%"))
    assert worst.trace.path.rate == 3_000_000
    assert cm.measure(worst.trace, "queue <= 240 kb").unit == "kb"


def test_replay_judges_a_saved_trace_in_the_units_of_its_path(tmp_path):
    _, out, _ = run("verify", "aimd", "--on", PATH, "--expect", "rate <= 24 mbit", "--json", cwd=tmp_path)
    [line] = lines(out)
    code, out, err = run(
        "replay", line["trace"], "--expect", "queue <= 1 kb", "--expect", "rate <= 9 gbit", cwd=tmp_path
    )
    assert (code, err) == (1, "") and "not met" in out and " kb at " in out and " gbit at " in out


def test_two_paths_leave_two_files(tmp_path):
    found = set()
    for rate in ("24 mbit", "48 mbit"):
        on = f"{rate}, rtt {40 if rate == '24 mbit' else 20} ms, buffer 1 bdp"  # the same number of packets in a BDP
        _, out, _ = run("verify", "aimd", "--on", on, "--expect", "rate <= 50%", "--json", cwd=tmp_path)
        found.add(lines(out)[0]["trace"])
    assert len(found) == 2


def test_a_trace_without_a_path_has_no_such_units(trace):
    for each in (replace(trace, path=None), cm.Trace.load(ROOT / "results/gallery/late_drain.json")):
        with pytest.raises(InputError, match="counts in kb, and the network has no rate and rtt; expected .*a path"):
            cm.measure(each, "queue <= 100 kb")


@pytest.mark.parametrize(
    "key, value, message",
    [
        ("rate", "0", r"path: expected a rate between 10\^-50 and 10\^50"),
        ("rtt", "-1/25", r"path: expected a rtt between 10\^-50 and 10\^50"),
        ("rtt", f"1/{10**900}", r"path: expected a rtt between 10\^-50 and 10\^50"),
        ("rate", "x", "path, rate: found 'x'; expected an exact number"),
        ("packet", "1500", "path, packet: found 1500; expected a whole number"),
        ("rate", "6000000", "path: packets of 1500 bytes on this path are not the MSS of the trace"),
        ("hop", 1, "path: unknown key 'hop'"),
        ("rtt", "1/5", "the path of the trace has 2.5 steps per R_m; expected at most one step per R_m"),
    ],
)
def test_a_false_path_is_refused(trace, key, value, message):
    data = json.loads(trace.to_json())
    data["path"][key] = value
    del data["digest"]
    with pytest.raises(InputError, match=message):
        cm.measure(cm.Trace.from_json(json.dumps(data)), "queue <= 100 kb")
