"""Simpler invariants: only the clauses that the proof needs, and of these only the necessary literals."""

from collections.abc import Iterator, Mapping, Sequence
from time import process_time
from typing import Any

from ccmatic.logic import Condition, Truth, no, some
from ccmatic.logic.solving import UNSAT, Checker, Conflicts
from ccmatic.proving.invariants.forms import Replaced
from ccmatic.proving.invariants.problem import Problem


def simplified(problem: Problem, clauses: Sequence[Truth], seconds: float = 10) -> tuple[Truth, ...]:
    """Return an invariant that proves the same claim with fewer clauses and literals."""
    end, stays, needed = process_time() + seconds, _Stays(problem), _Needs(problem)
    left = needed(tuple(clauses))
    for number in range(len(left)):
        for shorter in _shorter(left[number]):
            if process_time() > end:
                return left
            candidate = (*left[:number], shorter, *left[number + 1 :])
            if stays(candidate, shorter):
                left = candidate
                break
    return needed(left)


class _Stays:
    """Decides whether a stronger clause of an invariant holds in all initial states, and after each step.

    If so, the other clauses still hold after each step, because the stronger clause leaves fewer states before the
    step.
    """

    def __init__(self, problem: Problem) -> None:
        system = problem.system
        self._cases = [
            (_checker(system.first), problem.at_first, False),
            (_checker((*system.current, *system.step)), problem.after, True),
        ]

    def __call__(self, clauses: Sequence[Truth], clause: Truth) -> bool:
        return all(_implied(checker, clauses if read else (), then, clause) for checker, then, read in self._cases)


def _checker(conditions: Sequence[Truth]) -> Checker:
    checker = Checker()
    for condition in conditions:
        checker.add(condition)
    return checker


def _implied(checker: Checker, clauses: Sequence[Truth], then: Mapping[Any, Any], clause: Truth) -> bool:
    checker.push()
    for condition in (*clauses, no(Replaced(then).condition(clause))):
        checker.add(condition)
    answer = checker.check()
    checker.pop()
    return answer == UNSAT


class _Needs:
    def __init__(self, problem: Problem) -> None:
        self._problem, system = problem, problem.system
        self._now, self._step = Conflicts(system.current), Conflicts((*system.current, *system.step))

    def __call__(self, clauses: tuple[Truth, ...]) -> tuple[Truth, ...]:
        """Return the clauses that the claim needs, the clauses that these clauses need to stay true, and so on."""
        waiting, needed = _core(self._now, clauses, self._problem.about.holds), dict[int, None]()
        while waiting:
            number = waiting.pop()
            if number not in needed:
                needed[number] = None
                waiting += _core(self._step, clauses, Replaced(self._problem.after).condition(clauses[number]))
        return tuple(clauses[number] for number in sorted(needed))


def _core(conflicts: Conflicts, clauses: tuple[Truth, ...], implied: Truth) -> list[int]:
    return [number for number in conflicts.minimal([*clauses, no(implied)]) if number < len(clauses)]


def _shorter(clause: Truth) -> Iterator[Truth]:
    literals = clause.node.args() if isinstance(clause, Condition) and clause.node.is_or() else ()
    for number in range(len(literals)):
        yield some([Condition(each) for place, each in enumerate(literals) if place != number])
