"""Passes over trees that every back end needs: names, exact values, signs, and the components of vectors."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from ccmatic.language.tree import (
    ARITHMETIC,
    EXTREMES,
    ORDER,
    Affine,
    Binary,
    Comparison,
    Extreme,
    Function,
    If,
    Item,
    Local,
    Logic,
    Name,
    Not,
    Number,
    Past,
    Tree,
    Vector,
    bare,
    parts,
)
from ccmatic.language.walker import VectorWalker, Visit, Walker, componentwise

T = TypeVar("T")


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


class First(Walker[T | None]):
    """Finds the first true result of `find` for a node of a tree; no node inside of a `closed` one counts."""

    def __init__(self, find: Callable[[Any], T], closed: tuple[type[Tree], ...] = ()) -> None:
        super().__init__()
        self.find, self.closed = find, closed

    def visit_object(self, node: Tree) -> Visit[T | None]:
        if isinstance(node, self.closed):
            return None
        if found := self.find(node):
            return found
        for part in parts(node):
            if within := (yield part):
                return within
        return None

    visit_Function = visit_Local = visit_object


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


def width(tree: Tree) -> int | None:
    return _Width().walk(tree)


def added(terms: Sequence[Tree], line: int | None = None) -> Tree:
    """Return the sum of terms as a balanced tree, so that the nesting stays shallow."""
    if len(terms) < 2:
        return terms[0] if terms else Number(Fraction(0))
    half = (len(terms) + 1) // 2
    return Binary("+", added(terms[:half], line), added(terms[half:], line), line)


class _Width(Walker[int | None]):
    def visit_Vector(self, node: Vector) -> int:
        return len(node.terms)

    def visit_Affine(self, node: Affine) -> int:
        return len(node.bias)

    def visit_If(self, node: If) -> Visit[int | None]:
        return (yield from self.any_of((node.then, node.other)))

    def visit_Binary(self, node: Tree) -> Visit[int | None]:
        return (yield from self.any_of(parts(node)))

    visit_Extreme = visit_Function = visit_Binary

    def visit_object(self, node: Tree) -> None:
        return None

    def any_of(self, several: Iterable[Tree]) -> Visit[int | None]:
        return next((size for size in (yield from self.results(several)) if size is not None), None)


class Components:
    """The components of vectors as scalar trees. All reads of a component share one node."""

    def __init__(self) -> None:
        self._made: dict[tuple[Hashable, ...], tuple[Tree, Tree]] = {}
        self._width = _Width().walk

    def of(self, item: Item) -> Tree:
        return self.component(item.vector, item.index)

    def all(self, vector: Tree) -> list[Tree]:
        width = self._width(vector)
        if width is None:
            raise TypeError(f"no vector: {vector!r}")
        return [self._item(vector, index) for index in range(width)]

    def component(self, vector: Tree, index: int) -> Tree:
        whole = bare(vector)
        if isinstance(whole, Vector):
            return whole.terms[index]
        key = id(whole), index
        if key not in self._made:
            name = f"{getattr(vector, 'name', 'layer')}_{index}"
            self._made[key] = whole, Local(name, self._component(whole, index), getattr(whole, "line", None))
        return self._made[key][1]

    def _component(self, vector: Tree, index: int) -> Tree:
        match vector:
            case Affine(tuple() as weights, inner, tuple() as bias, line):
                pairs = zip(weights[index], self.all(inner), strict=True)
                products = (Binary("*", Number(weight), term, line) for weight, term in pairs if weight)
                return added([*products, Number(bias[index])], line)
            case Extreme(pick, several):
                return Extreme(pick, tuple(self._item(each, index) for each in several))
            case Function(called, several, line):
                return Function(called, tuple(self._item(each, index) for each in several), line)
            case Binary(op, left, right, line):
                return Binary(op, self._item(left, index), self._item(right, index), line)
            case If(test, then, other):
                return If(test, self._item(then, index), self._item(other, index))
        raise TypeError(f"no vector: {vector!r}")

    def _item(self, vector: Tree, index: int) -> Tree:
        """Return a component of a subtree as an Item. The Item is expanded only when it is read."""
        if self._width(vector) is None:
            return vector
        whole = bare(vector)
        if isinstance(whole, Vector):
            return whole.terms[index]
        key = "item", id(whole), index
        if key not in self._made:
            self._made[key] = whole, Item(vector, index)
        return self._made[key][1]
