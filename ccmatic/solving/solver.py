"""Solvers behind one contract: an incremental query put to Z3, cvc5 or Yices, or to all of them."""

import shutil
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil
from threading import Lock
from time import monotonic
from typing import Any

import z3
from pysmt.exceptions import NoSolverAvailableError, SolverReturnedUnknownResultError
from pysmt.logics import QF_LRA
from pysmt.shortcuts import Solver, get_env
from pysmt.smtlib.printers import to_smtlib
from pysmt.smtlib.solver import SmtLibSolver
from pysmt.solvers.solver import IncrementalTrackingSolver
from pysmt.solvers.z3 import Z3Converter, Z3Solver
from pysmt.typing import BOOL

from ccmatic.base import Clock, Disagreement, InputError, OutOfTime, smtlib_comment, smtlib_name
from ccmatic.logic import Linear, Truth, formula
from ccmatic.solving.contexts import context
from ccmatic.solving.options import SolverOptions

SAT, UNSAT, UNKNOWN = "sat", "unsat", "unknown"

#: The most nodes of a formula that a script writes out.
LONGEST = 10_000

#: pySMT first tries to import every solver that it knows. Two threads that do so at once see half of a module that is
#: missing.
_OPENING = Lock()


class Checker:
    """One incremental query, put to all the solvers named.

    Args:
        options: SolverOptions. The timeout is for each `check`; that of a Clock for `add` and `check` together.
        logic: of real arithmetic: QF_LRA, or QF_NRA for products of unknowns.

    Raises:
        InputError: A solver is not installed.
    """

    def __init__(self, options=SolverOptions(), logic=QF_LRA):
        self._clock = Clock.of(options.timeout)
        left = self._clock.left()
        self._solvers = {name: _open(name, left, options.seed, logic) for name in options.solvers}
        self._satisfied = self._model = None
        self._stack = [[]]

    def add(self, condition: Truth) -> None:
        """Assert a condition, until the scope in which that is done ends. Raises OutOfTime."""
        self._clock.left()
        assertion = formula(condition)
        self._stack[-1].append(condition)
        for solver in self._solvers.values():
            solver.add_assertion(assertion)

    def push(self) -> None:
        """Begin a scope."""
        self._stack.append([])
        for solver in self._solvers.values():
            solver.push()

    def pop(self) -> None:
        """Forget what was asserted since the last `push`."""
        self._stack.pop()
        for solver in self._solvers.values():
            solver.pop()

    def check(self) -> str:
        """SAT, UNSAT, or UNKNOWN if none of the solvers could tell in time. Raises Disagreement if one says SAT and
        another UNSAT."""
        answers = {name: self._check(name) for name in self._solvers}
        decided = {answer for answer in answers.values() if answer != UNKNOWN}
        if len(decided) > 1:
            raise Disagreement(answers, script([condition for scope in self._stack for condition in scope]))
        if SAT in decided:
            first = next(name for name, answer in answers.items() if answer == SAT)
            self._satisfied = self._solvers[first]
            self._model = _z3_model(self._satisfied.z3.model()) if first == "z3" else None
        return decided.pop() if decided else UNKNOWN

    def _check(self, name):
        begin = monotonic()
        solver, limit = self._solvers[name], None
        try:
            limit = self._clock.left()
            if limit is not None:
                _limit(name, solver, limit)
            return SAT if solver.solve() else UNSAT
        except OutOfTime:
            return UNKNOWN
        except SolverReturnedUnknownResultError:
            if name == "z3" and _interrupted(solver.z3.reason_unknown(), limit, monotonic() - begin):
                raise KeyboardInterrupt from None
            return UNKNOWN

    def value(self, term: Any) -> Any:
        """The value of a term, a Fraction, or of a condition, a bool, in the solution that the last `check` found: it
        must have said SAT. An irrational one, which only products of unknowns have, is rounded to 20 digits."""
        if isinstance(term, (Fraction, bool)):
            return term
        if isinstance(term, Linear):
            return term.constant + sum(c * self._value(symbol) for symbol, c in term.coefficients.items())
        return self._value(term.node)

    def _value(self, node):
        if node.is_symbol() and self._model is not None:
            return self._model.get(node.symbol_name(), False if node.is_symbol(BOOL) else Fraction(0))
        value = self._satisfied.get_value(node).constant_value()
        return value if isinstance(value, bool) else Fraction(value)


def conflict(conditions: Sequence[Truth]) -> list[int]:
    """A minimal conflict among conditions that have no common solution, as their indices: those have no common
    solution either, and would have one if any one of them were left out."""
    formulas = [formula(condition) for condition in conditions]
    with _Z3(get_env(), QF_LRA, unsat_cores_mode="all") as solver:
        for part in formulas:
            solver.add_assertion(part)
        solver.solve()
        core = solver.get_unsat_core()
    needed = [index for index, part in enumerate(formulas) if part in core]
    for index in list(needed):
        checker = Checker()
        for other in needed:
            if other != index:
                checker.add(conditions[other])
        if checker.check() == UNSAT:
            needed.remove(index)
    return needed


def script(conditions: Iterable[Truth], comment: str = "") -> str:
    """The question whether the conditions have a common solution, as SMT-LIB 2 in a scope of its own. comment: lines
    that stand above it."""
    formulas = [formula(condition) for condition in conditions]
    symbols = sorted(set().union(*(f.get_free_variables() for f in formulas)), key=lambda s: s.symbol_name())
    lines = [*smtlib_comment(comment), "(push 1)"]
    lines += [f"(declare-fun {smtlib_name(s.symbol_name())} () {s.symbol_type()})" for s in symbols]
    lines += [f"(assert {to_smtlib(each, daggify=_is_long(each))})" for each in formulas]
    return "\n".join([*lines, "(check-sat)", "(pop 1)", ""])


def _is_long(formula):
    """Whether a formula is written with `let`, since what it shares would fill the script, as layers of networks do."""
    sizes, waiting = {}, [formula]
    while waiting:
        parts = waiting[-1].args()
        if unknown := [part for part in parts if part not in sizes]:
            waiting += unknown
        else:
            sizes[waiting.pop()] = 1 + sum(sizes[part] for part in parts)
    return sizes[formula] > LONGEST


def _z3_model(model):
    """Every symbol's value, read at once: pySMT's reading of them one by one took a third of a synthesis."""
    values = {}
    for symbol in model:
        value = model[symbol]
        number = value.approx(20) if z3.is_algebraic_value(value) else value
        values[symbol.name()] = number.as_fraction() if z3.is_rational_value(number) else z3.is_true(value)
    return values


def _limit(name, solver, seconds):
    """Let the next check of a solver take so long at most; Yices was told when it was opened."""
    milliseconds = ceil(1000 * seconds)
    if name == "z3":
        solver.z3.set("timeout", milliseconds)
    elif name == "cvc5":
        solver.cvc5.setOption("tlimit-per", str(milliseconds))


def _interrupted(reason, limit, seconds):
    """Z3 takes a Ctrl-C for itself, and may say "canceled" for that as for the end of its time."""
    if reason == "canceled":
        return limit is None or seconds < limit / 2
    return reason.startswith("interrupted")


def _open(name, timeout, seed, logic):
    """A pySMT solver for real arithmetic."""
    try:
        if name == "yices":
            return _open_yices(timeout, logic)
        if name == "z3":
            return _Z3(get_env(), logic, solver_options={"random_seed": seed})
        with _OPENING:
            return Solver(name=name, logic=logic, solver_options={"seed": str(seed)})
    except NoSolverAvailableError:
        raise InputError(f"the solver {name} is not installed; pip install 'ccmatic[{name}]'") from None


def _open_yices(timeout, logic):
    program = shutil.which("yices-smt2")
    if program is None:
        raise NoSolverAvailableError
    limit = [f"--timeout={ceil(timeout)}"] if timeout else []
    return _Yices([program, "--incremental", *limit], get_env(), logic, LOGICS=[logic])


class _Z3(Z3Solver):
    """Z3 with a context of its own."""

    def __init__(self, environment, logic, **options):
        IncrementalTrackingSolver.__init__(self, environment=environment, logic=logic, **options)
        own = context()
        name = z3.to_symbol(str(logic), own)  # z3.SolverFor opens, for the name alone, the context that all share
        self.z3 = z3.Solver(z3.Z3_mk_solver_for_logic(own.ref(), name), own)
        self.options(self)
        self.declarations = set()
        self.converter = Z3Converter(environment, z3_ctx=own)
        self.mgr = environment.formula_manager

    def _add_assertion(self, formula, named=None):
        """Assert a formula. pySMT's check of types would cost as much as the conversion, and Z3 checks them."""
        if self.options.unsat_cores_mode is not None:
            return super()._add_assertion(formula, named)
        z3.Z3_solver_assert(self.z3.ctx.ref(), self.z3.solver, self.converter.walk(formula))
        return formula


class _Yices(SmtLibSolver):
    """Yices over a pipe. After a value pySMT leaves the rest of its line unread: pass over it."""

    def _get_answer(self):
        answer = super()._get_answer()
        while not answer and self.solver.poll() is None:
            answer = super()._get_answer()
        return answer
