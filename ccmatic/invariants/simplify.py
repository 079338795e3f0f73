"""Simpler invariants: only the clauses that the proof needs, and of these only the necessary literals."""

from collections.abc import Iterator, Sequence
from time import process_time

from ccmatic.invariants.problem import Implication, Problem
from ccmatic.logic import Condition, Truth, every, some
from ccmatic.solving import UNSAT, Checker, conflict


def simplified(problem: Problem, clauses: Sequence[Truth], seconds: float = 10) -> tuple[Truth, ...]:
    """Return an invariant that proves the same claim with fewer clauses and literals.

    Args:
        problem: The problem.
        clauses: The clauses of an invariant.
        seconds: A limit in CPU seconds; an invariant that is not yet minimal is an invariant, too.
    """
    end = process_time() + seconds
    left = _needed(problem, tuple(clauses))
    for number in range(len(left)):
        for shorter in _shorter(left[number]):
            if process_time() > end:
                return left
            candidate = (*left[:number], shorter, *left[number + 1 :])
            if is_invariant(problem, candidate):
                left = candidate
                break
    return _needed(problem, left)


def is_invariant(problem: Problem, clauses: Sequence[Truth]) -> bool:
    """Return whether clauses are an invariant that proves the claim, according to a solver."""
    return all(_holds(each) for each in (problem.starts(clauses), problem.stays_all(clauses), problem.proves(clauses)))


def _holds(implication: Implication) -> bool:
    checker = Checker()
    for condition in implication.refuted:
        checker.add(condition)
    return checker.check() == UNSAT


def _needed(problem: Problem, clauses: tuple[Truth, ...]) -> tuple[Truth, ...]:
    """Return the clauses that the claim needs, those that these need to stay true, and so on."""
    waiting, needed = _core(problem.proves(clauses), len(clauses)), dict[int, None]()
    while waiting:
        number = waiting.pop()
        if number not in needed:
            needed[number] = None
            waiting += _core(problem.stays(clauses, clauses[number]), len(clauses))
    return tuple(clauses[number] for number in sorted(needed))


def _core(implication: Implication, count: int) -> list[int]:
    """Return the numbers of the clauses that an implication needs; its first `count` conditions are clauses."""
    clauses, others = implication.refuted[:count], implication.refuted[count:]
    return [number for number in conflict([*clauses, every(list(others))]) if number < count]


def _shorter(clause: Truth) -> Iterator[Truth]:
    """Yield a clause without one of its literals."""
    literals = clause.node.args() if isinstance(clause, Condition) and clause.node.is_or() else ()
    for number in range(len(literals)):
        yield some([Condition(each) for place, each in enumerate(literals) if place != number])
