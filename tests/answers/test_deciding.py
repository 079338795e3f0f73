"""The step at which it is decided whether a reason holds."""

from fractions import Fraction

import pytest

from ccmatic.answers.explanation.reasons import decided
from ccmatic.contracts import AllOf, AnyOf, AtMost, Compared, Fails, Implied, Stated

END = 9


def at(step, truth=True):
    """A comparison that is decided at a step."""
    return Compared("it", Fraction(1 if truth else 0), ">=", Fraction(1), step=step)


CASES = [
    (at(3), 3),
    (at(None), END),
    (at(3, False), 3),
    (Stated("it is so", True), END),
    (AllOf((at(2), at(5))), 5),
    (AllOf((at(2), at(5, False), at(4, False))), 4),
    (AnyOf((at(2, False), at(5), at(4))), 4),
    (AnyOf((at(2, False), at(5, False))), 5),
    (Fails(at(3)), 3),
    (Implied(at(2, False), at(5)), 2),
    (Implied(at(6, False), at(5)), 5),
    (Implied(at(2), at(5, False)), 5),
    (AtMost("of them", Fraction(1), (at(7), at(2), at(4), at(5, False))), 4),
    (AtMost("of them", Fraction(3), (at(7), at(2))), END),
]


@pytest.mark.parametrize("reason, step", CASES)
def test_the_step_at_which_a_reason_is_decided(reason, step):
    assert decided(reason, reason.condition, END) == step


def test_what_is_decided_later_does_not_change_it():
    """For every step up to the one that decides, some other later truths give another answer; from it on, none do."""
    steps = (1, 3, 6)
    for truths in [(a, b, c) for a in (True, False) for b in (True, False) for c in (True, False)]:
        parts = [at(step, truth) for step, truth in zip(steps, truths, strict=True)]
        for make in (AllOf, AnyOf):
            reason = make(tuple(parts))
            told = decided(reason, reason.condition, END)
            for now in steps:
                open_ones = [i for i, step in enumerate(steps) if step > now]
                answers = set()
                for choice in range(2 ** len(open_ones)):
                    tried = list(truths)
                    for place, i in enumerate(open_ones):
                        tried[i] = bool(choice >> place & 1)
                    answers.add(make(tuple(at(s, t) for s, t in zip(steps, tried, strict=True))).condition)
                assert (len(answers) == 1) == (now >= told)
