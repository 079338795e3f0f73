"""A law that is not linear lies between bounds that are proved to bound it, or is refused with the point at which one
does not."""

from contextlib import nullcontext
from fractions import Fraction
from unittest.mock import patch

import pytest

from ccmatic.answers.verification import VIOLATED, Judge, Outcome, bounds, check_trace
from ccmatic.base import InputError
from ccmatic.questions import query as queries

SOURCE = """window: bytes = above(0)
d: bytes = between(0, MSS)
def update(window, d, delay, acked, lost, MSS, R_m, step):
    if {test}:
        window = bounded({law}, {low}, {high})
    else:
        window = MSS
    d = min(MSS, d + MSS * step / (4 * R_m))
    {body}
def send(window):
    return window
"""
SQUARE = {
    "test": "0 * MSS <= d <= MSS",
    "law": "MSS + MSS * (d / MSS) ** 2",
    "low": "MSS",
    "high": "MSS + d",
    "body": "",
}


def judged(**change):
    """The judgement that a window may be above a packet and a half."""
    asked = queries.make("ccac2021", "1", 5, property="avoids", thresholds={"what": "c_f[0][T-1] > 3/2 * alpha"})
    return asked, Judge(asked).judge(asked.read_controller(SOURCE.format(**{**SQUARE, **change})))


def refused(**change):
    with pytest.raises(InputError) as caught:
        judged(**change)
    assert caught.value.line == 5
    return caught.value.message


def test_a_law_that_is_bounded_is_verified_and_replayed():
    asked, judgement = judged()
    trace = judgement.trace
    assert judgement.verdict == VIOLATED and judgement.report.outcome is Outcome.BREAKS
    beyond = 3 * trace.constants["MSS"]
    changed = trace.with_columns(
        window=(*trace.columns["window"][:-1], beyond), cwnd=(*trace.columns["cwnd"][:-1], beyond)
    )
    assert "sender.state_is_the_controllers at t=4" in check_trace(asked, changed).faults


def test_a_replay_asks_no_solver():
    asked, judgement = judged()
    with patch.object(bounds, "Checker", side_effect=AssertionError):
        bounds._refused.cache_clear()
        assert check_trace(asked, judgement.trace).outcome is Outcome.BREAKS


def test_a_closer_bound_tells_more():
    """Up to half a packet, the square is at most half of its argument."""
    assert judged(test="0 * MSS <= d <= MSS / 2", high="MSS + d / 2")[1].holds


def point(told):
    """Return the numbers of the reported point."""
    numbers = dict(each.split(" = ") for each in told.partition(" at ")[2].split(", "))
    return {name: Fraction(number) for name, number in numbers.items()}


@pytest.mark.parametrize(
    "change, told",
    [
        ({"high": "MSS + (d if d < MSS else 9 / 10 * MSS)"}, "expected law <= high, which fails at "),
        ({"low": "MSS + 2 * d - 15 / 16 * MSS"}, "expected low <= law, which fails at "),
        ({"test": "d <= MSS"}, "expected law <= high, which fails at "),
        ({"law": "MSS * MSS / (2 * d - MSS)", "high": "99 * MSS"}, "expected no division by 0, but there is one at "),
        ({"law": "MSS + MSS * cbrt(d / MSS)"}, "expected law <= high, which fails at "),
        ({"law": "MSS + d * MSS / acked"}, "expected no division by 0, but there is one at "),
    ],
)
def test_a_bound_that_fails_is_refused_with_its_point(change, told):
    found = refused(**change)
    assert found.startswith("the range of `window`: " + told)
    at = point(found)
    assert at["MSS"] > 0 and ("law" not in at or not at.get("low", at["law"]) <= at["law"] <= at.get("high", at["law"]))


def test_a_bound_that_fails_at_one_point_is_refused_with_that_point():
    at = point(refused(high="MSS + (d if d != MSS / 2 else d / 3)"))
    assert at["d"] == at["MSS"] / 2 and at["law"] == 5 * at["MSS"] / 4 and at["high"] == 7 * at["MSS"] / 6


@pytest.mark.parametrize("test", ["delay > 0 * step", "not delay > step"])
def test_nothing_is_known_of_a_delay_but_by_tests_that_hold(test):
    """`not delay > step` holds for an unknown delay too."""
    change = {"law": "MSS + MSS * (delay / step) ** 2", "high": "5 * MSS"}
    assert point(refused(**change, test=test))["delay"] >= 2
    assert judged(**change, test="0 * step <= delay <= step")[1].verdict == VIOLATED


LATE = "2 * MSS if delay <= {} * step else MSS / 2"


@pytest.mark.parametrize("steps, most", [("delay <= 0 * step", 1), ("delay == step", 2)])
def test_bounds_hold_for_each_delay_that_whole_steps_stand_for(steps, most):
    """A byte that waits k whole steps was sent and served at any times within steps: it waits from k - 1 to k + 1."""
    change = {"test": steps, "low": "MSS", "high": "2 * MSS"}
    at = point(refused(**change, law=LATE.format(most - Fraction(1, 10))))
    assert most - Fraction(1, 10) < at["delay"] < most and at["whole steps of delay"] == most - 1
    assert judged(**change, law=LATE.format(most))[1].verdict == VIOLATED


def test_bounds_hold_for_a_delay_almost_a_step_below_its_whole_steps():
    change = {"test": "delay >= 2 * step", "low": "MSS", "high": "2 * MSS"}
    early = "MSS / 2 if delay <= {} * step else 2 * MSS"
    assert 1 < point(refused(**change, law=early.format("11 / 10")))["delay"] <= Fraction(11, 10)
    assert judged(**change, law=early.format(1))[1].verdict == VIOLATED


def test_what_is_too_hard_is_refused(monkeypatch):
    monkeypatch.setattr(bounds, "LONGEST", 0.2)
    fourth_powers = " + ".join(f"({name} / MSS) ** 4" for name in ("d", "acked", "lost", "window"))
    hard = f"MSS * ({fourth_powers} - 4 * d * acked * lost * window / MSS ** 4)"
    assert "could be neither proved nor refuted in 0.2 s" in refused(law=hard, low="0 * MSS")


def test_the_ends_of_a_range_are_in_order():
    asked = queries.make("ccac2021", "1", 5, property="avoids", thresholds={"what": "S[1] < 0"})
    body = "window: bytes = above(0)\ndef update(window, MSS):\n    window = between(MSS, window)\n"
    with pytest.raises(InputError, match="expected low <= high, which fails at MSS = .*, window = ") as caught:
        Judge(asked).judge(asked.read_controller(f"{body}def send(window):\n    return window\n"))
    assert caught.value.line == 3


@pytest.mark.parametrize("jitter", [0, 1, 2])
def test_an_end_of_a_range_reads_an_upper_bound(jitter):
    """The program of C_U divides by k - D for samples of k > D steps, and not for others."""
    asked = queries.make("ccac_windows", "1", 7, jitter, property="avoids", thresholds={"what": "S[1] < S[0]"})
    body = "window: bytes = above(0)\ndef update(window, C_U, R_m, MSS):\n    window = "
    for most, holds in (("MSS + max(0 * MSS, C_U * R_m)", True), ("MSS / 2 + max(0 * MSS, C_U * R_m)", False)):
        controller = asked.read_controller(f"{body}between(MSS, {most})\ndef send(window):\n    return window\n")
        with nullcontext() if holds else pytest.raises(InputError, match="expected low <= high, which fails at"):
            assert Judge(asked).judge(controller).verdict == "holds"


def test_a_test_that_divides_by_0_proves_nothing():
    """Where D is 0, no window is what would make the quotient a number, so that the ends would be in order."""
    asked = queries.make("ccac2021", "1", 5, 0, property="avoids", thresholds={"what": "S[1] < 0"})
    test = "if D > 0 and window / D > MSS / R_m:\n        window = MSS\n    else:\n        "
    body = f"window: bytes = above(0)\ndef update(window, D, R_m, MSS):\n    {test}window = between(0, MSS - window)\n"
    with pytest.raises(InputError, match="expected no division by 0, but there is one"):
        Judge(asked).judge(asked.read_controller(f"{body}def send(window):\n    return window\n"))


@pytest.mark.parametrize(
    "law, told",
    [
        ("d ** 2", "sets `window` (bytes) by `d ** 2` (bytes^2·seconds^0)"),
        ("d ** 10", "found `d ** 10`, expected cbrt(…) of a number, or a power from 2 to 9"),
        ("d ** 1.5", "found `d ** 1.5`, expected cbrt(…) of a number"),
        ("cbrt(d)", "found `cbrt(d)`, expected cbrt(…) of a number"),
        ("sqrt(d)", "found call `sqrt(d)`"),
        ("d / 0", "divides `d` by `0`, which is 0"),
    ],
)
def test_a_law_that_cannot_be_read_is_refused(law, told):
    assert told in refused(law=law)


@pytest.mark.parametrize(
    "body, told",
    [
        (
            "d = MSS * (d / R_m) ** 2",
            "which is not linear; expected a law between bounds: `window = bounded(law, low, high)`",
        ),
        ("d = MSS + bounded(MSS, MSS, MSS)", "in a term, expected it alone: `window = bounded(law, low, high)`"),
        ("d = bounded(MSS, MSS)", "in a term, expected it alone: `window = bounded(law, low, high)`"),
        ("d = MSS + between(MSS, MSS)", "in a term, expected it alone: `window = between(low, high)`"),
        ("d = bounded(MSS, MSS, MSS)\n    d = d + MSS", "reads `d` after the network has chosen it"),
    ],
)
def test_what_is_bounded_stands_alone(body, told):
    with pytest.raises(InputError) as caught:
        judged(body=body)
    assert told in caught.value.message
