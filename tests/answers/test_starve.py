"""Starvation: the smallest share for ever, its reason, and the answer where nothing is decided."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.answers.starvation import Attempt, usual_network
from ccmatic.answers.verification import Outcome
from ccmatic.answers.worst_case import NoExecution
from support import cli
from support.json_schemas import validate

ONE, MANY = "def send(MSS):\n    return MSS\n", "def send(MSS):\n    return 100 * MSS\n"

#: Its window grows in each step, so that no execution repeats itself.
GROWS = """window: bytes = above(0)


def update(window, MSS):
    window = window + MSS


def send(window):
    return window
"""

#: Its window stays as it is, but not in the first twenty steps.
GROWS_AT_FIRST = """window: bytes = above(0)
count: number = 0


def update(window, count, MSS):
    count = count + 1
    if count <= 20:
        window = window + MSS


def send(window):
    return window
"""

USUAL, IDEAL = "cbr_delay_own_jitter, buffer infinite, jitter 1 rtt", "ideal, buffer infinite"


@pytest.fixture
def windows(tmp_path):
    """Write two files of constant windows, one a hundred times the other."""
    for name, source in (("one", ONE), ("many", MANY)):
        (tmp_path / f"{name}.py").write_text(source)
    return tmp_path


def test_a_small_constant_window_starves_beside_a_large_one():
    starvation = cm.starve(ONE, MANY, periods=(1,))
    assert starvation.verdict == "starves" and starvation.threshold == Fraction(1, 20)
    report = cm.replay(starvation.trace)
    assert not report.faults and report.outcome is Outcome.BREAKS
    served = [starvation.trace.columns[name][-1] - starvation.trace.columns[name][-2] for name in ("S1", "S2")]
    assert starvation.share == min(served) / sum(served) < starvation.threshold
    assert (starvation.least.number, starvation.ratio) == (1, served[1] / served[0])
    assert any("flow 1" in sentence.lower() for sentence in starvation.why) and "for ever" in starvation.why[-1]


def test_equal_constant_windows_on_an_ideal_link_have_equal_shares():
    starvation = cm.starve("constant_window", on=IDEAL, periods=(1, 2))
    assert starvation.verdict == "does not starve" and starvation.trace is None
    assert [attempt.worst.none for attempt in starvation.attempts] == [Fraction(1, 2)] * 2


NETWORKS = ("lossy, loss 1%, buffer 1 bdp, jitter 1 rtt", "marking, buffer 1 bdp, threshold 1/2 bdp, jitter 1 rtt")


@pytest.mark.parametrize("on", NETWORKS)
def test_networks_that_lose_by_chance_or_mark_starve_a_small_window_alone(on):
    starvation = cm.starve(ONE, MANY, on=on, periods=(1,))
    assert starvation.verdict == "starves" and starvation.share < starvation.threshold
    assert starvation.least.number == 1 and not cm.replay(starvation.trace).faults
    equal = cm.starve("constant_window", on=on, periods=(1,))
    assert equal.verdict == "does not starve" and equal.share >= Fraction(1, 4)


@pytest.mark.slow
def test_losses_by_chance_starve_aimd_in_a_window_but_not_in_short_periods():
    on = NETWORKS[0]
    short = cm.starve("aimd", on=on, periods=(1, 2), solver=cm.SolverOptions(timeout=600))
    assert short.verdict == "does not starve" and short.share > Fraction(1, 4)
    long = cm.starve("aimd", on=on, periods=(13,), solver=cm.SolverOptions(timeout=60))
    assert long.verdict == "starves" and long.attempt.period is None and not cm.replay(long.trace).faults


@pytest.mark.slow
def test_vegas_starves_beside_itself():
    starvation = cm.starve("vegas")
    assert starvation.verdict == "starves" and starvation.share < Fraction(1, 1000)
    assert starvation.attempt.period == 1 and not cm.replay(starvation.trace).faults


def test_json_has_the_answer_and_the_trace_replays(windows):
    code, out, _ = cli.run("starve", "./one.py", "--beside", "./many.py", "--period", "1", "--json", cwd=windows)
    (line,) = cli.lines(out)
    validate(line, "StarveLine")
    assert (code, line["verdict"], line["flow"], line["period"]) == (1, "starves", 1, 1)
    assert [attempt["verdict"] for attempt in line["attempts"]] == ["found"]
    assert json.loads((windows / line["trace"]).read_text())["query"]["model"] == "cbr_delay_own_jitter"


def test_text_has_what_was_tried_and_the_network(windows):
    code, out, _ = cli.run("starve", "./one.py", "--beside", "./many.py", "--period", "1", cwd=windows)
    assert code == 1 and out.startswith("one+many")
    assert f"--on '{USUAL}'" in out and "tried executions that repeat every step: never below" in out


@pytest.mark.parametrize("others", [(), ("--json",), ("--beside", "./many.py")])
def test_of_several_controllers_each_is_beside_itself(others, windows):
    _, out, _ = cli.run("starve", "./one.py", "./one.py", "--period", "1", *others, cwd=windows)
    *_, last = out.splitlines()
    advice = "    each runs beside itself; for one beside the other: starve ./one.py --beside ./one.py"
    assert (last == advice) is (not others)


def test_windows_that_only_grow_never_repeat(tmp_path, monkeypatch):
    monkeypatch.setattr("ccmatic.answers.starvation.search.ROUNDS", 1)
    (tmp_path / "grows.py").write_text(GROWS)
    code, out, _ = cli.run("starve", "./grows.py", "--on", IDEAL, "--period", "1", cwd=tmp_path)
    assert code == 3 and "tried executions that repeat every step: no execution" in out
    assert re.search(r"tried one window of \d steps from a converged start: never below", out)
    assert "try --period 2, or more" in out and "try --on '…, buffer 1 bdp'" in out


def test_the_answer_names_the_bucket_of_a_policer(tmp_path):
    (tmp_path / "one.py").write_text(ONE)
    network = "policer 24 mbit, rtt 40 ms, bucket 1 bdp"
    _, out, _ = cli.run("starve", "./one.py", "--on", network, "--period", "1", cwd=tmp_path)
    assert ", bucket 1 bdp, jitter" in out and "buffer" not in out


def test_no_larger_buffer_is_suggested_than_the_one_that_was_tried(monkeypatch):
    monkeypatch.setattr("ccmatic.answers.starvation.search.ROUNDS", 1)
    tried = cm.starve(GROWS, on=IDEAL, periods=(1,))
    assert any("buffer 1/2 bdp" in each for each in tried.suggestions)
    [suggestion] = replace(tried, on="ideal, buffer 1/4 bdp").suggestions
    assert suggestion.startswith("--period 2, or more: no execution repeats")


@pytest.mark.parametrize("sender, everywhere", [(GROWS, True), (GROWS_AT_FIRST, False)])
def test_state_that_comes_later_is_not_taken_for_none(sender, everywhere):
    """No execution of a few steps repeats itself; with GROWS_AT_FIRST those that begin later do."""
    network = cm.Network("ideal_windows:flows=2,delay=own", "infinite", 3, delay="executions")
    with pytest.raises(NoExecution) as caught:
        cm.worst(sender, network, "share", period=1, at="1/2")
    assert caught.value.everywhere is everywhere
    attempt = Attempt(1, 3, 0, None, "no execution", False, caught.value.everywhere)
    assert attempt.decided is everywhere and attempt.proves(Fraction(1, 20)) is everywhere


def test_a_time_that_is_over_is_unknown():
    starvation = cm.starve(ONE, on=IDEAL, solver=cm.SolverOptions(timeout=0.001))
    assert starvation.verdict == "unknown" and starvation.trace is None
    assert all(attempt.why == "timed out" for attempt in starvation.attempts)
    assert any("--timeout" in suggestion for suggestion in starvation.suggestions)


@pytest.mark.parametrize("periods, alone", [((8,), False), ((3, 8), True)])
def test_a_period_is_suggested_alone_only_if_there_were_others(periods, alone):
    starvation = cm.starve(ONE, on=IDEAL, periods=periods, solver=cm.SolverOptions(timeout=0.001))
    assert any("alone" in suggestion for suggestion in starvation.suggestions) is alone
    assert starvation.attempts[-2].executions == "executions that repeat every 8 steps"


@pytest.mark.parametrize(
    "senders, buffer",
    [
        (["vegas"], "infinite"),
        (["bbr"], "infinite"),
        (["aimd"], "1/4 bdp"),
        (["vegas", "reno"], "1/4 bdp"),
        (["contract"], "infinite"),  # it compares the bytes acknowledged with those sent some steps before
        (["contract", "aimd"], "1/4 bdp"),
    ],
)
def test_the_buffer_is_small_if_only_losses_slow_a_sender_down(senders, buffer):
    assert f"buffer {buffer}," in usual_network(senders)


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["cc_qdel"], "cc_qdel sends at a rate"),
        (["vegas", "--beside", "cc_qdel"], "cc_qdel sends at a rate"),
        (["vegas", "--on", "cbr_delay, buffer infinite, flows 1"], "has one flow"),
        (["vegas", "--on", "cbr_delay"], "lacks its buffer"),
        (["no_such_controller"], "no_such_controller"),
        (["vegas", "copa", "--plot", "x.png"], "one controller"),
        (["vegas", "--plot", "x.txt"], "cannot draw"),
        (["vegas", "--period", "0"], "--period"),
    ],
)
def test_bad_input_is_one_message(arguments, expected, tmp_path):
    code, out, err = cli.run("starve", *arguments, cwd=tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1) and expected in err
