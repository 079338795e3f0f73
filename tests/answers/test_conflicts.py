"""Tests of minimal conflicts among conditions."""

from itertools import combinations

from ccmatic.base import Clock
from ccmatic.logic import isolated, no, real
from ccmatic.logic.solving import SAT, UNSAT, Checker, Conflicts


def decided(conditions):
    """Return the answer of an independent query about conditions."""
    checker = Checker()
    for condition in conditions:
        checker.add(condition)
    return checker.check()


@isolated
def test_each_conflict_is_minimal_and_earlier_ones_change_none():
    x, y, z = map(real, "xyz")
    always = [x <= y, y <= z]
    conflicts = Conflicts(always)
    conditions = [z <= 3, x >= 4, y >= 5, x >= 1, no(x <= 3), z <= 3]
    for first in (conditions, conditions[::-1], conditions[1:], conditions[:2]):
        found = conflicts.minimal(first)
        part = [first[index] for index in found]
        assert decided([*always, *part]) == UNSAT
        assert all(decided([*always, *rest]) == SAT for rest in combinations(part, len(part) - 1))
        assert len(found) == 2


@isolated
def test_a_conflict_is_not_made_smaller_when_the_time_is_over(monkeypatch):
    core, asked = Conflicts._core, []
    monkeypatch.setattr(Conflicts, "_core", lambda self, guards: asked.append(guards) or core(self, guards))
    x, y = map(real, "xy")
    conditions, clock = [x <= y, y <= 3, x >= 4, y >= 5], Clock(0)
    with clock.question():
        found = Conflicts().minimal(conditions, clock)
    assert decided([conditions[index] for index in found]) == UNSAT and len(asked) == 1
