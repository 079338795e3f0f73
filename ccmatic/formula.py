"""The language of every law: exact linear terms and conditions, of unknowns (for solvers) or of numbers.

A term is a number or a `Linear`, added, scaled and compared as mathematics writes them. A condition is a bool where
it is decided, else a pySMT formula; comparisons have one canonical form, so that equal conditions are one node. So
what is said of unknowns can be said of an execution's numbers, and is then true or false, without a solver's data.
No floats: a number is an int or a Fraction.
"""

from fractions import Fraction
from math import gcd, lcm

from pysmt.shortcuts import FALSE, TRUE, And, Equals, Iff, Implies, Ite, LE, LT, Not, Or, Plus, Real, Symbol, Times
from pysmt.typing import BOOL, REAL


class Linear:
    """Σ coefficient·unknown + constant, over the rationals. An unknown is a pySMT node: a symbol or a choice."""

    __slots__ = ("coefficients", "constant")

    def __init__(self, coefficients=None, constant=0):
        self.coefficients = coefficients or {}
        self.constant = Fraction(constant)

    def __add__(self, other):
        other = linear(other)
        sums = dict(self.coefficients)
        for symbol, coefficient in other.coefficients.items():
            total = sums.pop(symbol, 0) + coefficient
            if total:
                sums[symbol] = total
        return Linear(sums, self.constant + other.constant)

    def __mul__(self, number):
        number = Fraction(number)
        if not number:
            return Linear()
        return Linear({s: c * number for s, c in self.coefficients.items()}, self.constant * number)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -linear(other)

    def __rsub__(self, other):
        return linear(other) - self

    def __truediv__(self, number):
        return self * (1 / Fraction(number))

    __radd__ = __add__
    __rmul__ = __mul__

    def __le__(self, other):
        return _compare(self - other, LE)

    def __lt__(self, other):
        return _compare(self - other, LT)

    def __ge__(self, other):
        return _compare(other - self, LE)

    def __gt__(self, other):
        return _compare(other - self, LT)

    def node(self):
        """The term as a pySMT node."""
        parts = [symbol if c == 1 else Times(Real(c), symbol) for symbol, c in self.coefficients.items()]
        if self.constant or not parts:
            parts.append(Real(self.constant))
        return Plus(parts)


def linear(value):
    """A number or a term, as a term."""
    return value if isinstance(value, Linear) else Linear(constant=value)


def real(name):
    """A real unknown."""
    return Linear({Symbol(name, REAL): Fraction(1)})


def boolean(name):
    """A truth value unknown."""
    return Symbol(name, BOOL)


def formula(condition):
    """A condition as a pySMT formula."""
    if isinstance(condition, bool):
        return TRUE() if condition else FALSE()
    return condition


def equal(left, right):
    """left = right, of two terms."""
    if isinstance(left, Linear) or isinstance(right, Linear):
        return _compare(linear(left) - right, Equals)
    return left == right


def every(*conditions):
    """All conditions hold; lists are taken apart."""
    return _joined(And, conditions, False)


def some(*conditions):
    """At least one condition holds."""
    return _joined(Or, conditions, True)


def no(condition):
    """The condition does not hold."""
    return not condition if isinstance(condition, bool) else Not(condition)


def implies(condition, consequence):
    """If the condition holds, so does the consequence."""
    if condition is False or consequence is True:
        return True
    if condition is True:
        return consequence
    return Implies(condition, formula(consequence))


def iff(left, right):
    """Both conditions hold, or neither."""
    if isinstance(left, bool):
        return right if left else no(right)
    if isinstance(right, bool):
        return left if right else no(left)
    return Iff(left, right)


def either(condition, then, otherwise):
    """`then` holds where the condition does, else `otherwise`."""
    return every(implies(condition, then), implies(no(condition), otherwise))


def constant(truth):
    """A truth value as a condition."""
    return bool(truth)


def choice(condition, then, otherwise):
    """The term that is `then` where the condition holds, else `otherwise`."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    return Linear({Ite(condition, linear(then).node(), linear(otherwise).node()): Fraction(1)})


def largest(*values):
    """The largest of the values, as a term."""
    greatest, *others = values
    for value in others:
        greatest = choice(value >= greatest, value, greatest)
    return greatest


def is_max(target, *cases):
    """target = the largest value among the cases (condition, value) whose condition holds; the first always does."""
    return _is_extreme(target, cases, lambda bound, value: bound >= value)


def is_min(target, *cases):
    """target = the smallest value among the cases (condition, value) whose condition holds; the first always does."""
    return _is_extreme(target, cases, lambda bound, value: bound <= value)


def _is_extreme(target, cases, bounds):
    return every(
        [implies(condition, bounds(target, value)) for condition, value in cases],
        some([every(condition, equal(target, value)) for condition, value in cases]),
    )


def _joined(join, conditions, decisive):
    """The conditions joined, without those that are decided; `decisive` decides the outcome."""
    open_ones = []
    for condition in conditions:
        for part in condition if isinstance(condition, (list, tuple)) else (condition,):
            if part is decisive:
                return decisive
            if not isinstance(part, bool):
                open_ones.append(part)
    return join(open_ones) if open_ones else not decisive


def _compare(difference, relation):
    """difference ≤ 0 (or < 0, or = 0), scaled to coprime integer coefficients."""
    if not difference.coefficients:
        zero = Fraction(0)
        value = difference.constant
        return value <= zero if relation is LE else value < zero if relation is LT else value == zero
    coefficients = difference.coefficients.values()
    scale = Fraction(lcm(*(c.denominator for c in coefficients)), gcd(*(c.numerator for c in coefficients)))
    if relation is Equals and min(difference.coefficients.items(), key=_by_age)[1] < 0:
        scale = -scale
    scaled = difference * scale
    terms = Linear(dict(sorted(scaled.coefficients.items(), key=_by_age)))
    return relation(terms.node(), Real(-scaled.constant))


def _by_age(item):
    return item[0].node_id()
