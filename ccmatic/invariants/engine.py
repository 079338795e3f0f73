"""The search for inductive invariants by Spacer, Z3's solver of constrained Horn clauses.

Nobody has to trust the search, because its invariants are checked without it (`ccmatic.invariants.checking`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from time import monotonic
from typing import Any

import z3
from pysmt.shortcuts import get_env
from pysmt.solvers.z3 import Z3Converter

from ccmatic.invariants.facts import Facts, facts
from ccmatic.invariants.forms import Replaced
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
ALONE = 6


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
        problem: The problem that has this answer; None if the answer is UNKNOWN.
        clauses: The clauses of the invariant, if the answer is PROVED.
        seconds: The duration.
        settings: The settings that gave the answer.
    """

    answer: Answer
    problem: Problem | None = None
    clauses: tuple[Truth, ...] = ()
    seconds: float = 0
    settings: str = ""


def search(problems: Sequence[Problem], seconds: float, jobs: int = 2) -> Found:
    """Search for an invariant of one of several problems.

    Args:
        problems: Problems about the same claim. The first one has all laws, so only its states can break the claim.
        seconds: The budget.
        jobs: The number of processes; with one, this process tries everything in turn.
    """
    begin = monotonic()
    known = [facts(problem) for problem in problems]
    texts = [horn_clauses(problem, each) for problem, each in zip(problems, known, strict=True)]
    for number, (answer, body, settings) in _answers(texts, seconds, jobs):
        if answer is Answer.PROVED:
            try:
                clauses = (*known[number].clauses, *clauses_of(body, _state(problems[number], known[number])))
            except (
                ValueError
            ):  # an invariant with quantifiers has no clauses, and other settings may find a simpler one
                continue
            return Found(answer, problems[number], clauses, monotonic() - begin, settings)
        if answer is Answer.REACHABLE and number == 0:
            return Found(answer, problems[number], (), monotonic() - begin, settings)
    return Found(Answer.UNKNOWN, seconds=monotonic() - begin)


def _answers(texts: Sequence[str], seconds: float, jobs: int) -> Iterator[tuple[int, tuple[Answer, str, str]]]:
    """Yield the answers of all attempts, each with the number of its problem."""
    alone, undecided = min(seconds, ALONE) / len(texts), []
    for number, text in enumerate(texts):
        result = attempt(text, PORTFOLIO[0], alone)
        if result[0] is Answer.UNKNOWN:
            undecided.append((number, text))
        yield number, result
    left = seconds - ALONE
    if left <= 0 or not undecided:
        return
    attempts = [(number, text, settings) for settings in PORTFOLIO for number, text in undecided]
    each = left * min(jobs, len(attempts)) / len(attempts)
    with Team(jobs) as team:
        for number, text, settings in attempts:
            team.submit(number, attempt, text, settings, each)
        while len(team):
            yield from team.results()


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


def _unknowns(rule: Any) -> list[Any]:
    """Return the unknowns of a rule. Its parts are shared, so each is visited once."""
    found, seen, waiting = {}, set(), [rule]
    while waiting:
        node = waiting.pop()
        if node.get_id() in seen:
            continue
        seen.add(node.get_id())
        if z3.is_const(node) and node.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found[node.decl().name()] = node
        waiting += node.children()
    return [found[name] for name in sorted(found)]


def _state(problem: Problem, known: Facts) -> list[Any]:
    return [each for each in problem.state if each not in known.fixed]


def horn_clauses(problem: Problem, known: Facts) -> str:
    """Return the problem as constrained Horn clauses in SMT-LIB: an unknown set of states with three conditions.

    Args:
        problem: The problem.
        known: Facts that hold in all states.
    """
    own = z3.Context()
    converter, fixed = Z3Converter(get_env(), own), Replaced(known.fixed)

    def plain(value: Any) -> Any:
        return converter.convert(value.node() if isinstance(value, Linear) else formula(value))

    def convert(value: Any) -> Any:
        return plain(fixed.value(value))

    state = _state(problem, known)
    unknowns = [converter.convert(each) for each in state]
    inside = z3.Function("inside", *(each.sort() for each in unknowns), z3.BoolSort(own))
    first = [plain(problem.at_first[each]) for each in state]
    after = [convert(problem.after[each]) for each in state]
    system = problem.system
    solver = z3.SolverFor("HORN", own)

    def add(body: Any, head: Any) -> None:
        rule = z3.Implies(body, head)
        solver.add(z3.ForAll(_unknowns(rule), rule))

    now = (*system.current, *known.clauses)
    never = z3.BoolVal(False, own)
    add(plain(every(list(system.first))), inside(*first))
    add(z3.And(inside(*unknowns), convert(every(*now, *system.step))), inside(*after))
    add(z3.And(inside(*unknowns), convert(every(*now, no(problem.about.holds)))), never)
    if problem.about.early:
        add(plain(every(*system.first, no(every(list(problem.about.early))))), never)
    return str(solver.sexpr())
