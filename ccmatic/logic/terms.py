"""The language of laws: exact terms and conditions, over unknowns (for solvers) or numbers.

A term is a number or a `Linear`, which supports sums, scaling and comparisons. The function `times` multiplies terms.
A condition is a bool if its truth is known, and otherwise a `Condition`. Comparisons have one canonical form, so that
equal conditions are the same node.
The same law applies to unknowns and to numbers. So ccmatic can evaluate a law on the numbers of an execution, without a
solver.

Numbers are ints or Fractions, never floats. A term or condition over unknowns has no truth value in Python, because
only a solver can decide it. Therefore `==`, `not`, `and` and `if` on such a term or condition raise InputError.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import gcd, lcm
from typing import Any, NoReturn, Union

from pysmt.shortcuts import FALSE, LE, LT, TRUE, And, Equals, Iff, Implies, Ite, Not, Or, Plus, Real, Symbol, Times
from pysmt.typing import BOOL, REAL

from ccmatic.base import InputError

#: Two types. The first covers operands of sums, scaling and comparisons. The second covers comparisons and joined
#: conditions.
Term = Union["Linear", Fraction, int]
Truth = Union["Condition", bool]

#: The reserved name of the unknown that `unit` returns.
_UNIT = "unit!"


class Linear:
    """The term Σ coefficient·unknown + constant with rational numbers. An unknown is a pySMT symbol or choice.

    Raises:
        InputError: If an operation is not linear (a product of unknowns, or a division by an unknown), or uses a float.
    """

    __slots__ = ("coefficients", "constant")

    def __init__(self, coefficients: Mapping[Any, Fraction] | None = None, constant: Fraction | int = 0) -> None:
        self.coefficients = coefficients or {}
        self.constant = exact(constant)

    def __add__(self, other: Term) -> "Linear":
        other = linear(other)
        sums = dict(self.coefficients)
        for symbol, coefficient in other.coefficients.items():
            if symbol not in sums:
                sums[symbol] = coefficient
            elif total := sums.pop(symbol) + coefficient:
                sums[symbol] = total
        return Linear(sums, self.constant + other.constant)

    def __mul__(self, other: Term) -> "Linear":
        if isinstance(other, Linear) and other.coefficients:
            if self.coefficients:
                raise InputError("a product of two unknowns is not linear; expected a number times a term")
            return other * self.constant
        number = _number(other)
        if not number:
            return Linear()
        if number == 1:
            return self
        return Linear({s: c * number for s, c in self.coefficients.items()}, self.constant * number)

    def __neg__(self) -> "Linear":
        return Linear({s: -c for s, c in self.coefficients.items()}, -self.constant)

    def __sub__(self, other: Term) -> "Linear":
        return self + -linear(other)

    def __rsub__(self, other: Term) -> "Linear":
        return linear(other) - self

    def __truediv__(self, other: Term) -> "Linear":
        if isinstance(other, Linear) and other.coefficients:
            raise InputError("a division by an unknown is not linear; expected a term divided by a number")
        number = _number(other)
        if not number:
            raise InputError("a division by 0; expected a divisor other than 0")
        return self * (1 / number)

    def __rtruediv__(self, other: Term) -> "Linear":
        return linear(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def __le__(self, other: Term) -> Truth:
        return _compare(self - other, LE)

    def __lt__(self, other: Term) -> Truth:
        return _compare(self - other, LT)

    def __ge__(self, other: Term) -> Truth:
        return _compare(linear(other) - self, LE)

    def __gt__(self, other: Term) -> Truth:
        return _compare(linear(other) - self, LT)

    def __eq__(self, other: object) -> NoReturn:
        raise InputError("`==` of terms; write equal(a, b)")

    def __ne__(self, other: object) -> NoReturn:
        raise InputError("`!=` of terms; write no(equal(a, b))")

    def __bool__(self) -> NoReturn:
        raise InputError("a term is no condition, so neither true nor false; write a comparison, such as a > 0")

    def node(self) -> Any:
        parts = [symbol if c == 1 else Times(Real(c), symbol) for symbol, c in self.coefficients.items()]
        if self.constant or not parts:
            parts.append(Real(self.constant))
        return Plus(parts)


class Condition:
    """A condition over unknowns; `node` is its pySMT formula."""

    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node

    def __bool__(self) -> NoReturn:
        raise InputError(
            "a condition of unknowns is neither true nor false; write every(a, b) for `a and b` and for `a <= b <= c`, "
            "some(a, b) for `a or b`, no(a) for `not a`, implies(a, b) or choice(a, x, y) for `if a`, "
            "largest(x, y) for `max(x, y)`"
        )

    def __eq__(self, other: object) -> NoReturn:
        raise InputError("`==` of conditions; write iff(a, b)")

    def __ne__(self, other: object) -> NoReturn:
        raise InputError("`!=` of conditions; write no(iff(a, b))")

    def __and__(self, other: object) -> NoReturn:
        raise InputError("`&` of conditions; write every(a, b)")

    def __or__(self, other: object) -> NoReturn:
        raise InputError("`|` of conditions; write some(a, b)")

    def __xor__(self, other: object) -> NoReturn:
        raise InputError("`^` of conditions; write no(iff(a, b))")

    def __invert__(self) -> NoReturn:
        raise InputError("`~` of a condition; write no(a)")

    def __add__(self, other: object = None) -> NoReturn:
        raise InputError("a condition is no number; write choice(a, 1, 0) for 1 where it holds, else 0")

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__
    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = __add__
    __le__ = __lt__ = __ge__ = __gt__ = __add__


def exact(value: object) -> Fraction:
    if type(value) is Fraction:
        return value
    if type(value) is int:
        return Fraction(value)
    if isinstance(value, float):
        raise InputError(f'{value} is a float, so not exact; write a Fraction, such as Fraction("1/2")')
    if isinstance(value, (bool, Condition)):
        raise InputError("a condition is no number; write choice(a, 1, 0) for 1 where it holds, else 0")
    if not isinstance(value, (int, Fraction)):
        raise InputError(f"{value!r} is no number; expected a term, an int or a Fraction")
    return Fraction(value)


def _number(value: Term) -> Fraction:
    return value.constant if isinstance(value, Linear) else exact(value)


def linear(value: Term) -> Linear:
    """Return a number or a term as a Linear."""
    return value if isinstance(value, Linear) else Linear(constant=value)


def times(left: Term, right: Term) -> Term:
    """Return left · right for numbers or terms.

    `Linear` does not support products of unknowns. So such a product becomes an unknown of its own: a monomial, as
    solvers for nonlinear arithmetic expect.
    """
    if not (isinstance(left, Linear) and isinstance(right, Linear)):
        return left * right if isinstance(left, Linear) else right * left
    total = left * right.constant + Linear(right.coefficients) * left.constant
    for (a, m), (b, n) in product(left.coefficients.items(), right.coefficients.items()):
        factors = [factor for node in (a, b) for factor in (node.args() if node.is_times() else (node,))]
        monomial = Times(sorted(factors, key=lambda factor: factor.node_id()))
        total = total + Linear({monomial: m * n})
    return total


def real(name: str) -> Linear:
    """Return the real-valued unknown with this name."""
    return Linear({Symbol(name, REAL): Fraction(1)})


def unit() -> Linear:
    """Return a positive unknown that serves as a unit, such as the unknown size of a byte in C·R_m.

    Comparisons between multiples of this unit have a known truth value. Solvers also need the condition
    `unit_is_positive`.
    """
    return real(_UNIT)


def unit_is_positive() -> Condition:
    """Return the condition that the unit is above 0."""
    return Condition(LT(Real(0), Symbol(_UNIT, REAL)))


def boolean(name: str) -> Condition:
    """Return the Boolean unknown with this name."""
    return Condition(Symbol(name, BOOL))


def formula(condition: object) -> Any:
    """Return a condition as a pySMT formula."""
    if isinstance(condition, Condition):
        return condition.node
    if isinstance(condition, bool):
        return TRUE() if condition else FALSE()
    word = "a term" if isinstance(condition, Linear) else repr(condition)
    raise InputError(f"{word} is no condition; expected a comparison, or conditions joined by every, some, no, …")


def equal(left: Term, right: Term) -> Truth:
    """Return the condition left = right for two terms."""
    if isinstance(left, Linear) or isinstance(right, Linear):
        return _compare(linear(left) - right, Equals)
    return exact(left) == exact(right)


def every(*conditions: Truth | Sequence[Truth]) -> Truth:
    """Return the conjunction of all conditions, including those in lists; True if there are none."""
    return _joined(And, conditions, False)


def some(*conditions: Truth | Sequence[Truth]) -> Truth:
    """Return the disjunction of all conditions, including those in lists; False if there are none."""
    return _joined(Or, conditions, True)


def no(condition: Truth) -> Truth:
    """Return the negation of a condition."""
    return not condition if isinstance(condition, bool) else Condition(Not(formula(condition)))


def implies(condition: Truth, consequence: Truth) -> Truth:
    """Return the implication from a condition to a consequence."""
    if isinstance(condition, bool):
        return some(consequence) if condition else True
    if consequence is True:
        return True
    return Condition(Implies(formula(condition), formula(consequence)))


def iff(left: Truth, right: Truth) -> Truth:
    """Return the equivalence of two conditions."""
    if isinstance(left, bool):
        return some(right) if left else no(right)
    if isinstance(right, bool):
        return some(left) if right else no(left)
    return Condition(Iff(formula(left), formula(right)))


def either(condition: Truth, then: Truth, otherwise: Truth) -> Truth:
    """Return a condition that equals `then` if `condition` holds, and otherwise equals `otherwise`."""
    return every(implies(condition, then), implies(no(condition), otherwise))


def constant(truth: object) -> bool:
    """Return the truth value of an object in Python, as a condition."""
    return bool(truth)


def choice(condition: Truth, then: Term, otherwise: Term) -> Term:
    """Return a term that equals `then` if the condition holds, and otherwise equals `otherwise`."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    return Linear({Ite(formula(condition), linear(then).node(), linear(otherwise).node()): Fraction(1)})


def largest(*values: Term) -> Term:
    """Return the largest of at least one value, as a term."""
    greatest, *others = values
    for value in others:
        greatest = choice(value >= greatest, value, greatest)
    return greatest


def is_max(target: Term, *cases: tuple[Truth, Term]) -> Truth:
    """Return the condition that the target is the largest value of the cases (condition, value) that apply.

    A case applies if its condition holds. The first case always applies.
    """
    return _is_extreme(target, cases, lambda bound, value: bound >= value)


def is_min(target: Term, *cases: tuple[Truth, Term]) -> Truth:
    """Return the condition that the target is the smallest value of the cases that apply, as in `is_max`."""
    return _is_extreme(target, cases, lambda bound, value: bound <= value)


def _is_extreme(target: Term, cases: Sequence[tuple[Truth, Term]], bounds: Callable[[Term, Term], Truth]) -> Truth:
    return every(
        [implies(condition, bounds(target, value)) for condition, value in cases],
        some([every(condition, equal(target, value)) for condition, value in cases]),
    )


def _joined(join: Callable[[list[Any]], Any], conditions: Sequence[Truth | Sequence[Truth]], decisive: bool) -> Truth:
    """Join conditions without the known ones. A known condition that equals `decisive` decides the result."""
    decided, open_ones = False, []
    for condition in conditions:
        for part in condition if isinstance(condition, (list, tuple)) else (condition,):
            if isinstance(part, bool):
                decided = decided or part is decisive
            else:
                open_ones.append(formula(part))
    if decided or not open_ones:
        return decisive if decided else not decisive
    return Condition(join(open_ones))


def _compare(difference: Linear, relation: Callable[[Any, Any], Any]) -> Truth:
    """Return the condition that a difference is ≤ 0 (or < 0, or = 0), scaled to coprime integer coefficients."""
    value = _sign(difference)
    if value is not None:
        zero = Fraction(0)
        return value <= zero if relation is LE else value < zero if relation is LT else value == zero
    ordered = sorted(difference.coefficients.items(), key=_by_age)
    shared = lcm(*(c.denominator for _, c in ordered))
    wholes = [c.numerator * (shared // c.denominator) for _, c in ordered]
    divisor = gcd(*wholes)
    if relation is Equals and wholes[0] < 0:  # so that a = b and b = a give the same node
        divisor = -divisor
    terms = zip(ordered, (whole // divisor for whole in wholes), strict=True)
    parts = [symbol if whole == 1 else Times(Real(whole), symbol) for (symbol, _), whole in terms]
    return Condition(relation(Plus(parts), Real(-difference.constant * Fraction(shared, divisor))))


def _sign(term: Linear) -> Fraction | None:
    """Return a number with a term's sign, if the sign is known, as it is for a number or a multiple of the unit."""
    if not term.coefficients:
        return term.constant
    if term.constant or len(term.coefficients) > 1:
        return None
    [(symbol, coefficient)] = term.coefficients.items()
    return coefficient if symbol.is_symbol() and symbol.symbol_name() == _UNIT else None


def _by_age(item: tuple[Any, Fraction]) -> Any:
    return item[0].node_id()
