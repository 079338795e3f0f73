"""The language of every law: exact linear terms and conditions, of unknowns (for solvers) or of numbers.

A term is a number or a `Linear`, added, scaled and compared as mathematics writes them. A condition is a bool where
it is decided, else a `Condition`; comparisons have one canonical form, so that equal conditions are one node. So
what is said of unknowns can be said of an execution's numbers, and is then true or false, without a solver's data.
No floats: a number is an int or a Fraction. Neither terms nor conditions of unknowns are true or false for Python, as
`==`, `not`, `and` and `if` would decide at once what only a solver can: they raise InputError.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NoReturn, Union

from pysmt.shortcuts import FALSE, LE, LT, TRUE, And, Equals, Iff, Implies, Ite, Not, Or, Plus, Real, Symbol, Times
from pysmt.typing import BOOL, REAL

from ccmatic.base import InputError

#: What is added, scaled and compared; and what that, or what joins conditions, comes to.
Term = Union["Linear", Fraction, int]
Truth = Union["Condition", bool]

#: What the unit is called, as nothing else is.
_UNIT = "unit!"


class Linear:
    """Σ coefficient·unknown + constant, over the rationals. An unknown is a pySMT node: a symbol or a choice.

    Raises InputError for what is not linear (unknowns multiplied, or divided by) and for floats.
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
        """The term as a pySMT node."""
        parts = [symbol if c == 1 else Times(Real(c), symbol) for symbol, c in self.coefficients.items()]
        if self.constant or not parts:
            parts.append(Real(self.constant))
        return Plus(parts)


class Condition:
    """A condition of unknowns. node: the pySMT formula."""

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
    """A number as a Fraction. Raises InputError for what is no int or Fraction."""
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
    """A number, or a term that is one, as a Fraction."""
    return value.constant if isinstance(value, Linear) else exact(value)


def linear(value: Term) -> Linear:
    """A number or a term, as a term."""
    return value if isinstance(value, Linear) else Linear(constant=value)


def real(name: str) -> Linear:
    """A real unknown; one name is one unknown."""
    return Linear({Symbol(name, REAL): Fraction(1)})


def unit() -> Linear:
    """An unknown above 0 that other terms are multiples of, such as bytes of which it is not known what one is in
    C·R_m. What is said of its multiples alone is decided; solvers have to be told `unit_is_positive`."""
    return real(_UNIT)


def unit_is_positive() -> Condition:
    """That it is above 0."""
    return Condition(LT(Real(0), Symbol(_UNIT, REAL)))


def boolean(name: str) -> Condition:
    """An unknown that is true or false; one name is one unknown."""
    return Condition(Symbol(name, BOOL))


def formula(condition: object) -> Any:
    """A condition as a pySMT formula. Raises InputError for what is no condition."""
    if isinstance(condition, Condition):
        return condition.node
    if isinstance(condition, bool):
        return TRUE() if condition else FALSE()
    word = "a term" if isinstance(condition, Linear) else repr(condition)
    raise InputError(f"{word} is no condition; expected a comparison, or conditions joined by every, some, no, …")


def equal(left: Term, right: Term) -> Truth:
    """left = right, of two terms."""
    if isinstance(left, Linear) or isinstance(right, Linear):
        return _compare(linear(left) - right, Equals)
    return exact(left) == exact(right)


def every(*conditions: Truth | Sequence[Truth]) -> Truth:
    """All conditions hold, and all of those in lists among them. Of none: True."""
    return _joined(And, conditions, False)


def some(*conditions: Truth | Sequence[Truth]) -> Truth:
    """At least one condition holds, of those given and of those in lists among them. Of none: False."""
    return _joined(Or, conditions, True)


def no(condition: Truth) -> Truth:
    """The condition does not hold."""
    return not condition if isinstance(condition, bool) else Condition(Not(formula(condition)))


def implies(condition: Truth, consequence: Truth) -> Truth:
    """If the condition holds, so does the consequence."""
    if isinstance(condition, bool):
        return some(consequence) if condition else True
    if consequence is True:
        return True
    return Condition(Implies(formula(condition), formula(consequence)))


def iff(left: Truth, right: Truth) -> Truth:
    """Both conditions hold, or neither."""
    if isinstance(left, bool):
        return some(right) if left else no(right)
    if isinstance(right, bool):
        return some(left) if right else no(left)
    return Condition(Iff(formula(left), formula(right)))


def either(condition: Truth, then: Truth, otherwise: Truth) -> Truth:
    """`then` holds where the condition does, else `otherwise`."""
    return every(implies(condition, then), implies(no(condition), otherwise))


def constant(truth: object) -> bool:
    """What Python takes for true or false, as a condition that is decided."""
    return bool(truth)


def choice(condition: Truth, then: Term, otherwise: Term) -> Term:
    """The term that is `then` where the condition holds, else `otherwise`."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    return Linear({Ite(formula(condition), linear(then).node(), linear(otherwise).node()): Fraction(1)})


def largest(*values: Term) -> Term:
    """The largest of the values, of which there is one at least, as a term."""
    greatest, *others = values
    for value in others:
        greatest = choice(value >= greatest, value, greatest)
    return greatest


def is_max(target: Term, *cases: tuple[Truth, Term]) -> Truth:
    """target = the largest value among the cases (condition, value) whose condition holds; the first always does."""
    return _is_extreme(target, cases, lambda bound, value: bound >= value)


def is_min(target: Term, *cases: tuple[Truth, Term]) -> Truth:
    """target = the smallest value among the cases (condition, value) whose condition holds; the first always does."""
    return _is_extreme(target, cases, lambda bound, value: bound <= value)


def _is_extreme(target: Term, cases: Sequence[tuple[Truth, Term]], bounds: Callable[[Term, Term], Truth]) -> Truth:
    return every(
        [implies(condition, bounds(target, value)) for condition, value in cases],
        some([every(condition, equal(target, value)) for condition, value in cases]),
    )


def _joined(join: Callable[[list[Any]], Any], conditions: Sequence[Truth | Sequence[Truth]], decisive: bool) -> Truth:
    """The conditions joined, without those that are decided; `decisive` decides the outcome."""
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
    """difference ≤ 0 (or < 0, or = 0), scaled to coprime integer coefficients."""
    value = _sign(difference)
    if value is not None:
        zero = Fraction(0)
        return value <= zero if relation is LE else value < zero if relation is LT else value == zero
    coefficients = difference.coefficients.values()
    scale = Fraction(lcm(*(c.denominator for c in coefficients)), gcd(*(c.numerator for c in coefficients)))
    ordered = dict(sorted(difference.coefficients.items(), key=_by_age))
    if relation is Equals and next(iter(ordered.values())) < 0:
        scale = -scale
    scaled = Linear(ordered, difference.constant) * scale
    return Condition(relation(Linear(scaled.coefficients).node(), Real(-scaled.constant)))


def _sign(term: Linear) -> Fraction | None:
    """A number of the same sign, if that is decided: of a number, and of a multiple of the unit."""
    if not term.coefficients:
        return term.constant
    if term.constant or len(term.coefficients) > 1:
        return None
    [(symbol, coefficient)] = term.coefficients.items()
    return coefficient if symbol.is_symbol() and symbol.symbol_name() == _UNIT else None


def _by_age(item: tuple[Any, Fraction]) -> Any:
    return item[0].node_id()
