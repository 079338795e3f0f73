"""Proofs of claims by invariants: the search, the simplification and the certificates."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ccmatic.base import InputError
from ccmatic.logic import isolated
from ccmatic.proving.invariants import engine
from ccmatic.proving.invariants.claims import Claim
from ccmatic.proving.invariants.problem import Problem
from ccmatic.proving.invariants.saved import Invariant, literals
from ccmatic.proving.invariants.simplify import simplified
from ccmatic.proving.invariants.transition import variants
from ccmatic.questions.query import Query

#: The seconds that a search may take, unless the caller states another number.
BUDGET = 60


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
