"""State that stores delays: known ones, ones longer than the model distinguishes, and unknown ones."""

import pytest

from ccmatic.answers.verification import Judge, replay
from ccmatic.base import InputError
from ccmatic.questions.query import make
from support.sampling import each_nth

KEEPS = """
window: bytes = above(0)
base: time = between(0, 40 * R_m)
before: time = between(0, 40 * R_m)

def update(window, base, before, delay, before_trace, measured, MSS, R_m, step):
    window = 2 * MSS if {test} else MSS
    before = base
    {kept}

def send(window):
    return window
"""

#: Before it: state by which a delay may not be multiplied.
SHARE = "share: number = 1"


def judged(model, horizon, test, kept, what="c_f[0][T-1] > alpha", **thresholds):
    """A Judgement, whose trace, if it has one, replays."""
    query = make(model, "infinite", horizon, property="avoids", thresholds={"what": what, **thresholds})
    judgement = Judge(query.of_small_packets()).judge(query.controller(KEEPS.format(test=test, kept=kept)))
    if judgement.trace:
        outcome = replay(judgement.trace)
        assert (outcome.faults, outcome.outcome.value) == ((), "breaks")
    return judgement


@pytest.mark.parametrize("model", each_nth(3, ["ccac_windows", "ccac2021", "ccac_windows:R=2"]))
@pytest.mark.parametrize(
    "kept, rises",
    [
        ("base = min(base, delay)", False),
        ("base = min(base, delay, delay[step])", False),
        ("base = min(base, min_over(delay, 2))", False),
        ("base = delay", True),
        ("base = (base + delay) / 2", True),
        ("base = any_of(delay, min(base, delay))", True),
        ("base = between(min(base, delay) - step, min(base, delay))", False),
    ],
)
def test_a_least_delay_never_rises_and_others_do(model, kept, rises):
    assert judged(model, 6, "base > before", kept).verdict == ("violated" if rises else "holds")


@pytest.mark.parametrize("kept, drops", [("base = max(base, delay)", False), ("base = R_m - delay", True)])
def test_a_longest_delay_never_falls(kept, drops):
    assert judged("ccac_windows", 5, "base < before", kept).verdict == ("violated" if drops else "holds")


@pytest.mark.parametrize("least, verdict", [("39 * R_m", "violated"), ("-R_m / 2", "holds")])
def test_a_delay_that_is_not_told_apart_from_longer_ones_is_kept_as_any_of_them(least, verdict):
    """A trace of five steps distinguishes delays of up to ten. No delay is negative."""
    test = f"base >= {least}" if verdict == "violated" else f"base <= {least}"
    found = judged("ccac_windows", 5, test, "base = delay", given="A[0] == S[0] + 1; L[0] == 0")
    assert found.verdict == verdict


@pytest.mark.parametrize(
    "kept, verdict",
    [
        ("base = delay", "violated"),
        ("base = base if before_trace else base - step", "holds"),
    ],
)
def test_a_delay_that_is_not_known_is_kept_as_any(kept, verdict):
    """No byte of the trace is acknowledged in it, so no delay is known."""
    given = "S[T-1] < A[0] - L[0]"
    assert judged("ccac2021", 5, "base > before", kept, given=given).verdict == verdict


@pytest.mark.parametrize(
    "kept, test, verdict",
    each_nth(
        3,
        [
            ("base = min(base, delay)", "base < before", "holds"),
            ("base = delay", "base > before", "violated"),
            ("base = delay + 0 * R_m", "base == before", "violated"),
        ],
    ),
)
def test_delays_are_kept_for_ever(kept, test, verdict):
    """In an execution that repeats itself the least delay stays, and the last one need not."""
    thresholds = {"repeats": 3, "given": "S[T-1] > S[T-4]"}
    found = judged("ccac_windows", 8, test, kept, "c_f[0][T-1] > alpha", **thresholds)
    assert found.verdict == verdict


@pytest.mark.parametrize(
    "kept, expected",
    [
        (
            "share = 2\n    base = step\n    window = MSS + delay * MSS / R_m",
            "expected `delay` in a comparison, or in state of unit `time`",
        ),
        ("share = 2\n    base = delay if measured else base", "in a choice; expected `if` before"),
        ("share = share / 2\n    base = share * delay", "multiplies it by an unknown"),
    ],
)
def test_what_is_not_even_in_a_delay_is_refused(kept, expected):
    query = make("ccac_windows", "infinite", 5, property="avoids", thresholds={"what": "S[1] < 0"})
    with pytest.raises(InputError, match=expected):
        query.controller(SHARE + KEEPS.format(test="base > before", kept=kept).replace("update(", "update(share, "))
