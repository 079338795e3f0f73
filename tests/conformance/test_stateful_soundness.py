"""The encoding of a controller with state agrees with its own Python, also about unknown values."""

import pytest

from ccmatic.answers.verification import VIOLATED, Judge, Outcome
from ccmatic.base import InputError
from ccmatic.questions import query as queries

SOURCE = """window: bytes = above(0)
{state}def update(window, {reads}, MSS, step, time):
{body}
def send(window):
    return window
"""
FLAG = "flag: condition = anything()\n"
LATER = "if time >= 5 * step:\n    window = max(MSS, old)\nelse:\n    window = MSS"


def judged(body, reads, state="", horizon=6):
    """The judgement that less than a tenth of the link may be used for ever."""
    low = {"what": "S[T-1] - S[0] < 1/10 * C * T"}
    asked = queries.make("ccac2021", "1", horizon, property="avoids", thresholds=low)
    body = "".join(f"    {line}\n" for line in body.splitlines())
    return Judge(asked).judge(asked.read_controller(SOURCE.format(state=state, reads=reads, body=body)))


@pytest.mark.parametrize(
    "value, reads",
    [
        ("timeout", "timeout"),
        ("measured[step]", "measured"),
        ("timeout or flag", "timeout, flag"),
        ("timeout and not flag", "timeout, flag"),
    ],
)
def test_state_may_be_a_condition_that_was_observed(value, reads):
    judgement = judged(f"flag = {value}\nwindow = MSS", reads, FLAG, 4)
    assert judgement.verdict == VIOLATED and judgement.report.outcome is Outcome.BREAKS


@pytest.mark.parametrize("old", ["acked[4 * step] + MSS", "MSS - acked[4 * step] / 2"])
def test_what_was_not_observed_yet_and_decides_nothing_may_be_worked_with(old):
    judgement = judged(f"old = {old}\n{LATER}", "acked")
    assert judgement.verdict == VIOLATED and judgement.report.outcome is Outcome.BREAKS


def test_what_is_to_come_may_not_be_worked_with_either_where_it_decides():
    with pytest.raises(InputError, match="of a step to come"):
        judged("old = lost[-step]\nwindow = max(MSS, old)", "lost")


def test_state_that_is_set_by_a_choice_of_a_delay_is_refused():
    with pytest.raises(InputError, match="sets `old` by `delay`, which is not always known, in a choice") as caught:
        judged("old = step if lost > 0 * MSS else delay\nwindow = MSS", "delay, lost", "old: time = 0\n")
    assert caught.value.line == 4


@pytest.mark.parametrize(
    "choice", ["MSS if delay > step else 2 * MSS", "MSS if lost > delay / step * MSS else 2 * MSS"]
)
def test_a_comparison_of_a_choice_by_a_delay_is_refused(choice):
    """Its Python knows what it compares where the delay is not known."""
    with pytest.raises(InputError, match="compares a choice that reads `delay`") as caught:
        judged(f"if ({choice}) > window:\n    window = MSS\nelse:\n    window = 2 * MSS", "delay, lost")
    assert caught.value.line == 3
