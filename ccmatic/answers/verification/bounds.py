"""Nonlinear laws.

In the encoding, a range replaces a law. This module proves that the range contains the law's true value. The proof
precedes every verdict on a controller that has a nonlinear law.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TypeAlias

from pysmt.fnode import FNode
from pysmt.logics import QF_NRA
from pysmt.shortcuts import GE, GT, LE, LT, And, Equals, FreshSymbol, Ite, Minus, Not, Or, Plus, Real, Symbol, Times
from pysmt.typing import BOOL, REAL, PySMTType

from ccmatic import language
from ccmatic.base import InputError
from ccmatic.controllers import Controller, Stateful
from ccmatic.language import (
    Between,
    Binary,
    Bounded,
    Comparison,
    Extreme,
    Function,
    If,
    Local,
    Logic,
    Name,
    Number,
    Tree,
)
from ccmatic.logic import Condition, Linear, isolated
from ccmatic.logic.solving import SAT, UNKNOWN, Checker, SolverOptions
from ccmatic.worlds.text import text

#: The timeout of one solver query, in seconds.
LONGEST = 10

#: The largest delay, in whole steps, that is encoded as an integer. Longer delays are encoded as real numbers, which
#: include all integers and keep the queries small.
_MOST_STEPS = 16

#: A query, as a tuple: the error, the equations on which the error depends, its description, and the numbers to report;
#: see `_questions`.
_Question: TypeAlias = tuple[FNode, Sequence[FNode], str, dict[str, FNode]]

_ORDER = {"<": LT, "<=": LE, ">": GT, ">=": GE, "==": Equals, "!=": lambda left, right: Not(Equals(left, right))}


def require_bounds(controller: Controller | Stateful, R: int, D: int) -> None:
    """Raise InputError unless every range in the update of `controller` is valid wherever the update reaches it.

    A range `bounded(law, low, high)` is valid if low <= law <= high and the law divides by no zero, and a range
    `between(low, high)` if low <= high. Each has to be valid for all inputs with which the update reaches it: those
    that satisfy the tests on the way to it. MSS and line_rate are positive.

    A test compares a delay in whole steps, as senders observe it. A law reads the exact delay. A byte with a delay of k
    whole steps was sent k steps before the step in which it was delivered. Sending and delivery may happen at any time
    within their steps. So the exact delay lies strictly between k - 1 and k + 1 steps. The range must be valid for each
    such delay.

    Only a Stateful controller has ranges. A message about an invalid range names a point at which it is.
    """
    if not isinstance(controller, Stateful):
        return
    few = frozenset(each.name for each in controller.observations.values() if each.few)
    for tests, name, range_ in _ranges(controller.update):
        if reason := _refused(tests, range_, R, D, few):
            raise InputError(f"the range of `{name}`: {reason}", controller.file, range_.line)


def _ranges(tree: Tree, tests: tuple[Tree, ...] = ()) -> Iterator[tuple[tuple[Tree, ...], str, Between | Bounded]]:
    """Yield each range of an update as a triple: the tests on the way to it, the name of its state, and its tree."""
    if isinstance(tree, If):
        yield from _ranges(tree.then, (*tests, tree.test))
        yield from _ranges(tree.other, (*tests, language.Not(tree.test)))
    elif isinstance(tree, language.NextState):
        yield from ((tests, name, end) for name, end in tree.values.items() if isinstance(end, Between | Bounded))


@lru_cache(maxsize=1024)
@isolated
def _refused(tests: tuple[Tree, ...], range_: Between | Bounded, R: int, D: int, few: frozenset[str]) -> str | None:
    """Return the reason why a range is invalid or undecided; None if the range is proved valid."""
    point = _Point({"R_m": R, "D": D, "step": 1, "second": R}, few)
    reached = [point.condition(test) for test in tests]
    for wrong, equations, claim, numbers in _questions(point, range_):
        checker = Checker(SolverOptions(timeout=LONGEST), QF_NRA)
        checker.add(Condition(And(*reached, *point.facts(), *equations, wrong)))
        answer = checker.check()
        if answer == UNKNOWN:
            return f"could be neither proved nor refuted in {LONGEST} s; expected a simpler law, or a smaller range"
        if answer == SAT:
            return f"{claim} at {_assignment(checker, {**point.numbers(), **numbers})}"
    return None


def _questions(
    point: "_Point", range_: Between | Bounded
) -> Iterator[tuple[FNode, Sequence[FNode], str, dict[str, FNode]]]:
    """Yield queries that must be unsatisfiable: (error, equations, description of the error, numbers to report)."""
    low, high = point.named(range_.low), point.named(range_.high)
    law = point.exactly(range_.law) if isinstance(range_, Bounded) else None
    for divisor, equations in point.divisors:
        yield Equals(divisor, Real(0)), equations, "expected no division by 0, but there is one", {}
    if law is None:
        yield GT(low, high), point.equations, "expected low <= high, which fails", {"low": low, "high": high}
    else:
        yield LT(law, low), point.equations, "expected low <= law, which fails", {"low": low, "law": law}
        yield GT(law, high), point.equations, "expected law <= high, which fails", {"law": law, "high": high}


class _Point:
    """The values that a law reads, as real unknowns, and an encoder of expression trees over these values.

    Attributes:
        constants: Names with fixed values, such as R_m.
        few: Names of delays. A comparison with such a delay is false before the sender has measured the delay.
        symbols: The unknown of each name, except for delays.
        equations: The equations that define quotients and cube roots. Each quotient and each cube root is a new
            unknown.
        divisors: Each divisor with the equations that define it. These equations precede the equation of its quotient.
        delays: For each delay, two unknowns: the delay in whole steps, and the exact delay.
        in_law: Whether `term` currently encodes a law. A law reads exact delays.
    """

    def __init__(self, constants: Mapping[str, Fraction | int], few: frozenset[str]) -> None:
        self.constants, self.few = constants, few
        self.symbols: dict[str, FNode] = {}
        self.equations: list[FNode] = []
        self.divisors: list[tuple[FNode, tuple[FNode, ...]]] = []
        self.delays: dict[str, tuple[FNode, FNode]] = {}
        self.in_law = False

    def exactly(self, tree: Tree) -> FNode:
        self.in_law = True
        symbol = self.named(tree)
        self.in_law = False
        return symbol

    def named(self, tree: Tree) -> FNode:
        symbol = FreshSymbol(REAL)
        self.equations.append(Equals(symbol, self.term(tree)))
        return symbol

    def term(self, tree: Tree) -> FNode:
        match tree:
            case Number(value):
                return Real(value)
            case Name(name) if name in self.constants:
                return Real(self.constants[name])
            case Name(name) if name in self.few:
                return self.delay(tree)
            case Name():
                return self.symbol(tree, REAL)
            case Binary("/", left, right):
                return self.quotient(self.term(left), self.term(right))
            case Binary(op, left, right):
                return {"+": Plus, "-": Minus, "*": Times}[op](self.term(left), self.term(right))
            case Function("cbrt", (part,)):
                return self.cube_root(self.term(part))
            case Local(_, part):
                return self.term(part)
            case Extreme(pick, terms):
                first = GE if pick == "max" else LE
                return reduce(lambda a, b: Ite(first(a, b), a, b), map(self.term, terms))
            case If(test, then, other):
                condition = self.condition(test).simplify()
                if condition.is_constant():  # the other term may divide by 0
                    return self.term(then if condition.is_true() else other)
                return Ite(condition, self.term(then), self.term(other))
        raise TypeError(f"no term: {tree!r}")

    def quotient(self, number: FNode, divisor: FNode) -> FNode:
        divisor = divisor.simplify()
        if divisor.is_constant() and not divisor.is_zero():
            return Times(Real(1 / divisor.constant_value()), number)
        self.divisors.append((divisor, tuple(self.equations)))
        symbol = FreshSymbol(REAL)
        self.equations.append(Equals(Times(symbol, divisor), number))
        return symbol

    def cube_root(self, number: FNode) -> FNode:
        symbol = FreshSymbol(REAL)
        self.equations.append(Equals(Times(symbol, symbol, symbol), number))
        return symbol

    def delay(self, leaf: Tree) -> FNode:
        """Return the unknown of a delay: the exact delay if a law reads it, and the delay in whole steps elsewhere."""
        name = text(leaf)
        steps, exact = self.delays.setdefault(name, (Symbol(f"steps {name}", REAL), Symbol(f"read {name}", REAL)))
        return exact if self.in_law else steps

    def symbol(self, leaf: Tree, kind: PySMTType) -> FNode:
        return self.symbols.setdefault(text(leaf), Symbol(f"read {text(leaf)}", kind))

    def condition(self, tree: Tree) -> FNode:
        match tree:
            case Comparison(op, left, right):
                few = [leaf for leaf in language.leaves(tree) if isinstance(leaf, Name) and leaf.name in self.few]
                measured = [Symbol(f"known {text(leaf)}", BOOL) for leaf in few]
                return And(*measured, _ORDER[op](self.term(left), self.term(right)))
            case Logic(op, conditions):
                return (And if op == "and" else Or)(map(self.condition, conditions))
            case language.Not(part):
                return Not(self.condition(part))
            case Local(_, part):
                return self.condition(part)
            case Name():
                return self.symbol(tree, BOOL)
        raise TypeError(f"no condition: {tree!r}")

    def facts(self) -> Iterator[FNode]:
        yield from (GT(self.symbols[name], Real(0)) for name in ("MSS", "line_rate") if name in self.symbols)
        for steps, exact in self.delays.values():
            yield Or(*(Equals(steps, Real(count)) for count in range(_MOST_STEPS)), GE(steps, Real(_MOST_STEPS)))
            yield And(GE(exact, Real(0)), LT(Minus(exact, steps), Real(1)), GT(Minus(exact, steps), Real(-1)))

    def numbers(self) -> dict[str, FNode]:
        delays = {name: exact for name, (_, exact) in self.delays.items()}
        steps = {f"whole steps of {name}": steps for name, (steps, _) in self.delays.items()}
        return {name: each for name, each in self.symbols.items() if each.symbol_type() == REAL} | delays | steps


def _assignment(checker: Checker, symbols: Mapping[str, FNode]) -> str:
    return ", ".join(
        f"{name} = {_number(checker.value(Linear({symbol: Fraction(1)})))}" for name, symbol in symbols.items()
    )


def _number(value: Fraction) -> str:
    return str(value) if len(str(value)) <= 12 else f"{float(value):.6g}"
