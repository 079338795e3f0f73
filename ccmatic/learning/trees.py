"""Controllers as functions of arrays: what `ccmatic.language` parses, for all links at once, in floats. Of what the
network may choose, the first or least is chosen, as in exported code."""

import operator
from functools import reduce

import jax.numpy as jnp

from ccmatic.language import (
    ARITHMETIC,
    ORDER,
    AnyOf,
    Between,
    Binary,
    Bounded,
    Comparison,
    CubeRoot,
    Extreme,
    If,
    Impossible,
    Logic,
    Name,
    Not,
    Number,
    Past,
    Remembered,
)

_EXTREMES = {"max": jnp.maximum, "min": jnp.minimum}
_LOGIC = {"and": operator.and_, "or": operator.or_}


class Values:
    """Trees worked out where names have these values: arrays, or functions from steps back to arrays, of what is
    observed. A tree that stands in several places is worked out once. back: Values by which steps back are counted;
    None: by these."""

    def __init__(self, known, back=None):
        self.known, self._found, self._back = known, {}, back or self

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
                divisor = self.of(right)
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
            case CubeRoot(part):
                return jnp.cbrt(self.of(part))
            case If(test, then, other):
                return jnp.where(self.of(test), self.of(then), self.of(other))
            case AnyOf((first, *_)) | Between(first, _) | Bounded(_, first, _):
                return self.of(first)
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
                return {name: jnp.where(self.of(test), first[name], second[name]) for name in state}
            case Remembered(values):
                return {name: self.of(value) for name, value in values.items()}
            case Impossible():
                return state
        raise TypeError(f"no update: {tree!r}")


def rates(controller, bounds):
    """The least and the most rate that a controller allows by its beliefs, (f, n) bytes per interval."""
    values = Values({**bounds.named(), "R_m": 1.0, "D": bounds.D, "MSS": bounds.packet})
    return tuple(jnp.broadcast_to(rate, bounds.C_L.shape) for rate in values.rates(controller.body))
