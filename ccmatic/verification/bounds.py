"""Laws that are not linear: that the bounds which stand for one do bound it, asked before anything is said of it."""

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
from ccmatic.compilers.text import text
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
from ccmatic.solving import SAT, UNKNOWN, Checker, SolverOptions

#: Seconds for one question.
LONGEST = 10

#: Whole steps up to which a test tells one delay from the next. Beyond, a test is taken to hold of fractions as well.
_MOST_STEPS = 16

#: See `_questions`.
_Question: TypeAlias = tuple[FNode, Sequence[FNode], str, dict[str, FNode]]

_ORDER = {"<": LT, "<=": LE, ">": GT, ">=": GE, "==": Equals, "!=": lambda left, right: Not(Equals(left, right))}


def require_bounds(controller: Controller | Stateful, R: int, D: int) -> None:
    """Raise InputError, with the point at which it fails, if a `bounded(law, low, high)` is reached where the law is
    not from low to high, or divides by 0, or a `between(low, high)` where low is above high; or if a solver can neither
    prove nor refute that.

    It is reached at any values of what is read at which the tests hold that lead there; MSS and line_rate are above 0.
    A test compares a delay in whole steps, as senders observe it; a law reads the delay itself. A byte that waits k
    whole steps was sent in the step that ends k steps before the one in which it is served, each at any time within its
    step, so that it waits longer than k - 1 steps and less than k + 1. The bounds hold for each such delay.

    controller: or a sender of another kind, which has no laws. R, D: R_m and the jitter, in steps.
    """
    if not isinstance(controller, Stateful):
        return
    few = frozenset(each.name for each in controller.observations.values() if each.few)
    for tests, name, range_ in _ranges(controller.update):
        if reason := _refused(tests, range_, R, D, few):
            raise InputError(f"the range of `{name}`: {reason}", controller.file, range_.line)


def _ranges(tree: Tree, tests: tuple[Tree, ...] = ()) -> Iterator[tuple[tuple[Tree, ...], str, Between | Bounded]]:
    """Each range in an update: the tests that lead to it, the name of the state that lies in it, and its tree."""
    if isinstance(tree, If):
        yield from _ranges(tree.then, (*tests, tree.test))
        yield from _ranges(tree.other, (*tests, language.Not(tree.test)))
    elif isinstance(tree, language.Remembered):
        yield from ((tests, name, end) for name, end in tree.values.items() if isinstance(end, Between | Bounded))


@lru_cache(maxsize=1024)
@isolated
def _refused(tests: tuple[Tree, ...], range_: Between | Bounded, R: int, D: int, few: frozenset[str]) -> str | None:
    """Why it is refused, in words; None if it is proved."""
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
    """(what would be wrong, with which equations, in words, of which numbers)."""
    low, high = point.named(range_.low), point.named(range_.high)
    law = point.exactly(range_.law) if isinstance(range_, Bounded) else None
    for divisor, equations in point.divisors:
        yield Equals(divisor, Real(0)), equations, "expected no division by 0; there is one", {}
    if law is None:
        yield GT(low, high), point.equations, "expected low <= high; it is not so", {"low": low, "high": high}
    else:
        yield LT(law, low), point.equations, "expected low <= law; it is not so", {"low": low, "law": law}
        yield GT(law, high), point.equations, "expected law <= high; it is not so", {"law": law, "high": high}


class _Point:
    """What is read, as real unknowns; and trees of it as nodes.

    constants: the numbers among it. few: names of delays. While a delay is not known, no comparison with it holds.
    delays: of each that is read, its whole steps and the delay itself.
    equations: of the quotients and roots, which are unknowns of their own. divisors: each with the equations that it
    needs, which are those before its quotient's."""

    def __init__(self, constants: Mapping[str, Fraction | int], few: frozenset[str]) -> None:
        self.constants, self.few = constants, few
        self.symbols: dict[str, FNode] = {}
        self.equations: list[FNode] = []
        self.divisors: list[tuple[FNode, tuple[FNode, ...]]] = []
        self.delays: dict[str, tuple[FNode, FNode]] = {}
        self.in_law = False

    def exactly(self, tree: Tree) -> FNode:
        """A symbol for a law, which reads delays themselves."""
        self.in_law = True
        symbol = self.named(tree)
        self.in_law = False
        return symbol

    def named(self, tree: Tree) -> FNode:
        """A symbol for a term."""
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
                return Ite(self.condition(test), self.term(then), self.term(other))
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
        """A delay: itself in a law, elsewhere its whole steps."""
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
        """What is always so."""
        yield from (GT(self.symbols[name], Real(0)) for name in ("MSS", "line_rate") if name in self.symbols)
        for steps, exact in self.delays.values():
            yield Or(*(Equals(steps, Real(count)) for count in range(_MOST_STEPS)), GE(steps, Real(_MOST_STEPS)))
            yield And(GE(exact, Real(0)), LT(Minus(exact, steps), Real(1)), GT(Minus(exact, steps), Real(-1)))

    def numbers(self) -> dict[str, FNode]:
        """What is read that is a number, by name."""
        delays = {name: exact for name, (_, exact) in self.delays.items()}
        steps = {f"whole steps of {name}": steps for name, (steps, _) in self.delays.items()}
        return {name: each for name, each in self.symbols.items() if each.symbol_type() == REAL} | delays | steps


def _assignment(checker: Checker, symbols: Mapping[str, FNode]) -> str:
    return ", ".join(
        f"{name} = {_number(checker.value(Linear({symbol: Fraction(1)})))}" for name, symbol in symbols.items()
    )


def _number(value: Fraction) -> str:
    return str(value) if len(str(value)) <= 12 else f"{float(value):.6g}"
