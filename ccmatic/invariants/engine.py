"""The search for inductive invariants by Spacer, Z3's solver of constrained Horn clauses.

Nobody has to trust the search, because its invariants are checked without it (`ccmatic.invariants.checking`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from time import monotonic
from typing import Any

import z3
from pysmt.shortcuts import get_env
from pysmt.solvers.z3 import Z3Converter
from z3.z3util import get_vars

from ccmatic.invariants.problem import Problem
from ccmatic.invariants.reading import clauses_of
from ccmatic.logic import Linear, Truth, every, formula, no
from ccmatic.workers import Team

#: The settings of Spacer that a search tries at the same time.
PORTFOLIO: tuple[dict[str, Any], ...] = (
    {},
    {"fp.spacer.global": True},
)

#: The seconds for which a search tries the first settings before it starts processes for all.
ALONE = 3

#: The largest memory of a process, in megabytes.
MEMORY = 2000


class Answer(Enum):
    """The answer of a search. A reachable state may be none of an execution, so only a replay can refute a claim."""

    PROVED = "proved"
    REACHABLE = "reachable"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Found:
    """The outcome of a search.

    Attributes:
        answer: The answer.
        clauses: The clauses of the invariant, if the answer is PROVED.
        seconds: The duration.
        settings: The settings that gave the answer.
    """

    answer: Answer
    clauses: tuple[Truth, ...] = ()
    seconds: float = 0
    settings: str = ""


def search(problem: Problem, seconds: float, jobs: int = len(PORTFOLIO)) -> Found:
    """Search for an invariant.

    Args:
        problem: The problem.
        seconds: The budget.
        jobs: The number of processes; with one, this process tries the settings in turn.
    """
    begin, text = monotonic(), horn_clauses(problem)
    for answer, body, settings in _answers(text, seconds, jobs):
        if answer is not Answer.UNKNOWN:
            clauses = tuple(clauses_of(body, problem.state)) if body else ()
            return Found(answer, clauses, monotonic() - begin, settings)
    return Found(Answer.UNKNOWN, seconds=monotonic() - begin)


def _answers(text: str, seconds: float, jobs: int) -> Iterator[tuple[Answer, str, str]]:
    alone = min(seconds, ALONE)
    yield attempt(text, PORTFOLIO[0], alone)
    if seconds <= ALONE:
        return
    if jobs == 1:
        for settings in PORTFOLIO:
            yield attempt(text, settings, (seconds - alone) / len(PORTFOLIO))
        return
    with Team(jobs) as team:
        for settings in PORTFOLIO:
            team.submit(str(settings), attempt, text, settings, seconds - alone)
        while len(team):
            for _, result in team.results():
                yield result


def attempt(text: str, settings: dict[str, Any], seconds: float) -> tuple[Answer, str, str]:
    """Return Spacer's answer to Horn clauses, the invariant as text, and the settings as text."""
    own = z3.Context()
    solver = z3.SolverFor("HORN", own)
    solver.set("timeout", max(1, int(1000 * seconds)))
    for name, value in settings.items():
        solver.set(name, value)
    solver.from_string(text)
    try:
        answer = solver.check()
    except z3.Z3Exception:
        answer = z3.unknown
    if answer == z3.sat:
        model = solver.model()
        body = model[model.decls()[0]].else_value()
        names = [z3.Const(f"v{k}", model.decls()[0].domain(k)) for k in range(model.decls()[0].arity())]
        return Answer.PROVED, z3.substitute_vars(body, *names).sexpr(), str(settings)
    return (Answer.REACHABLE if answer == z3.unsat else Answer.UNKNOWN), "", str(settings)


def horn_clauses(problem: Problem) -> str:
    """Return the problem as constrained Horn clauses in SMT-LIB: an unknown set of states with three conditions."""
    own = z3.Context()
    converter = Z3Converter(get_env(), own)

    def convert(value: Any) -> Any:
        return converter.convert(value.node() if isinstance(value, Linear) else formula(value))

    state = [converter.convert(each) for each in problem.state]
    inside = z3.Function("inside", *(each.sort() for each in state), z3.BoolSort(own))
    first = [convert(problem.at_first[each]) for each in problem.state]
    after = [convert(problem.after[each]) for each in problem.state]
    system = problem.system
    solver = z3.SolverFor("HORN", own)

    def add(body: Any, head: Any) -> None:
        rule = z3.Implies(body, head)
        solver.add(z3.ForAll(get_vars(rule), rule))

    never = z3.BoolVal(False, own)
    add(convert(every(list(system.first))), inside(*first))
    add(z3.And(inside(*state), convert(every(*system.current, *system.step))), inside(*after))
    add(z3.And(inside(*state), convert(every(*system.current, no(problem.about.holds)))), never)
    if problem.about.early:
        add(convert(every(*system.first, no(every(list(problem.about.early))))), never)
    return str(solver.sexpr())
