"""Vectors as lists of their components, for back ends that support only scalars."""

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction

from ccmatic.language.tree import Affine, Binary, Extreme, Function, If, Item, Local, Number, Tree, Vector, bare, parts
from ccmatic.language.walker import Visit, Walker


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
