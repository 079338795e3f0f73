"""SMT solvers behind one interface: an incremental query for Z3, cvc5 or Yices, or for several of these solvers."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from fractions import Fraction
from math import ceil
from threading import Event, Lock, Thread
from time import process_time
from typing import Any

import z3
from pysmt.exceptions import NoSolverAvailableError, SolverReturnedUnknownResultError
from pysmt.logics import QF_LRA
from pysmt.shortcuts import Implies, Solver, Symbol, get_env
from pysmt.smtlib.printers import to_smtlib
from pysmt.smtlib.solver import SmtLibSolver
from pysmt.solvers.solver import IncrementalTrackingSolver
from pysmt.solvers.z3 import Z3Converter, Z3Solver
from pysmt.typing import BOOL

from ccmatic.base import Clock, Disagreement, InputError, OutOfTime, SolverEnded, smtlib_comment, smtlib_name
from ccmatic.logic import Linear, Truth, formula
from ccmatic.logic.solving.options import SolverOptions

SAT, UNSAT, UNKNOWN = "sat", "unsat", "unknown"

#: The largest formula, in nodes, that a script contains without the SMT-LIB construct `let`.
LONGEST = 10_000

#: At first use, pySMT tries to import every solver that it knows. If two threads do this at once, one thread may see a
#: half-imported module. This lock prevents that.
_OPENING = Lock()


def context() -> z3.Context:
    """Return a new context for one thread.

    Python's garbage collector runs in any thread that allocates. So it may free a context's objects while another
    thread solves in that context, and Z3 would crash. Therefore, this context delays releases until its next use.
    """
    made = z3.Context()
    z3.Z3_enable_concurrent_dec_ref(made.ref())
    return made


@contextmanager
def limited(own: z3.Context, seconds: float) -> Iterator[None]:
    """Interrupt the solvers of a context as soon as this process has spent some CPU seconds in this block."""
    end, done = process_time() + seconds, Event()

    def watch() -> None:
        while not done.wait(max(end - process_time(), 0.01)):
            if process_time() >= end:
                own.interrupt()

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


class Checker:
    """One incremental query that all given solvers decide.

    A timeout in seconds applies to each call of `check`. A Clock limits `add` and `check` together, which then raise
    OutOfTime. The logic is QF_LRA, or QF_NRA if the query has products of unknowns.
    """

    def __init__(self, options: SolverOptions = SolverOptions(), logic: Any = QF_LRA) -> None:
        self._clock = Clock.of(options.timeout)
        left = self._clock.left()
        self._solvers = {name: _open(name, left, options.seed, logic) for name in options.solvers}
        self._satisfied: Any = None
        self._model: dict[str, Fraction | bool] | None = None
        self._stack: list[list[Truth]] = [[]]
        self._guards: list[Any] = []
        self._suppositions = 0

    def add(self, condition: Truth) -> None:
        """Assert a condition. It remains asserted until the current scope ends."""
        self._clock.left()
        assertion = formula(condition)
        self._stack[-1].append(condition)
        for solver in self._solvers.values():
            solver.add_assertion(assertion)

    def push(self) -> None:
        self._stack.append([])
        for solver in self._solvers.values():
            solver.push()

    def pop(self) -> None:
        self._stack.pop()
        for solver in self._solvers.values():
            solver.pop()

    @contextmanager
    def supposing(self, condition: Truth) -> Iterator[None]:
        """Assert a condition until the context ends, without a scope of Z3.

        At the end of a scope, Z3 forgets what it has learned. So a Boolean unknown implies the condition instead, and
        Z3 decides the query under this unknown. What Z3 learns stays valid for later conditions. The implication
        remains in the current scope.
        """
        self._clock.left()
        assertion = formula(condition)
        self._suppositions += 1
        guard = Symbol(f"supposed!{self._suppositions}", BOOL)
        others = [solver for name, solver in self._solvers.items() if name != "z3"]
        if "z3" in self._solvers:
            self._solvers["z3"].add_assertion(Implies(guard, assertion))
        for solver in others:
            solver.push()
            solver.add_assertion(assertion)
        self._stack.append([condition])
        self._guards = [guard]
        try:
            yield
        finally:
            self._guards = []
            self._stack.pop()
            for solver in others:
                solver.pop()

    def check(self) -> str:
        """Return SAT or UNSAT; UNKNOWN if no solver decides the query in time.

        Raises:
            Disagreement: If one solver says SAT and another UNSAT.
        """
        answers = {name: self._check(name) for name in self._solvers}
        decided = {answer for answer in answers.values() if answer != UNKNOWN}
        if len(decided) > 1:
            raise Disagreement(answers, script([condition for scope in self._stack for condition in scope]))
        if SAT in decided:
            first = next(name for name, answer in answers.items() if answer == SAT)
            self._satisfied = self._solvers[first]
            self._model = _z3_model(self._satisfied) if first == "z3" else None
        return decided.pop() if decided else UNKNOWN

    def _check(self, name: str) -> str:
        begin = self._clock.now()
        solver, limit = self._solvers[name], None
        try:
            limit = self._clock.left_to_solve()
            with _within(name, solver, limit, self._clock.counts_work):
                return SAT if solver.solve(self._guards if name == "z3" else None) else UNSAT
        except OutOfTime:
            return UNKNOWN
        except SolverReturnedUnknownResultError:
            if name == "z3" and _interrupted(solver.z3.reason_unknown(), limit, self._clock.now() - begin):
                raise KeyboardInterrupt from None
            return UNKNOWN

    def value(self, term: Any) -> Any:
        """Return the value of a term (a Fraction) or a condition (a bool) in the solution of the last `check`.

        Irrational values are rounded to 20 digits. They can occur only with products of unknowns.
        """
        if isinstance(term, (Fraction, bool)):
            return term
        if isinstance(term, Linear):
            return term.constant + sum(c * self._value(symbol) for symbol, c in term.coefficients.items())
        return self._value(term.node)

    def _value(self, node: Any) -> Fraction | bool:
        if node.is_symbol() and self._model is not None:
            return self._model.get(node.symbol_name(), False if node.is_symbol(BOOL) else Fraction(0))
        value = self._satisfied.get_value(node).constant_value()
        return value if isinstance(value, bool) else Fraction(value)


class Conflicts:
    """Searches for minimal conflicts among conditions, under other conditions that are always asserted.

    A Boolean unknown implies each condition, so Z3 keeps what it learns, and converts each condition once.
    """

    def __init__(self, always: Iterable[Truth] = ()) -> None:
        self._solver = _Z3(get_env(), QF_LRA)
        self._guards: dict[Any, Any] = {}
        for condition in always:
            self._solver.add_assertion(formula(condition))

    def minimal(self, conditions: Sequence[Truth], clock: Clock | None = None) -> list[int]:
        """Return the indices of a minimal conflict among conditions that have no common solution.

        Together, the conditions at these indices have no common solution. Without any one of them, the rest has a
        common solution. If the time of the clock is over, the conflict may have further conditions.
        """
        needed = self._core(dict(enumerate(map(self._guard, conditions))))
        assert needed is not None, "the conditions have a common solution"
        with suppress(OutOfTime):
            for index in list(needed):
                Clock.of(clock).left()
                rest = self._core({other: guard for other, guard in needed.items() if other != index})
                needed = needed if rest is None else rest
        return list(needed)

    def _guard(self, condition: Truth) -> Any:
        node = formula(condition)
        if node not in self._guards:
            self._guards[node] = Symbol(f"supposed!{len(self._guards) + 1}", BOOL)
            self._solver.add_assertion(Implies(self._guards[node], node))
        return self._guards[node]

    def _core(self, guards: Mapping[int, Any]) -> dict[int, Any] | None:
        """Return the guards of a conflict; None if the conditions of the guards have a common solution."""
        if self._solver.solve(list(guards.values())):
            return None
        names = {guard.decl().name() for guard in self._solver.z3.unsat_core()}
        return {index: guard for index, guard in guards.items() if guard.symbol_name() in names}


def conflict(conditions: Sequence[Truth], clock: Clock | None = None) -> list[int]:
    return Conflicts().minimal(conditions, clock)


def script(conditions: Iterable[Truth], comment: str = "") -> str:
    """Return an SMT-LIB 2 script, in a separate scope, with the query whether conditions have a common solution."""
    formulas = [formula(condition) for condition in conditions]
    symbols = sorted(set().union(*(f.get_free_variables() for f in formulas)), key=lambda s: s.symbol_name())
    lines = [*smtlib_comment(comment), "(push 1)"]
    lines += [f"(declare-fun {smtlib_name(s.symbol_name())} () {s.symbol_type()})" for s in symbols]
    lines += [f"(assert {to_smtlib(each, daggify=_is_long(each))})" for each in formulas]
    return "\n".join([*lines, "(check-sat)", "(pop 1)", ""])


def _is_long(formula: Any) -> bool:
    """Return whether to write a formula with `let`. Otherwise, repeated subterms could fill the script."""
    sizes: dict[Any, int] = {}
    waiting = [formula]
    while waiting:
        parts = waiting[-1].args()
        if unknown := [part for part in parts if part not in sizes]:
            waiting += unknown
        else:
            sizes[waiting.pop()] = 1 + sum(sizes[part] for part in parts)
    return sizes[formula] > LONGEST


def _z3_model(solver: "_Z3") -> dict[str, Fraction | bool]:
    """Return the values of all symbols at once.

    Separate reads through pySMT took a third of the time of a synthesis. Z3's own Python objects for each symbol and
    value took a third of the time of a short search for a worst case, so this function calls Z3's functions in C. It
    reads each name and each number once.
    """
    model, names = solver.z3.model(), solver.names
    context, values, numbers = model.ctx.ref(), dict[str, Fraction | bool](), dict[int, Fraction | bool]()
    for index in range(z3.Z3_model_get_num_consts(context, model.model)):
        symbol = z3.Z3_model_get_const_decl(context, model.model, index)
        name = names.get(symbol.value)
        if name is None:
            name = z3.Z3_get_symbol_string(context, z3.Z3_get_decl_name(context, symbol))
            if "!" not in name:  # Z3 may release its own symbols, whose names have this sign
                names[symbol.value] = name
        value = z3.Z3_model_get_const_interp(context, model.model, symbol)
        if value.value not in numbers:
            numbers[value.value] = _z3_value(model, value)
        values[name] = numbers[value.value]
    return values


def _z3_value(model: z3.ModelRef, value: z3.Ast) -> Fraction | bool:
    """Return a value in a model as a Fraction, rounded to 20 digits if it is irrational, or as a bool."""
    context = model.ctx.ref()
    if z3.Z3_is_algebraic_number(context, value):
        return Fraction(z3.AlgebraicNumRef(value, model.ctx).approx(20).as_fraction())
    if not z3.Z3_is_numeral_ast(context, value):
        return bool(z3.Z3_get_bool_value(context, value) == z3.Z3_L_TRUE)
    numerator, _, denominator = z3.Z3_get_numeral_string(context, value).partition("/")
    return Fraction(int(numerator), int(denominator or 1))


def _within(name: str, solver: Any, seconds: float | None, work: bool) -> AbstractContextManager[None]:
    """Limit the time of a solver's check in this context. For Yices, the limit was set when it was opened.

    `work` says that the limit is in CPU seconds. Only Z3 counts them; other solvers count seconds of a clock.
    """
    if seconds is None:
        return nullcontext()
    if name == "z3" and work:
        return limited(solver.z3.ctx, seconds)
    milliseconds = ceil(1000 * seconds)
    if name == "z3":
        solver.z3.set("timeout", milliseconds)
    elif name == "cvc5":
        solver.cvc5.setOption("tlimit-per", str(milliseconds))
    return nullcontext()


def _interrupted(reason: str, limit: float | None, seconds: float) -> bool:
    """Return whether Ctrl-C stopped Z3. Z3 catches Ctrl-C, and may report "canceled" as it does for a timeout."""
    if reason == "canceled":
        return limit is None or seconds < limit / 2
    return reason.startswith("interrupted")


def _open(name: str, timeout: float | None, seed: int, logic: Any) -> Any:
    try:
        if name == "yices":
            return _open_yices(timeout, logic)
        if name == "z3":
            return _Z3(get_env(), logic, solver_options={"random_seed": seed})
        with _OPENING:
            return Solver(name=name, logic=logic, solver_options={"seed": str(seed)})
    except NoSolverAvailableError:
        raise InputError(f"the solver {name} is not installed; pip install 'ccmatic[{name}]'") from None


def _open_yices(timeout: float | None, logic: Any) -> Any:
    program = shutil.which("yices-smt2")
    if program is None:
        raise NoSolverAvailableError
    limit = [f"--timeout={ceil(timeout)}"] if timeout else []
    return _Yices([program, "--incremental", *limit], get_env(), logic, LOGICS=[logic])


class _Z3(Z3Solver):  # type: ignore[misc]
    def __init__(self, environment: Any, logic: Any, **options: Any) -> None:
        IncrementalTrackingSolver.__init__(self, environment=environment, logic=logic, **options)
        own = context()
        name = z3.to_symbol(str(logic), own)  # The function z3.SolverFor would open the shared context for this symbol.
        self.z3 = z3.Solver(z3.Z3_mk_solver_for_logic(own.ref(), name), own)
        self.options(self)
        self.declarations: set[Any] = set()
        self.converter = Z3Converter(environment, z3_ctx=own)
        self.mgr = environment.formula_manager
        #: The names of symbols, by Z3's address of each symbol. The converter keeps these symbols.
        self.names = dict[int, str]()

    def _add_assertion(self, formula: Any, named: str | None = None) -> Any:
        """Assert a formula without pySMT's type check, which is as slow as the conversion.

        Z3 checks the types itself.
        """
        if self.options.unsat_cores_mode is not None:
            return super()._add_assertion(formula, named)
        z3.Z3_solver_assert(self.z3.ctx.ref(), self.z3.solver, self.converter.walk(formula))
        return formula


#: The message if the program does not answer any more.
_ENDED = "the solver Yices has ended early"


class _Yices(SmtLibSolver):  # type: ignore[misc]
    """The solver Yices over a pipe. pySMT leaves the rest of a line unread after a value. This class skips it."""

    def get_value(self, item: Any) -> Any:
        """Return the value of a formula in the solver's model.

        Yices has no value for a symbol that occurs in no assertion. Such a symbol may have any value.
        """
        if item.is_symbol() and not any(item in names for names in self.declared_vars):
            manager = self.environment.formula_manager
            return manager.FALSE() if item.is_symbol(BOOL) else manager.Real(0)
        return super().get_value(item)

    def _send_command(self, command: Any) -> None:
        try:
            super()._send_command(command)
        except BrokenPipeError:
            # The command line takes a broken pipe for a closed output of ccmatic, which is no error.
            raise SolverEnded(_ENDED) from None

    def _get_answer(self) -> str:
        answer: str = super()._get_answer()
        while not answer and self.solver.poll() is None:
            answer = super()._get_answer()
        if not answer:
            raise SolverEnded(_ENDED)
        return answer
