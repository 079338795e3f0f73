"""The search for inductive invariants by Spacer, Z3's solver of constrained Horn clauses.

Nobody has to trust the search, because its invariants are checked without it (`ccmatic.proving.invariants.saved`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import count, islice, permutations
from time import process_time
from typing import Any, TypeAlias

import z3
from pysmt.shortcuts import get_env
from pysmt.solvers.z3 import Z3Converter
from pysmt.typing import BOOL

from ccmatic.base.workers import Team
from ccmatic.logic import Linear, Truth, every, formula, linear, no, some
from ccmatic.logic.solving import SAT, limited
from ccmatic.proving.invariants.claims import Problem
from ccmatic.proving.invariants.forms import Replaced, checker_of
from ccmatic.proving.invariants.lasting import as_value


@dataclass(frozen=True)
class Facts:
    """Facts about the states of a problem."""

    clauses: tuple[Truth, ...]
    #: The unknowns that have the same value in all states, with this value: 0, true or false.
    fixed: Mapping[Any, Any]


def facts(problem: Problem) -> Facts:
    """Return the largest set of simple facts that no initial state and no step breaks.

    If no fact fixes an unknown, the result is empty, because such facts would only distract Spacer.
    """
    left = _kept(list(_candidates(problem.state)), problem.system.first, problem.at_first, ())
    before = None
    while before != len(left):
        before = len(left)
        left = _kept(left, (*problem.system.current, *problem.system.step), problem.after, left)
    known, fixed = {formula(each) for each in left}, dict[Any, Any]()
    for symbol in problem.state:
        value: Any = as_value(symbol)
        if symbol.symbol_type() is not BOOL:
            fixed |= {symbol: linear(0)} if {formula(value <= 0), formula(value >= 0)} <= known else {}
        elif formula(value) in known or formula(no(value)) in known:
            fixed[symbol] = formula(value) in known
    return Facts(tuple(each for each in left if _is_useful(each, fixed)) if fixed else (), fixed)


def _candidates(state: Sequence[Any]) -> Iterator[Truth]:
    numbers = [as_value(symbol) for symbol in state if symbol.symbol_type() is not BOOL]
    for symbol in state:
        value: Any = as_value(symbol)
        yield from (value, no(value)) if symbol.symbol_type() is BOOL else (value <= 0, value >= 0)
    yield from (small <= large for small, large in permutations(numbers, 2))


def _is_useful(fact: Truth, fixed: Mapping[Any, Any]) -> bool:
    """Return whether a fact fixes an unknown, or is about unknowns that no fact fixes."""
    symbols = formula(fact).get_free_variables()
    return len(symbols) == 1 or not symbols & fixed.keys()


def _kept(
    candidates: Sequence[Truth], conditions: Sequence[Truth], after: Mapping[Any, Any], before: Sequence[Truth]
) -> list[Truth]:
    """Return the candidates that hold after every allowed step.

    A step is allowed if it begins in a state that satisfies `before`, and satisfies the conditions.
    """
    left, checker = list(candidates), checker_of((*conditions, *before))
    while left:
        checker.push()
        checker.add(no(Replaced(after).condition(every(left))))
        if checker.check() != SAT:
            checker.pop()
            return left
        values = {symbol: checker.value(value) for symbol, value in after.items() if symbol is not None}
        checker.pop()
        broken = Replaced({symbol: _constant(value) for symbol, value in values.items()}).condition
        left = [each for each in left if broken(each) is True]
    return left


def _constant(value: Any) -> Any:
    return value if isinstance(value, bool) else linear(value)


#: The settings of Spacer for a system with all laws, and for a system without some laws. Without the propagation of
#: equalities (`eq_prop`), Spacer finds AIMD's invariants in half the time or less.
_PLAIN: dict[str, Any] = {"fp.spacer.eq_prop": False}
_GLOBAL: dict[str, Any] = {"fp.spacer.global": True}
_SIMPLER: dict[str, Any] = {**_PLAIN, **_GLOBAL, "fp.spacer.simplify_pob": True}
PORTFOLIO: dict[bool, tuple[dict[str, Any], ...]] = {True: (_PLAIN, _SIMPLER), False: (_GLOBAL,)}

#: The CPU seconds of an attempt in the first round, but at most a quarter of the budget. Each round doubles them.
FIRST = 6.0

#: The CPU seconds of a search before it starts processes.
ALONE = 6


class Answer(Enum):
    """The answer of a search. A state that the system reaches may be impossible, so only a replay refutes a claim."""

    PROVED = "proved"
    REACHABLE = "reachable"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Found:
    """The outcome of a search."""

    answer: Answer
    problem: Problem | None = None
    clauses: tuple[Truth, ...] = ()
    #: The CPU seconds that each process spent.
    seconds: float = 0
    settings: str = ""


@dataclass(frozen=True, eq=False)
class _Posed:
    problem: Problem
    known: Facts
    text: str

    @property
    def is_complete(self) -> bool:
        """Whether the system has all laws. Otherwise, a state that breaks the claim says nothing."""
        return not self.problem.system.without

    @staticmethod
    def of(problem: Problem) -> "_Posed":
        known = facts(problem)
        return _Posed(problem, known, horn_clauses(problem, known))

    def found(self, answer: Answer, body: str, seconds: float, settings: str) -> Found:
        clauses: tuple[Truth, ...] = ()
        if answer is Answer.PROVED:
            clauses = (*self.known.clauses, *clauses_of(body, _state(self.problem, self.known)))
        return Found(answer, self.problem, clauses, seconds, settings)


def search(problems: Iterable[Problem], seconds: float, jobs: int = 2) -> Found:
    """Search for an invariant of one of several problems."""
    spent = 0.0
    for spent, posed, (answer, body, settings, _) in _answers(problems, seconds, jobs):
        if answer is Answer.PROVED or (answer is Answer.REACHABLE and posed.is_complete):
            try:
                return posed.found(answer, body, spent, settings)
            except ValueError:  # an invariant with quantifiers has no clauses; another attempt may find a simpler one
                continue
    return Found(Answer.UNKNOWN, seconds=spent)


#: A problem and the settings of Spacer for it.
_Attempt: TypeAlias = tuple[_Posed, dict[str, Any]]

#: The answer of an attempt, the invariant as text, the settings as text, and the CPU seconds.
_Result: TypeAlias = tuple[Answer, str, str, float]


def _answers(problems: Iterable[Problem], seconds: float, jobs: int) -> Iterator[tuple[float, _Posed, _Result]]:
    """Yield the CPU seconds that each process has spent so far, and an answer, for rounds of attempts.

    The first round is about the first problem alone, because the first problem nearly always has an invariant if
    another problem has one. Each later round repeats the undecided attempts with twice the CPU seconds and another
    seed, because a search may fail only for some seeds.
    """
    left, each, team, waiting = seconds, min(FIRST, seconds / 4), Team(1), iter(problems)
    attempts = _attempts(islice(waiting, 1))
    with ExitStack() as stack:
        for seed in count(1):
            undecided: list[_Attempt] = []
            for (posed, how), result in _round(team, attempts, each, seed):
                left -= result[-1] / team.size
                yield seconds - left, posed, result
                undecided += [] if result[0] is Answer.REACHABLE else [(posed, how)]
                if left <= 0:
                    return
            undecided += _attempts(waiting)
            if not undecided or left < each:
                return
            if seconds - left >= ALONE and team.size < jobs:
                team = stack.enter_context(Team(jobs))
            attempts, share = undecided, left * team.size / len(undecided)
            each = 2 * each if share > 6 * each else share


def _attempts(problems: Iterable[Problem]) -> list[_Attempt]:
    return [(posed, how) for posed in map(_Posed.of, problems) for how in PORTFOLIO[posed.is_complete]]


def _round(team: Team, attempts: list[_Attempt], seconds: float, seed: int) -> Iterator[tuple[_Attempt, _Result]]:
    """Yield each attempt of a round with its result, as soon as a process has it."""
    for posed, how in attempts:
        team.submit((posed, how), attempt, posed.text, {**how, "fp.spacer.random_seed": seed}, seconds)
        while len(team) >= team.size:
            yield from team.results()
    while len(team):
        yield from team.results()


def attempt(text: str, settings: dict[str, Any], seconds: float) -> _Result:
    """Return Spacer's answer to Horn clauses, the invariant as text, the settings as text, and the CPU seconds."""
    begin, own = process_time(), z3.Context()
    solver = z3.SolverFor("HORN", own)
    for name, value in settings.items():
        solver.set(name, value)
    solver.from_string(text)
    try:
        with limited(own, seconds):
            answer = solver.check()
    except z3.Z3Exception:
        answer = z3.unknown
    spent = process_time() - begin
    if answer == z3.sat:
        model = solver.model()
        body = model[model.decls()[0]].else_value()
        names = [z3.Const(f"v{k}", model.decls()[0].domain(k)) for k in range(model.decls()[0].arity())]
        return Answer.PROVED, z3.substitute_vars(body, *names).sexpr(), str(settings), spent
    return (Answer.REACHABLE if answer == z3.unsat else Answer.UNKNOWN), "", str(settings), spent


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
    """Return the problem as constrained Horn clauses in SMT-LIB: an unknown set of states with three conditions."""
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


def clauses_of(text: str, state: Sequence[Any]) -> Iterator[Truth]:
    """Yield the clauses of a formula of Z3 about the unknowns `v0`, `v1`, … of a state; ValueError if quantified."""
    own = z3.Context()
    names = {f"v{k}": as_value(symbol) for k, symbol in enumerate(state)}
    declared = "".join(
        f"(declare-const v{k} {'Bool' if symbol.symbol_type() is BOOL else 'Real'})" for k, symbol in enumerate(state)
    )
    formulas = z3.parse_smt2_string(f"{declared}(assert {text})", ctx=own)
    for clause in dict.fromkeys(each for part in formulas for each in _clauses(part, True, names)):
        yield some([literal if holds else no(literal) for literal, holds in _conditions(clause, names)])


def _clauses(node: Any, holds: bool, names: Any) -> list[tuple[tuple[Any, bool], ...]]:
    """Return clauses of (atom, whether it holds) for a formula or its negation."""
    if z3.is_not(node):
        return _clauses(node.arg(0), not holds, names)
    if z3.is_true(node) or z3.is_false(node):
        return [] if z3.is_true(node) == holds else [()]
    if z3.is_implies(node):
        node = z3.Or(z3.Not(node.arg(0)), node.arg(1))
    if z3.is_and(node) or z3.is_or(node):
        parts = [_clauses(part, holds, names) for part in node.children()]
        if z3.is_and(node) == holds:
            return [clause for part in parts for clause in part]
        product: list[tuple[tuple[Any, bool], ...]] = [()]
        for part in parts:
            product = [(*left, *right) for left in product for right in part]
        return product
    if z3.is_eq(node) and not z3.is_bool(node.arg(0)):
        low, high = node.arg(0) <= node.arg(1), node.arg(0) >= node.arg(1)
        return [((low, True),), ((high, True),)] if holds else [((low, False), (high, False))]
    if z3.is_eq(node):
        left, right = node.children()
        pairs = z3.And(z3.Or(left, z3.Not(right)), z3.Or(z3.Not(left), right))
        return _clauses(pairs, holds, names)
    return [((node, holds),)]


def _conditions(clause: Any, names: Any) -> Iterator[tuple[Truth, bool]]:
    for node, holds in clause:
        yield _atom(node, names), holds


def _atom(node: Any, names: Any) -> Any:
    if z3.is_quantifier(node):
        raise ValueError(f"the formula has quantifiers: {node}")
    if z3.is_const(node):
        return names[node.decl().name()]
    left, right = (_term(part, names) for part in node.children())
    if z3.is_le(node):
        return left <= right
    if z3.is_lt(node):
        return left < right
    if z3.is_ge(node):
        return left >= right
    if z3.is_gt(node):
        return left > right
    raise ValueError(f"no atom of linear arithmetic: {node}")


def _term(node: Any, names: Any) -> Any:
    if z3.is_rational_value(node) or z3.is_int_value(node):
        return linear(Fraction(node.as_fraction()))
    if z3.is_add(node):
        return sum((_term(part, names) for part in node.children()), linear(0))
    if z3.is_sub(node):
        first, *others = (_term(part, names) for part in node.children())
        return sum((-other for other in others), first)
    if z3.is_mul(node):
        product = linear(1)
        for part in node.children():
            product = product * _term(part, names)
        return product
    if z3.is_div(node):
        return _term(node.arg(0), names) / _term(node.arg(1), names)
    if node.decl().kind() == z3.Z3_OP_UMINUS:
        return -_term(node.arg(0), names)
    return names[node.decl().name()]
