"""Vectors as their components: for back ends that have scalars only."""

from fractions import Fraction

from ccmatic.language.tree import Affine, Binary, Extreme, Function, If, Item, Local, Number, Vector, bare, parts
from ccmatic.language.walker import Walker


def width(tree):
    """Return how many components a vector has; None for a scalar."""
    return _Width().walk(tree)


def added(terms, line=None):
    """Return the sum of terms, in halves, so that it is not nested deeply."""
    if len(terms) < 2:
        return terms[0] if terms else Number(Fraction(0))
    half = (len(terms) + 1) // 2
    return Binary("+", added(terms[:half], line), added(terms[half:], line), line)


class _Width(Walker):
    def visit_Vector(self, node):
        return len(node.terms)

    def visit_Affine(self, node):
        return len(node.bias)

    def visit_If(self, node):
        return (yield from self.any_of((node.then, node.other)))

    def visit_Binary(self, node):
        return (yield from self.any_of(parts(node)))

    visit_Extreme = visit_Function = visit_Binary

    def visit_object(self, node):
        return None

    def any_of(self, several):
        return next((size for size in (yield from self.each(several)) if size is not None), None)


class Components:
    """The components of vectors as scalar trees, one node for each, however often it is read."""

    def __init__(self):
        self._made, self._width = {}, _Width().walk

    def of(self, item):
        """The tree of an Item."""
        return self.component(item.vector, item.index)

    def all(self, vector):
        """The trees of all components of a vector."""
        return [self._item(vector, index) for index in range(self._width(vector))]

    def component(self, vector, index):
        """The tree of a component of a vector."""
        whole = bare(vector)
        if isinstance(whole, Vector):
            return whole.terms[index]
        key = id(whole), index
        if key not in self._made:
            name = f"{getattr(vector, 'name', 'layer')}_{index}"
            self._made[key] = whole, Local(name, self._component(whole, index), getattr(whole, "line", None))
        return self._made[key][1]

    def _component(self, vector, index):
        match vector:
            case Affine(weights, inner, bias, line):
                pairs = zip(weights[index], self.all(inner), strict=True)
                products = (Binary("*", Number(weight), term, line) for weight, term in pairs if weight)
                return added([*products, Number(Fraction(bias[index]))], line)
            case Extreme(pick, several):
                return Extreme(pick, tuple(self._item(each, index) for each in several))
            case Function(called, several, line):
                return Function(called, tuple(self._item(each, index) for each in several), line)
            case Binary(op, left, right, line):
                return Binary(op, self._item(left, index), self._item(right, index), line)
            case If(test, then, other):
                return If(test, self._item(then, index), self._item(other, index))
        raise TypeError(f"no vector: {vector!r}")

    def _item(self, vector, index):
        """The same of a part: for later, so that no more is made than is read."""
        if self._width(vector) is None:
            return vector
        if isinstance(bare(vector), Vector):
            return bare(vector).terms[index]
        key = "item", id(bare(vector)), index
        if key not in self._made:
            self._made[key] = bare(vector), Item(vector, index)
        return self._made[key][1]
