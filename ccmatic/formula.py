"""The language of every query: exact linear terms over pySMT, and the conditions made of them.

`Linear` terms are added, scaled and compared as mathematics writes them; a comparison is a pySMT formula, in
one canonical form, so that equal conditions are one node. No floats: a number is an int or a Fraction.
"""

from fractions import Fraction
from math import gcd, lcm

from pysmt.shortcuts import FALSE, TRUE, And, Equals, Iff, Implies, Ite, LE, LT, Not, Or, Plus, Real, Symbol, Times
from pysmt.typing import BOOL, REAL
from pysmt.walkers import DagWalker


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


def equal(left, right):
    """left = right, of two terms."""
    return _compare(linear(left) - right, Equals)


def every(*conditions):
    """All conditions hold; lists are taken apart."""
    return And(_flat(conditions))


def some(*conditions):
    """At least one condition holds."""
    return Or(_flat(conditions))


def no(condition):
    """The condition does not hold."""
    return constant(condition.is_false()) if condition.is_bool_constant() else Not(condition)


def implies(condition, consequence):
    """If the condition holds, so does the consequence."""
    if condition.is_true() or consequence.is_true():
        return consequence
    if condition.is_false():
        return TRUE()
    return Implies(condition, consequence)


def iff(left, right):
    """Both conditions hold, or neither."""
    return Iff(left, right)


def constant(truth):
    """True or False as a condition."""
    return TRUE() if truth else FALSE()


def choice(condition, then, otherwise):
    """The term that is `then` where the condition holds, else `otherwise`."""
    if condition.is_bool_constant():
        return then if condition.is_true() else otherwise
    return Linear({Ite(condition, then.node(), otherwise.node()): Fraction(1)})


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


def _flat(conditions):
    flat = []
    for condition in conditions:
        flat.extend(condition if isinstance(condition, (list, tuple)) else [condition])
    return flat


def _compare(difference, relation):
    """difference ≤ 0 (or < 0, or = 0), scaled to coprime integer coefficients."""
    if not difference.coefficients:
        zero = Fraction(0)
        value = difference.constant
        return constant(value <= zero if relation is LE else value < zero if relation is LT else value == zero)
    coefficients = difference.coefficients.values()
    scale = Fraction(lcm(*(c.denominator for c in coefficients)), gcd(*(c.numerator for c in coefficients)))
    if relation is Equals and min(difference.coefficients.items(), key=_by_age)[1] < 0:
        scale = -scale
    scaled = difference * scale
    terms = Linear(dict(sorted(scaled.coefficients.items(), key=_by_age)))
    return relation(terms.node(), Real(-scaled.constant))


def _by_age(item):
    return item[0].node_id()


class _Evaluator(DagWalker):
    """The exact value of a formula under an assignment of all its symbols."""

    def __init__(self, values):
        super().__init__(invalidate_memoization=False)
        self.values = values

    def walk_symbol(self, formula, args, **_):
        return self.values[formula.symbol_name()]

    def walk_real_constant(self, formula, args, **_):
        return Fraction(formula.constant_value())

    def walk_bool_constant(self, formula, args, **_):
        return formula.constant_value()

    def walk_and(self, formula, args, **_):
        return all(args)

    def walk_or(self, formula, args, **_):
        return any(args)

    def walk_not(self, formula, args, **_):
        return not args[0]

    def walk_implies(self, formula, args, **_):
        return not args[0] or args[1]

    def walk_iff(self, formula, args, **_):
        return args[0] == args[1]

    def walk_ite(self, formula, args, **_):
        return args[1] if args[0] else args[2]

    def walk_equals(self, formula, args, **_):
        return args[0] == args[1]

    def walk_le(self, formula, args, **_):
        return args[0] <= args[1]

    def walk_lt(self, formula, args, **_):
        return args[0] < args[1]

    def walk_plus(self, formula, args, **_):
        return sum(args)

    def walk_times(self, formula, args, **_):
        product = args[0]
        for factor in args[1:]:
            product *= factor
        return product


def evaluator(values):
    """A function that gives the exact value of any formula or term, `values` mapping symbols' names to theirs."""
    walk = _Evaluator(values).walk

    def value(formula):
        if isinstance(formula, Linear):
            return formula.constant + sum(c * walk(node) for node, c in formula.coefficients.items())
        return walk(formula)

    return value
