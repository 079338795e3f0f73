"""Facts about a tree that need no solver: the names that the tree reads, its exact value, and its sign."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ccmatic.language.tree import (
    ARITHMETIC,
    EXTREMES,
    ORDER,
    Binary,
    Comparison,
    Extreme,
    If,
    Logic,
    Name,
    Not,
    Number,
    Past,
    Tree,
    parts,
)
from ccmatic.language.walker import VectorWalker, Visit, Walker, componentwise


def names(tree: Tree) -> frozenset[str]:
    return Names().walk(tree)


def value(tree: Tree, values: Mapping[str, Any] | None = None, file: str | None = None) -> Any:
    """Return the exact value of a tree, as in Python: a Fraction, a bool, or for a vector a tuple of Fractions.

    ZeroDivisionError if Python would raise it; InputError for a function without exact values, such as tanh.
    """
    return Value(values, file).walk(tree)


def sign(tree: Tree) -> int:
    """Return 1 if a term over numbers, R_m, step, MSS and D is above 0, 0 if it is at least 0, else -1.

    These constants are above 0, except D, which may be 0.
    """
    return Sign().walk(tree)


class Names(Walker[frozenset[str]]):
    def visit_Name(self, node: Name) -> frozenset[str]:
        return frozenset((node.name,))

    def visit_object(self, node: Tree) -> Visit[frozenset[str]]:
        return frozenset().union(*(yield from self.results(parts(node))))

    visit_Function = visit_object


class Value(VectorWalker):
    WORLD = "exact value"

    def __init__(self, values: Mapping[str, Any] | None = None, file: str | None = None) -> None:
        super().__init__(file)
        self.values = values or {}

    def visit_Number(self, node: Number) -> Fraction:
        return node.value

    def visit_Name(self, node: Name) -> Any:
        if node.name not in self.values:
            raise TypeError(f"no number: {node!r}")
        value = self.values[node.name]
        return Fraction(value) if type(value) is int else value  # a Fraction, because int / int would be a float

    def visit_Past(self, node: Past) -> Visit[Any]:
        return self.values[node.name][(yield node.back)]

    def visit_Binary(self, node: Binary) -> Visit[Any]:
        left, right = (yield node.left), (yield node.right)
        return componentwise(ARITHMETIC[node.op], left, right)

    def visit_Comparison(self, node: Comparison) -> Visit[Any]:
        left, right = (yield node.left), (yield node.right)
        return ORDER[node.op](left, right)

    def visit_Extreme(self, node: Extreme) -> Visit[Any]:
        terms = yield from self.results(node.terms)
        return componentwise(lambda *each: EXTREMES[node.pick](each), *terms)

    def visit_Logic(self, node: Logic) -> Visit[Any]:
        decisive = node.op == "or"
        for part in node.parts:
            if bool((yield part)) is decisive:
                return decisive
        return not decisive

    def visit_Not(self, node: Not) -> Visit[Any]:
        return not (yield node.part)

    def visit_If(self, node: If) -> Visit[Any]:
        return (yield (node.then if (yield node.test) else node.other))

    def weighted(self, weights: Any, vector: Any, bias: Any) -> Any:
        return sum((weight * x for weight, x in zip(weights, vector, strict=True)), bias)


class Sign(Walker[int]):
    def visit_Number(self, node: Number) -> int:
        return (node.value > 0) - (node.value < 0)

    def visit_Name(self, node: Name) -> int:
        return {"R_m": 1, "step": 1, "MSS": 1, "D": 0}.get(node.name, -1)

    def visit_Binary(self, node: Binary) -> Visit[int]:
        left, right = (yield node.left), (yield node.right)
        match node.op:
            case "+":
                return max(left, right) if min(left, right) >= 0 else -1
            case "*" | "/":
                return min(left, right)
        return -1

    def visit_Extreme(self, node: Extreme) -> Visit[int]:
        signs = yield from self.results(node.terms)
        return max(signs) if node.pick == "max" else min(signs)

    def visit_object(self, node: Tree) -> int:
        return -1

    visit_Function = visit_object
