"""A case of conditions: the polyhedron around one solution. The literals that are true in the solution define it."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from ccmatic.logic import Condition, Linear, Truth, formula


class Case:
    """The case of conditions that contains a solution.

    The conditions are true wherever all terms in `below` are at most 0 (or below 0, for strict comparisons) and all
    terms in `zero` are 0. These points form a convex set that contains the solution. Points at which the two sides of a
    strict comparison are equal lie outside the set, but the set comes arbitrarily close to them.

    Attributes:
        below: Linear terms that are at most 0.
        zero: Linear terms that are 0.
    """

    def __init__(self, conditions: Iterable[Truth], value: Callable[[Linear | Condition], Any]) -> None:
        """Find the case of a solution.

        Args:
            conditions: The conditions.
            value: A function from a term or a condition to its value in the solution, such as `Checker.value`.
        """
        self._value = value
        self._truths: dict[Any, bool] = {}
        self.below: list[Linear] = []
        self.zero: list[Linear] = []
        for condition in conditions:
            self._add(formula(condition), True)

    def _add(self, node: Any, truth: bool) -> None:
        """Add the literals that give a formula this truth value in the solution."""
        if node.is_not():
            self._add(node.arg(0), not truth)
        elif node.is_and() or node.is_or():
            decisive = node.is_or()  # One operand with this truth value is enough.
            parts = [part for part in node.args() if self._holds(part) is truth]
            for part in parts[:1] if truth is decisive else parts:
                self._add(part, truth)
        elif node.is_implies():
            premise, conclusion = node.args()
            if not truth or not self._holds(premise):
                self._add(premise, not truth)
            if not truth or self._holds(premise):
                self._add(conclusion, truth)
        elif node.is_iff():
            for part in node.args():
                self._add(part, self._holds(part))
        elif node.is_le() or node.is_lt():
            difference = self._difference(node)
            self.below.append(difference if truth else -difference)
        elif node.is_equals():
            difference = self._difference(node)
            if truth:
                self.zero.append(difference)
            else:
                self.below.append(difference if self._value(difference) < 0 else -difference)

    def _holds(self, node: Any) -> bool:
        """Return whether a formula is true in the solution."""
        if node not in self._truths:
            self._truths[node] = self._decide(node)
        return self._truths[node]

    def _decide(self, node: Any) -> bool:
        if node.is_not():
            return not self._holds(node.arg(0))
        if node.is_and():
            return all(map(self._holds, node.args()))
        if node.is_or():
            return any(map(self._holds, node.args()))
        if node.is_implies():
            return not self._holds(node.arg(0)) or self._holds(node.arg(1))
        if node.is_iff():
            return self._holds(node.arg(0)) is self._holds(node.arg(1))
        if node.is_le() or node.is_lt() or node.is_equals():
            value = self._value(self._difference(node))
            return bool(value <= 0 if node.is_le() else value < 0 if node.is_lt() else value == 0)
        return bool(node.constant_value() if node.is_bool_constant() else self._value(Condition(node)))

    def _difference(self, comparison: Any) -> Linear:
        """Return the left side of a comparison minus its right side, as a term without choices."""
        left, right = map(self._term, comparison.args())
        return left - right

    def _term(self, node: Any) -> Linear:
        if node.is_plus():
            return sum(map(self._term, node.args()), Linear())
        if node.is_times():
            factor, of = map(self._term, node.args())
            return factor * of
        if node.is_ite():
            condition, then, otherwise = node.args()
            truth = self._holds(condition)
            self._add(condition, truth)
            return self._term(then if truth else otherwise)
        if node.is_real_constant():
            return Linear(constant=Fraction(node.constant_value()))
        return Linear({node: Fraction(1)})
