"""Observations over a window, a rate on its own, and an update once per R_m of several steps."""

from fractions import Fraction

import pytest

from ccmatic.answers.verification import HOLDS, VIOLATED, Judge, Outcome, check_trace
from ccmatic.base import InputError
from ccmatic.questions import query as queries

FASTEST = """window: bytes = above(0)
def update(ack_rate, MSS, R_m):
    window = MSS + R_m * max_over(ack_rate, {steps})
def send(window):
    return window
"""
SHORTEST = """window: bytes = above(0)
def update(delay, MSS, step):
    if min_over(delay, 3) <= step:
        window = MSS
    else:
        window = 2 * MSS
def send(window):
    return window
"""
PACED = """pace: rate = above(0)
def update(pace, lost, MSS, R_m, step):
    pace = pace / 2 if lost > lost[step] else pace + MSS / R_m
def send(pace):
    return pace
"""
EACH_R_M = """window: bytes = above(0)
elapsed: time = between(0, R_m - step)
def update(window, elapsed, MSS, R_m, step):
    elapsed = elapsed + step
    if elapsed >= R_m:
        elapsed = elapsed - R_m
        window = window + MSS
def send(window):
    return window
"""


def judged(source, what, horizon=7, given="L[0] == 0", model="ccac2021"):
    asked = queries.make(model, "infinite", horizon, property="avoids", thresholds={"what": what, "given": given})
    judgement = Judge(asked).judge(asked.read_controller(source))
    assert judgement.verdict == HOLDS or judgement.report.outcome is Outcome.BREAKS
    return asked, judgement


def test_the_fastest_of_a_window_is_of_each_of_its_steps_and_of_no_other():
    for back, verdict in ((1, HOLDS), (2, HOLDS), (3, VIOLATED)):
        less = f"ANYT(4, T, lambda t: c_f[0][t] < S[t-{back}] - S[t-{back + 1}])"
        assert judged(FASTEST.format(steps=2), less)[1].verdict == verdict


def test_a_trace_is_of_its_own_window():
    asked, judgement = judged(FASTEST.format(steps=3), "c_f[0][T-1] > alpha + S[T-2] - S[T-3]")
    trace = judgement.trace
    other = trace.__class__(**{**vars(trace), "controller": FASTEST.format(steps=1)})
    assert any(fault.startswith("sender.") for fault in check_trace(asked, other).faults)


@pytest.mark.parametrize("waited, verdict", [(1, VIOLATED), (2, HOLDS)])
def test_the_shortest_delay_of_a_window_is_of_each_of_its_steps(waited, verdict):
    """Where what was served in each of three steps had waited two steps, it sends two packets."""
    given = "; ".join(f"S[{t}] > S[{t - 1}]; S[{t}] > A[0]; S[{t}] <= A[{t - waited}]" for t in (3, 4, 5))
    assert judged(SHORTEST, "c_f[0][6] == alpha", given=f"L[0] == 0; {given}")[1].verdict == verdict


def test_a_delay_that_is_not_known_in_one_of_the_steps_is_not_known_over_the_window():
    assert judged(SHORTEST, "And(c_f[0][3] == alpha, S[2] <= A[0])")[1].verdict == HOLDS


def test_a_rate_alone_is_limited_by_no_window():
    assert judged(PACED, "ANYT(1, T, lambda t: A[t] != A[t-1] + r_f[0][t])")[1].verdict == HOLDS
    asked, judgement = judged(PACED, "A[T-1] - S[T-1] > 100 * C")
    trace = judgement.trace
    limited = trace.with_columns(cwnd=(*trace.columns["cwnd"][:-1], Fraction(1)))
    assert "sender.window_is_not_limited at t=6" in check_trace(asked, limited).faults


@pytest.mark.parametrize("R", [1, 2, 3])
def test_an_update_may_be_once_per_R_m_of_several_steps(R, tmp_path):
    """In two R_m the window grows by two packets, whenever the first was."""
    model = tmp_path / "several.py"
    model.write_text(f"from ccmatic.models.ccac2021 import CCAC2021\n\nMODEL = CCAC2021(R={R})\n")
    grown = f"c_f[0][{1 + 2 * R}] != c_f[0][1] + 2 * alpha"
    assert judged(EACH_R_M, grown, horizon=2 * R + 2, model=str(model))[1].verdict == HOLDS
    if R > 1:
        sooner = f"c_f[0][{R}] == c_f[0][1] + alpha"
        assert judged(EACH_R_M, sooner, horizon=2 * R + 2, model=str(model))[1].verdict == VIOLATED


def test_what_is_not_observed_within_the_horizon_is_refused():
    with pytest.raises(InputError) as caught:
        judged(FASTEST.format(steps=9), "S[1] < 0")
    assert "`update` reads `ack_rate`, which is not observed within a horizon of 7" in caught.value.message
    assert caught.value.line == 3


@pytest.mark.parametrize(
    "window, told",
    [
        ("max_over(ack_rate, 0)", "found `max_over(ack_rate, 0)`, expected a whole number of steps, at least 1"),
        ("max_over(ack_rate, 3 / 2)", "expected a whole number of steps, at least 1"),
        ("max_over(ack_rate, R_m)", "expected a whole number of steps, at least 1"),
        ("max_over(ack_rate, 10 ** 9)", "found `10 ** 9`, which is not linear"),
        ("max_over(ack_rate, 1000000000)", "found a controller of more than 100000 names"),
        ("max_over(ack_rate)", "expected `max_over(NAME, STEPS)` of the name of an observation"),
        ("max_over(window, 2)", "expected `max_over(NAME, STEPS)` of the name of an observation"),
        ("max_over(ack_rate + ack_rate, 2)", "expected `max_over(NAME, STEPS)` of the name of an observation"),
        ("min_over(timeout, 2)", "expected an observation that is a number and that changes"),
        ("min_over(line_rate, 2)", "expected an observation that is a number and that changes"),
        ("min_over(acked, 2)", "adds `R_m * min_over(acked, 2)`"),
    ],
)
def test_no_window_is_refused(window, told):
    asked = queries.make("ccac2021", "infinite", 7, property="avoids", thresholds={"what": "S[1] < 0"})
    source = FASTEST.replace("max_over(ack_rate, {steps})", window)
    with pytest.raises(InputError) as caught:
        asked.read_controller(source.replace("ack_rate, MSS", "ack_rate, MSS, acked, timeout, line_rate, window"))
    assert told in caught.value.message and caught.value.line == 3
