"""What is known of a tree without a solver: the names that it reads, its exact value, its sign."""

from fractions import Fraction

from ccmatic.language.tree import ARITHMETIC, EXTREMES, ORDER, parts
from ccmatic.language.walker import VectorWalker, Walker, componentwise


def names(tree):
    """The set of names of the parameters that a tree reads."""
    return Names().walk(tree)


def value(tree, values=None, file=None):
    """The exact value of a tree, as Python works it out: a Fraction, a bool, or a tuple of them for a vector.

    Args:
        tree: A term or a condition.
        values: The values of the names in it.
        file: Its file, for messages.

    Raises:
        InputError: For a function that has no exact value, such as tanh.
        ZeroDivisionError: Where Python would.
    """
    return Value(values, file).walk(tree)


def sign(tree):
    """1 if a term of numbers, R_m, step > 0 and D >= 0 is above 0, 0 if it is at least 0, -1 if neither is known."""
    return Sign().walk(tree)


class Names(Walker):
    """The set of names of the parameters that a tree reads."""

    def visit_Name(self, node):
        return frozenset((node.name,))

    def visit_object(self, node):
        return frozenset().union(*(yield from self.each(parts(node))))

    visit_Function = visit_object


class Value(VectorWalker):
    """The exact value of a tree, as of `value`."""

    WORLD = "exact value"

    def __init__(self, values=None, file=None):
        super().__init__(file)
        self.values = values or {}

    def visit_Number(self, node):
        return node.value

    def visit_Name(self, node):
        if node.name not in self.values:
            raise TypeError(f"no number: {node!r}")
        known = self.values[node.name]
        return Fraction(known) if type(known) is int else known  # as int / int is a float

    def visit_Past(self, node):
        return self.values[node.name][(yield node.back)]

    def visit_Binary(self, node):
        left, right = (yield node.left), (yield node.right)
        return componentwise(ARITHMETIC[node.op], left, right)

    def visit_Comparison(self, node):
        left, right = (yield node.left), (yield node.right)
        return ORDER[node.op](left, right)

    def visit_Extreme(self, node):
        terms = yield from self.each(node.terms)
        return componentwise(lambda *each: EXTREMES[node.pick](each), *terms)

    def visit_Logic(self, node):
        decisive = node.op == "or"
        for part in node.parts:
            if bool((yield part)) is decisive:
                return decisive
        return not decisive

    def visit_Not(self, node):
        return not (yield node.part)

    def visit_If(self, node):
        return (yield (node.then if (yield node.test) else node.other))

    def weighted(self, weights, vector, bias):
        return sum((weight * x for weight, x in zip(weights, vector, strict=True)), bias)


class Sign(Walker):
    """The sign of a term, as of `sign`."""

    def visit_Number(self, node):
        return (node.value > 0) - (node.value < 0)

    def visit_Name(self, node):
        return {"R_m": 1, "step": 1, "D": 0}.get(node.name, -1)

    def visit_Binary(self, node):
        left, right = (yield node.left), (yield node.right)
        match node.op:
            case "+":
                return max(left, right) if min(left, right) >= 0 else -1
            case "*" | "/":
                return min(left, right)
        return -1

    def visit_Extreme(self, node):
        return EXTREMES[node.pick]((yield from self.each(node.terms)))

    def visit_object(self, node):
        return -1

    visit_Function = visit_object
