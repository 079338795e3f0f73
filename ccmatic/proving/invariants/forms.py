"""Conditions with other terms in place of their unknowns, and the linear terms that conditions compare."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from pysmt.operators import all_types
from pysmt.shortcuts import get_env
from pysmt.walkers import DagWalker
from pysmt.walkers.generic import nt_to_fun

from ccmatic.logic import Condition, Linear, Term, Truth, choice, equal, every, formula, iff, implies, linear, no, some
from ccmatic.logic.solving import Checker, SolverOptions


class Replaced(DagWalker):  # type: ignore[misc]
    """Rebuilds conditions and terms with given values in place of some unknowns.

    Equal conditions become the same node. So two results are equal if they are the same node.
    """

    #: The method for each kind of node, which pySMT would look up for each object again.
    _methods: Mapping[int, str]

    def __init__(self, values: Mapping[Any, Any]) -> None:
        self.env, self.functions = get_env(), {kind: getattr(self, name) for kind, name in self._methods.items()}
        self.memoization: dict[Any, Any] = {}
        self.invalidate_memoization, self.stack = False, list[Any]()
        self._values = values

    def condition(self, truth: Truth) -> Truth:
        if isinstance(truth, bool):
            return truth
        result: Truth = self.walk(truth.node)
        return result

    def term(self, term: Term) -> Linear:
        result = linear(0)
        for node, coefficient in linear(term).coefficients.items():
            result = result + self.walk(node) * coefficient
        return result + linear(term).constant

    def value(self, value: Any) -> Any:
        return self.term(value) if isinstance(value, Linear) else self.condition(value)

    def walk_symbol(self, formula: Any, args: Any, **_: Any) -> Any:
        if formula in self._values:
            return self._values[formula]
        return Condition(formula) if formula.symbol_type().is_bool_type() else Linear({formula: Fraction(1)})

    def walk_real_constant(self, formula: Any, args: Any, **_: Any) -> Linear:
        return linear(Fraction(formula.constant_value()))

    def walk_bool_constant(self, formula: Any, args: Any, **_: Any) -> bool:
        return bool(formula.constant_value())

    def walk_plus(self, formula: Any, args: Any, **_: Any) -> Any:
        return sum(args[1:], args[0])

    def walk_minus(self, formula: Any, args: Any, **_: Any) -> Any:
        return args[0] - args[1]

    def walk_times(self, formula: Any, args: Any, **_: Any) -> Any:
        return args[0] * args[1]

    def walk_ite(self, formula: Any, args: Any, **_: Any) -> Any:
        return choice(*args)

    def walk_le(self, formula: Any, args: Any, **_: Any) -> Any:
        return args[0] <= args[1]

    def walk_lt(self, formula: Any, args: Any, **_: Any) -> Any:
        return args[0] < args[1]

    def walk_equals(self, formula: Any, args: Any, **_: Any) -> Truth:
        return equal(*args)

    def walk_and(self, formula: Any, args: Any, **_: Any) -> Truth:
        return every(list(args))

    def walk_or(self, formula: Any, args: Any, **_: Any) -> Truth:
        return some(list(args))

    def walk_not(self, formula: Any, args: Any, **_: Any) -> Truth:
        return no(args[0])

    def walk_implies(self, formula: Any, args: Any, **_: Any) -> Truth:
        return implies(*args)

    def walk_iff(self, formula: Any, args: Any, **_: Any) -> Truth:
        return iff(*args)


Replaced._methods = {kind: name for kind in all_types() if (name := nt_to_fun(kind)) in vars(Replaced)}


def checker_of(conditions: Iterable[Truth], options: SolverOptions = SolverOptions()) -> Checker:
    """Return a solver that has conditions."""
    checker = Checker(options)
    for condition in conditions:
        checker.add(condition)
    return checker


def answer(checker: Checker, *conditions: Truth) -> str:
    """Return a solver's answer with further conditions, which it then forgets."""
    checker.push()
    for condition in conditions:
        checker.add(condition)
    found = checker.check()
    checker.pop()
    return found


def unknowns(conditions: Iterable[Truth]) -> list[Any]:
    symbols = set().union(*(formula(each).get_free_variables() for each in conditions))
    return sorted(symbols, key=lambda symbol: symbol.symbol_name())


def comparisons(conditions: Iterable[Truth]) -> Iterator[Linear]:
    """Yield the terms that conditions compare with a number, each with every choice of its parts."""
    seen, waiting, same = set(), [formula(each) for each in conditions], Replaced({})
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.is_le() or node.is_lt() or node.is_equals():
            yield from _choices(same.walk(node.arg(0)) - same.walk(node.arg(1)), same)
        waiting += node.args()


def _choices(term: Linear, same: Replaced) -> Iterator[Linear]:
    """Yield all variants of a term: each conditional part is replaced by one of its two alternatives.

    `same` replaces nothing. It reads an alternative as a term.
    """
    choices = [node for node in term.coefficients if node.is_ite()]
    if not choices:
        yield term
        return
    coefficient = term.coefficients[choices[0]]
    others = Linear({node: number for node, number in term.coefficients.items() if node is not choices[0]})
    for branch in choices[0].args()[1:]:
        yield from _choices(others + same.walk(branch) * coefficient, same)
