"""Proofs of claims by invariants: the search, the simplification and the certificates."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, TypeAlias

from ccmatic.base import InputError
from ccmatic.logic import Condition, Truth, isolated, no, some
from ccmatic.logic.solving import UNSAT, Conflicts
from ccmatic.proving.invariants import engine
from ccmatic.proving.invariants.claims import Claim, Problem
from ccmatic.proving.invariants.forms import Replaced, answer, checker_of
from ccmatic.proving.invariants.saved import Invariant, literals
from ccmatic.proving.invariants.transition import variants
from ccmatic.questions.query import Query


@dataclass(frozen=True)
class Proved:
    """The outcome of a proof attempt."""

    claim: Claim
    #: PROVED, UNKNOWN, or REACHABLE. REACHABLE means that a state of the system breaks the claim. Possibly no execution
    #: has this state.
    answer: engine.Answer
    invariant: Invariant | None = None
    #: The CPU seconds of the search, for each process.
    seconds: float = 0
    settings: str = ""

    def save(self, folder: str | Path, name: str) -> Path:
        """Write the proof to a file in a folder. Raise InputError if the claim is not proved."""
        if self.invariant is None:
            raise InputError(f"{self.claim} has no proof")
        return self.invariant.save(folder, name)


#: A function that searches for a proof. Its arguments are those of `prove`, by position.
Prover: TypeAlias = Callable[[Query, Any, Claim, float, int], Proved]


@isolated
def prove(query: Query, controller: Any, claim: Claim, seconds: float = 60, jobs: int = 2) -> Proved:
    """Search for an invariant that proves a claim about a controller on a query's network."""
    return certified(query, controller, claim, search(query, controller, claim, seconds, jobs))


def search(query: Query, controller: Any, claim: Claim, seconds: float, jobs: int) -> engine.Found:
    """Search for an invariant, whose clauses are terms of the current environment. `prove` explains the arguments."""
    require_budget(seconds)
    if claim.is_vacuous:
        return engine.Found(engine.Answer.UNKNOWN)
    return engine.search((Problem(each, claim) for each in variants(query, controller)), seconds, jobs)


def require_budget(seconds: float) -> None:
    if not seconds > 0:
        raise InputError(f"the budget is {seconds:g} s; expected more than 0 s")


def certified(query: Query, controller: Any, claim: Claim, found: engine.Found) -> Proved:
    if found.answer is not engine.Answer.PROVED or found.problem is None:
        return Proved(claim, found.answer, None, found.seconds, found.settings)
    clauses = simplified(found.problem, found.clauses)
    made = [literals(clause, found.problem.names) for clause in clauses]
    invariant = Invariant.certified(query, controller, claim, made, found.problem.system.without)
    answer = engine.Answer.PROVED if invariant else engine.Answer.UNKNOWN
    return Proved(claim, answer, invariant, found.seconds, found.settings)


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
            (checker_of(system.first), problem.at_first, False),
            (checker_of((*system.current, *system.step)), problem.after, True),
        ]

    def __call__(self, clauses: Sequence[Truth], clause: Truth) -> bool:
        return all(
            answer(checker, *(clauses if read else ()), no(Replaced(then).condition(clause))) == UNSAT
            for checker, then, read in self._cases
        )


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
