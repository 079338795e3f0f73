"""Controllers as functions of arrays. This back end evaluates parsed trees for all links at once, in floats.

Where the network may choose a value, this back end takes the first or the smallest value, as exported code does.
"""

import operator
from functools import partial, reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ccmatic.language import ARITHMETIC, ORDER, Between, If, Impossible, NextState, Walker


class FloatPair(NamedTuple):
    """A number as the sum of two floats: `high` is the rounded number, and `low` is the rounding error.

    A single float counts bytes exactly up to 16 MiB; beyond that, packets would be lost. Two floats count up to 2^48.
    """

    high: jax.Array
    low: jax.Array

    @staticmethod
    def of(number):
        if isinstance(number, FloatPair):
            return number
        high = jnp.asarray(number, jnp.float32)
        return FloatPair(high, jnp.zeros_like(high))

    def float(self):
        return self.high + self.low

    def __add__(self, other):
        other = FloatPair.of(other)
        total = self.high + other.high
        part = total - self.high
        error = (self.high - (total - part)) + (other.high - part)
        rest = jnp.where(jnp.isfinite(total), error + self.low + other.low, 0)
        high = total + rest
        return FloatPair(high, jnp.where(jnp.isfinite(high), rest - (high - total), 0))

    def __neg__(self):
        return FloatPair(-self.high, -self.low)

    def __sub__(self, other):
        return self + -FloatPair.of(other)

    def __rsub__(self, other):
        return FloatPair.of(other) - self

    def __mul__(self, factor):
        factor = to_float(factor)
        return FloatPair.of(self.high * factor) + self.low * factor

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
    return number.float() if isinstance(number, FloatPair) else number


def where(test, then, other):
    """Return the result of `jnp.where`, with support for FloatPairs."""
    if not isinstance(then, FloatPair) and not isinstance(other, FloatPair):
        return jnp.where(test, then, other)
    then, other = FloatPair.of(then), FloatPair.of(other)
    return FloatPair(jnp.where(test, then.high, other.high), jnp.where(test, then.low, other.low))


def _extreme(first, of_floats):
    """Return a function that picks a of two numbers a and b if `first(a, b)`, otherwise b."""

    def of(a, b):
        counted = isinstance(a, FloatPair) or isinstance(b, FloatPair)
        return where(first(a, b), a, b) if counted else of_floats(a, b)

    return of


def _quotient(left, right):
    divisor = to_float(right)
    if isinstance(divisor, float) and divisor:
        return left / divisor
    return left / jnp.asarray(divisor)  # a quotient by 0 is infinite or NaN, as in C


_EXTREMES = {"max": _extreme(operator.ge, jnp.maximum), "min": _extreme(operator.le, jnp.minimum)}
_LOGIC = {"and": operator.and_, "or": operator.or_}


class Components(NamedTuple):
    """A vector, as an array whose last axis has the components."""

    array: jax.Array


def _componentwise(operation, *values):
    if not any(isinstance(value, Components) for value in values):
        return operation(*values)
    return Components(operation(*map(_beside_components, values)))


def _beside_components(value):
    if isinstance(value, Components):
        return value.array
    value = to_float(value)
    return value if jnp.ndim(value) == 0 else value[..., None]


class Values(Walker):
    """Evaluates trees for given values of names: arrays, or functions from a number of steps back to an array.

    Weights are arrays of shape (outputs, inputs), biases have the shape (outputs,). `back` evaluates the ages of
    observations in steps, `law` nonlinear control laws; None means this object.
    """

    WORLD = "meaning for arrays"

    def __init__(self, scope, back=None, law=None):
        super().__init__()
        self.scope, self._back, self._law = scope, back or self, law or self

    def of(self, tree):
        """Return a tree's value as an array. The components of a vector are on the last axis."""
        value = self.walk(tree)
        return value.array if isinstance(value, Components) else value

    def visit_Number(self, node):
        return float(node.value)

    def visit_Past(self, node):
        return self.scope[node.name](round(float(self._back.of(node.back))))

    def visit_Name(self, node):
        value = self.scope[node.name]
        return value(0) if callable(value) else value

    def visit_Binary(self, node):
        left, right = (yield node.left), (yield node.right)
        return _componentwise(_quotient if node.op == "/" else ARITHMETIC[node.op], left, right)

    def visit_Comparison(self, node):
        left, right = (yield node.left), (yield node.right)
        return jnp.asarray(ORDER[node.op](left, right))

    def visit_Extreme(self, node):
        terms = yield from self.results(node.terms)
        return reduce(partial(_componentwise, _EXTREMES[node.pick]), terms)

    def visit_Logic(self, node):
        return reduce(_LOGIC[node.op], (yield from self.results(node.parts)), jnp.asarray(node.op == "and"))

    def visit_Not(self, node):
        return ~(yield node.part)

    def visit_Function(self, node):
        several = yield from self.results(node.parts)
        return _componentwise(lambda *each: getattr(jnp, node.name)(*map(to_float, each)), *several)

    def visit_If(self, node):
        return _componentwise(where, *(yield from self.results((node.test, node.then, node.other))))

    def visit_AnyOf(self, node):
        return (yield node.terms[0])

    def visit_Between(self, node):
        return (yield node.low)

    def visit_Bounded(self, node):
        return self._law.of(node.law)

    def visit_Vector(self, node):
        terms = map(to_float, (yield from self.results(node.terms)))
        return Components(jnp.stack(jnp.broadcast_arrays(*terms), axis=-1))

    def visit_Item(self, node):
        return (yield node.vector).array[..., node.index]

    def visit_Affine(self, node):
        vector = yield node.vector
        weights, bias = map(self._constants, (node.weights, node.bias))
        return Components(vector.array @ weights.T + bias)

    def _constants(self, numbers):
        return self.scope[numbers] if isinstance(numbers, str) else np.asarray(numbers, np.float32)

    def rates(self, tree):
        match tree:
            case If(test, then, other):
                pairs = zip(self.rates(then), self.rates(other), strict=True)
                return tuple(jnp.where(self.of(test), *pair) for pair in pairs)
            case Between(low, high):
                return self.of(low), self.of(high)
        return self.of(tree), self.of(tree)

    def becomes(self, tree, state):
        """Return the next state by name. If an assumption fails on a link, the state of that link is unchanged."""
        match tree:
            case If(test, then, other):
                first, second = self.becomes(then, state), self.becomes(other, state)
                return {name: where(self.of(test), first[name], second[name]) for name in state}
            case NextState(values):
                return {name: self.of(value) for name, value in values.items()}
            case Impossible():
                return state
        raise TypeError(f"no update: {tree!r}")


def rates(controller, bounds):
    """Return the smallest and largest rate that a controller allows: arrays (flows, links), in bytes per interval."""
    values = Values({**bounds.named(), "R_m": 1.0, "D": bounds.D, "MSS": bounds.packet})
    return tuple(jnp.broadcast_to(rate, bounds.C_L.shape) for rate in values.rates(controller.body))
