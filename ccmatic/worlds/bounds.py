"""Interval bounds on the value of a term, from ranges of the names in it."""

from fractions import Fraction
from functools import partial
from itertools import product

from ccmatic.language import EXTREMES, VectorWalker, componentwise


def bounds(tree, ranges, file=None):
    """Return sound bounds (lower, upper) on a term, or of each component of a vector, from exact ranges of its names.

    They need not be tight if the term reads a name more than once. InputError if a divisor may be 0, or a part has no
    exact bounds.
    """
    result = _Bounds(ranges, file).walk(tree)
    return tuple(map(tuple, result)) if isinstance(result, tuple) else tuple(result)


class _Range(list):
    """A list (lower, upper), because a tuple stands for a vector."""

    __slots__ = ()


class _Bounds(VectorWalker):
    WORLD = "interval bounds"

    def __init__(self, ranges, file):
        super().__init__(file)
        self.ranges = ranges

    def visit_Number(self, node):
        return _Range((node.value, node.value))

    def visit_Name(self, node):
        return _Range(map(Fraction, self.ranges[node.name]))

    def visit_Binary(self, node):
        left, right = (yield node.left), (yield node.right)
        return componentwise(partial(self.joined, node), left, right)

    def joined(self, node, left, right):
        match node.op:
            case "+":
                return _Range((left[0] + right[0], left[1] + right[1]))
            case "-":
                return _Range((left[0] - right[1], left[1] - right[0]))
            case "/":
                if right[0] <= 0 <= right[1]:
                    self.refuse(node, f"divides by a term that may be 0, so it has no {self.WORLD}")
                right = 1 / right[1], 1 / right[0]
        ends = [a * b for a, b in product(left, right)]
        return _Range((min(ends), max(ends)))

    def visit_Extreme(self, node):
        terms = yield from self.results(node.terms)
        return componentwise(lambda *each: _Range(map(EXTREMES[node.pick], zip(*each, strict=True))), *terms)

    def visit_If(self, node):
        """Bounds do not decide the test."""
        then, other = (yield node.then), (yield node.other)
        return componentwise(lambda a, b: _Range((min(a[0], b[0]), max(a[1], b[1]))), then, other)

    def weighted(self, weights, vector, bias):
        return _weighted(weights, vector, bias)


def _weighted(row, vector, bias):
    pairs = list(zip(row, vector, strict=True))
    least = sum((weight * range_[weight < 0] for weight, range_ in pairs), Fraction(bias))
    return _Range((least, sum((weight * range_[weight >= 0] for weight, range_ in pairs), Fraction(bias))))
