"""Controllers as functions of arrays: what `ccmatic.language` parses, for all links at once, in floats. Of what the
network may choose, the first or least is chosen, as in exported code."""

import operator
from functools import reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp

from ccmatic.language import (
    ARITHMETIC,
    ORDER,
    AnyOf,
    Between,
    Binary,
    Bounded,
    Comparison,
    Extreme,
    Function,
    If,
    Impossible,
    Local,
    Logic,
    Name,
    Not,
    Number,
    Past,
    Remembered,
)


class Counted(NamedTuple):
    """A number as the sum of two floats: `low` is what `high` rounds away. A single float counts bytes one by one up to
    16 MiB, and then loses packets; two floats count up to 2^48."""

    high: jax.Array
    low: jax.Array

    @staticmethod
    def of(number):
        """A number as a Counted."""
        if isinstance(number, Counted):
            return number
        high = jnp.asarray(number, jnp.float32)
        return Counted(high, jnp.zeros_like(high))

    def float(self):
        """The nearest single float."""
        return self.high + self.low

    def __add__(self, other):
        other = Counted.of(other)
        total = self.high + other.high
        part = total - self.high
        error = (self.high - (total - part)) + (other.high - part)
        rest = jnp.where(jnp.isfinite(total), error + self.low + other.low, 0)
        high = total + rest
        return Counted(high, jnp.where(jnp.isfinite(high), rest - (high - total), 0))

    def __neg__(self):
        return Counted(-self.high, -self.low)

    def __sub__(self, other):
        return self + -Counted.of(other)

    def __rsub__(self, other):
        return Counted.of(other) - self

    def __mul__(self, factor):
        factor = to_float(factor)
        return Counted.of(self.high * factor) + self.low * factor

    def __truediv__(self, divisor):
        return self * (1 / divisor)

    def __rtruediv__(self, number):
        return number / self.float()

    def __lt__(self, other):
        return (self - other).high < 0

    def __le__(self, other):
        return (self - other).high <= 0

    def __gt__(self, other):
        return (self - other).high > 0

    def __ge__(self, other):
        return (self - other).high >= 0

    def __eq__(self, other):
        return (self - other).high == 0

    def __ne__(self, other):
        return (self - other).high != 0

    __hash__ = None
    __radd__, __rmul__ = __add__, __mul__


def to_float(number):
    """A number, Counted or not, as a float."""
    return number.float() if isinstance(number, Counted) else number


def where(test, then, other):
    """`jnp.where`, also of numbers that are Counted."""
    if not isinstance(then, Counted) and not isinstance(other, Counted):
        return jnp.where(test, then, other)
    then, other = Counted.of(then), Counted.of(other)
    return Counted(jnp.where(test, then.high, other.high), jnp.where(test, then.low, other.low))


def _extreme(first, of_floats):
    """The one of two numbers that comes first."""

    def of(a, b):
        counted = isinstance(a, Counted) or isinstance(b, Counted)
        return where(first(a, b), a, b) if counted else of_floats(a, b)

    return of


_EXTREMES = {"max": _extreme(operator.ge, jnp.maximum), "min": _extreme(operator.le, jnp.minimum)}
_LOGIC = {"and": operator.and_, "or": operator.or_}


class Values:
    """Trees worked out where names have these values: arrays, or functions from steps back to arrays, of what is
    observed. A tree that stands in several places is worked out once. back: Values by which steps back are counted;
    law: those by which laws are worked out, that are not linear; None: by these."""

    def __init__(self, known, back=None, law=None):
        self.known, self._found, self._back, self._law = known, {}, back or self, law or self

    def of(self, tree):
        """The number or truth that a tree says."""
        if tree not in self._found:
            self._found[tree] = self._work_out(tree)
        return self._found[tree]

    def _work_out(self, tree):
        match tree:
            case Number(number):
                return float(number)
            case Past(name, back):
                return self.known[name](round(float(self._back.of(back))))
            case Name(name):
                value = self.known[name]
                return value(0) if callable(value) else value
            case Binary("/", left, right):
                divisor = to_float(self.of(right))
                return self.of(left) / jnp.where(divisor == 0, 1.0, divisor)  # on a way that is not taken
            case Binary(op, left, right):
                return ARITHMETIC[op](self.of(left), self.of(right))
            case Comparison(op, left, right):
                return jnp.asarray(ORDER[op](self.of(left), self.of(right)))
            case Extreme(pick, terms):
                return reduce(_EXTREMES[pick], map(self.of, terms))
            case Logic(op, parts):
                return reduce(_LOGIC[op], map(self.of, parts), jnp.asarray(op == "and"))
            case Not(part):
                return ~self.of(part)
            case Function(name, several):
                return getattr(jnp, name)(*(to_float(self.of(part)) for part in several))
            case Local(_, part):
                return self.of(part)
            case If(test, then, other):
                return where(self.of(test), self.of(then), self.of(other))
            case AnyOf((first, *_)) | Between(first, _):
                return self.of(first)
            case Bounded(law):
                return self._law.of(law)
        raise TypeError(f"no number: {tree!r}")

    def rates(self, tree):
        """The least and the most that a controller's body returns."""
        match tree:
            case If(test, then, other):
                pairs = zip(self.rates(then), self.rates(other), strict=True)
                return tuple(jnp.where(self.of(test), *pair) for pair in pairs)
            case Between(low, high):
                return self.of(low), self.of(high)
        return self.of(tree), self.of(tree)

    def becomes(self, tree, state):
        """What each piece of state becomes by an update, by name; as it is where what is assumed is not so."""
        match tree:
            case If(test, then, other):
                first, second = self.becomes(then, state), self.becomes(other, state)
                return {name: where(self.of(test), first[name], second[name]) for name in state}
            case Remembered(values):
                return {name: self.of(value) for name, value in values.items()}
            case Impossible():
                return state
        raise TypeError(f"no update: {tree!r}")


def rates(controller, bounds):
    """The least and the most rate that a controller allows by its beliefs, (f, n) bytes per interval."""
    values = Values({**bounds.named(), "R_m": 1.0, "D": bounds.D, "MSS": bounds.packet})
    return tuple(jnp.broadcast_to(rate, bounds.C_L.shape) for rate in values.rates(controller.body))
