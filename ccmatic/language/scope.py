"""The reader of names and lists: what the names at one place in a source mean, and how large the text so far is.

Lists, comprehensions, sums and layers of networks are expanded into terms.
"""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import count
from typing import NoReturn, TypeAlias

from ccmatic.base import CONDITION, NUMBER, InputError, Unit, counted, suggest
from ccmatic.language.limits import Size
from ccmatic.language.passes import Names, Sign, Value, added
from ccmatic.language.source import Literals
from ccmatic.language.tree import Affine, Item, Local, Logic, Name, Number, Tree, Vector

#: The functions that accept or return lists.
BUILT_IN = ("affine", "all", "any", "len", "range", "sum", "zip")

#: Stands for the unit of a list, because each item of a list has its own unit.
LIST = "a list"

#: A pair of a term and its unit. The unit of 0 is None, because 0 fits every unit.
Term: TypeAlias = tuple[Tree, Unit | None]

#: The meaning of a name: a pair of a term and its unit, of a condition and CONDITION, or of a Row and LIST.
Meaning: TypeAlias = "tuple[Tree | Row, Unit | str | None]"

#: A tuple that consists of a syntax node and the parts of its Term or Meaning.
Operand: TypeAlias = tuple[ast.expr, Tree, Unit | None]
Reading: TypeAlias = "tuple[ast.expr, Tree | Row, Unit | str | None]"


class Row(tuple[Meaning, ...]):
    """A (tree, unit) pair per item of a list. A nested list is a (Row, LIST) pair."""

    __slots__ = ()


class Scope:
    """The meanings of names at one place in a source; `units` are those of the parameters that it may read."""

    def __init__(
        self, source: str, units: Mapping[str, Unit | str], reserved: Collection[str], file: str | None
    ) -> None:
        self.literals = Literals(source)
        self.units: dict[str, Unit | str | None] = dict(units)
        self.reserved, self._others = {*units, "max", "min", "between", "tanh", *BUILT_IN}, reserved
        self.file = file
        self.called = "rate"  # the name of the current function
        self.parameters: tuple[str, ...] | None = None  # parameters of the current function; None outside functions
        self.names: dict[str, Meaning] = {}  # names assigned on the current path
        self.assigned: Collection[str] = ()
        self.in_assignment = False
        self.size = Size()
        self.branch, self.layers = 0, count(1)
        self.read_names: Callable[[Tree], frozenset[str]] = Names().walk  # these walkers memoise their results
        self.value_of: Callable[[Tree], Fraction] = Value(file=file).walk
        self.sign: Callable[[Tree], int] = Sign().walk

    def is_reserved(self, name: str) -> bool:
        """Return whether the source may not assign to a name, because the name has a meaning already."""
        return name in self.reserved or name in self._others

    def fail(self, node: ast.AST, message: str) -> NoReturn:
        raise InputError(message, self.file, getattr(node, "lineno", None))

    def whole(self, node: ast.AST, tree: Tree) -> Tree:
        """Return the tree of a complete term or condition. Raise InputError if the tree is too large."""
        if reason := self.size.ended(tree):
            self.fail(node, reason)
        return tree

    def count(self, node: ast.AST, more: int = 1) -> None:
        """Count further names, numbers or returns. Raise InputError if there are too many."""
        if reason := self.size.grown(more):
            self.fail(node, reason)

    def name(self, node: ast.Name) -> Meaning:
        name = node.id
        self.count(node)
        if name in self.names:
            return self.names[name]
        if name in self.assigned:
            self.fail(node, f"`{name}` is not assigned on every path that leads here, expected it to be")
        if name not in self.units:
            suggestion = suggest(name, [*self.units, *self.names])
            self.fail(node, f"unknown name `{name}`, expected a parameter; {suggestion}")
        if self.parameters is None:
            self.fail(node, f"found `{name}` outside `{self.called}`, expected numbers and constants made of them")
        if name not in self.parameters:
            wanted = ", ".join((*self.parameters, name))
            self.fail(node, f"`{name}` is not a parameter, expected it to be: `def {self.called}({wanted})`")
        return Name(name), self.units[name]

    def value(self, node: ast.expr) -> Meaning:
        raise NotImplementedError

    def expression(self, node: ast.expr) -> Term:
        raise NotImplementedError

    def alike(
        self, node: ast.AST, verb: str, preposition: str, operands: Sequence[Operand]
    ) -> tuple[tuple[Tree, ...], Unit | None]:
        """Return the trees of the operands and their common unit. Raise InputError if the units differ."""
        common, first = None, node
        for operand, _, unit in operands:
            if common is None:
                common, first = unit, operand
            elif unit not in (None, common):
                a, b = ast.unparse(first), ast.unparse(operand)
                text = f"{verb} `{a}` ({common}) {preposition} `{b}` ({unit})"
                self.fail(node, f"{text}, expected terms of one unit")
        return tuple(tree for _, tree, _ in operands), common


def as_term(meaning: Meaning) -> Term | None:
    what, unit = meaning
    return None if isinstance(what, Row) or isinstance(unit, str) else (what, unit)


def as_condition(meaning: Meaning) -> Tree | None:
    what, unit = meaning
    return None if isinstance(what, Row) or unit != CONDITION else what


#: The calls that create lists which may have a name. Python can iterate over a `zip` or a generator only once.
#: Therefore the enclosing comprehension or function reads these two in place.
_CALLS = ("affine", "range")

_PLAIN = "a comprehension such as `max(x / k for k in range(1, 5))`, without `if`"


class RowReader(Scope):
    def is_row(self, node: ast.expr) -> bool:
        """An item of a nested list may be a list, so such items count as lists."""
        while isinstance(node, ast.Subscript):
            node = node.value
        match node:
            case ast.Name(id=name):
                return name in self.names and self.names[name][1] == LIST
            case ast.Call(func=ast.Name(id=called)):
                return called in _CALLS
        return isinstance(node, ast.List | ast.ListComp)

    def row(self, node: ast.expr) -> Row:
        match node:
            case ast.List(elts=nodes) if not any(isinstance(each, ast.Starred) for each in nodes):
                self.count(node)
                with self.eager():
                    return Row(map(self.value, nodes))
            case ast.ListComp():
                with self.eager():
                    return Row((tree, unit) for _, tree, unit in self.turns(node, node.generators))
            case ast.Call(func=ast.Name(id="range")):
                return self.range(node)
            case ast.Call(func=ast.Name(id="zip")):
                return self.zipped(node)
            case ast.Call(func=ast.Name(id="affine")):
                return self.affine(node)
            case ast.Name() | ast.Subscript() if self.is_row(node):
                row, _ = self.name(node) if isinstance(node, ast.Name) else self.item(node)
                if isinstance(row, Row):
                    return row
        self.fail(node, f"found `{ast.unparse(node)}`, expected a list such as [C_L, C_U] or range(4)")

    @contextmanager
    def eager(self) -> Iterator[None]:
        """Treat everything that is read in the context as computed: Python computes even unused items of a list."""
        before, self.in_assignment = self.in_assignment, True
        yield
        self.in_assignment = before

    def item(self, node: ast.Subscript) -> Meaning:
        """Read an item such as `xs[2]`: its tree and its unit."""
        row = self.row(node.value)
        self.count(node)
        index = self.whole_number(node.slice)
        if not 0 <= index < len(row):
            self.fail(node, f"found `{ast.unparse(node)}`, where the index is {index}; expected 0 to {len(row) - 1}")
        return row[index]

    def whole_number(self, node: ast.expr) -> int:
        tree, unit = self.expression(node)
        if unit in (None, NUMBER) and not self.read_names(tree):
            number = self.value_of(tree)
            if number.denominator == 1:
                return int(number)
        self.fail(node, f"found `{ast.unparse(node)}`, expected a whole number made of constants")

    def range(self, node: ast.Call) -> Row:
        ends = [self.whole_number(each) for each in node.args]
        if not 1 <= len(ends) <= 3 or node.keywords or ends[2:] == [0]:
            self.fail(node, f"found `{ast.unparse(node)}`, expected a range such as range(1, 5)")
        numbers = range(*ends)
        self.count(node, len(numbers))
        return Row((Number(Fraction(number)), NUMBER if number else None) for number in numbers)

    def zipped(self, node: ast.Call) -> Row:
        rows = [self.row(each) for each in node.args]
        if not rows or node.keywords or len(set(map(len, rows))) > 1:
            self.fail(node, f"found `{ast.unparse(node)}`, expected lists of one length")
        self.count(node, sum(map(len, rows)))
        return Row((Row(each), LIST) for each in zip(*rows, strict=True))

    def turns(self, node: ast.ListComp | ast.GeneratorExp, generators: Sequence[ast.comprehension]) -> list[Reading]:
        """Return a list of (syntax, tree, unit) with one entry for each iteration of a comprehension."""
        if not generators:
            return [(node.elt, *self.value(node.elt))]
        first, *others = generators
        if first.ifs or first.is_async:
            self.fail(node, f"found `{ast.unparse(node)}`, expected {_PLAIN}")
        row, outer, made = self.row(first.iter), self.names, list[Reading]()
        for each in row:
            self.count(node)
            self.names = {**outer, **self.bound(first.target, each, outer)}
            made += self.turns(node, others)
        self.names = outer
        return made

    def bound(self, target: ast.expr, meaning: Meaning, outer: Mapping[str, Meaning]) -> dict[str, Meaning]:
        row, _ = meaning
        if isinstance(target, ast.Tuple) and isinstance(row, Row) and len(row) == len(target.elts):
            pairs = zip(target.elts, row, strict=True)
            return {name: means for part, item in pairs for name, means in self.bound(part, item, outer).items()}
        if not isinstance(target, ast.Name):
            self.fail(target, f"found `{ast.unparse(target)}`, expected a name for each in the list")
        if self.is_reserved(target.id) or target.id in outer or target.id.startswith("__"):
            self.fail(target, f"assigns `{target.id}`, which has a meaning already; expected another name")
        return {target.id: meaning}

    def several(self, node: ast.Call) -> list[Reading] | None:
        """Return (syntax, tree, unit) for each item of a call's list argument; None if there is no such argument."""
        match node:
            case ast.Call(args=[ast.GeneratorExp() as listed], keywords=[]):
                return self.turns(listed, listed.generators)
            case ast.Call(args=[ast.ListComp() as listed], keywords=[]):
                with self.eager():
                    return self.turns(listed, listed.generators)
            case ast.Call(args=[ast.List(elts=nodes) as listed], keywords=[]):
                return [(each, *read) for each, read in zip(nodes, self.row(listed), strict=True)]
            case ast.Call(args=[listed], keywords=[]) if self.is_row(listed):
                row = self.row(listed)
                self.count(node, len(row))
                return [(listed, *each) for each in row]
        return None

    def sum(self, node: ast.Call) -> Term:
        several = self.several(node)
        if several is None:
            self.fail(node, f"found `{ast.unparse(node)}`, expected the sum of a list or of a comprehension")
        trees, unit = self.alike(node, "adds", "to", self.terms_among(node, several))
        return added(trees, node.lineno), unit

    def length(self, node: ast.Call) -> Term:
        if len(node.args) != 1 or node.keywords or not self.is_row(node.args[0]):
            self.fail(node, f"found `{ast.unparse(node)}`, expected the length of a list")
        number = Fraction(len(self.row(node.args[0])))
        return Number(number), NUMBER if number else None

    def quantified(self, node: ast.Call, called: str, several: Sequence[Reading]) -> Tree:
        conditions = [tree for _, tree, unit in several if unit == CONDITION and not isinstance(tree, Row)]
        if len(conditions) < len(several):
            self.fail(node, f"found `{ast.unparse(node)}`, expected {called} of comparisons")
        return Logic("and" if called == "all" else "or", tuple(conditions))

    def terms_among(self, node: ast.Call | ast.Return, several: Sequence[Reading]) -> list[Operand]:
        """Return the readings as operands. Raise InputError unless all of them are terms."""
        terms = list[Operand]()
        for syntax, tree, unit in several:
            if isinstance(tree, Row) or isinstance(unit, str):
                self.fail(node, f"found {unit} in `{ast.unparse(node)}`, expected terms such as 2 * C_L")
            terms.append((syntax, tree, unit))
        return terms

    def affine(self, node: ast.Call) -> Row:
        """Read `affine(W, x, b)`, the layer W·x + b of a network."""
        if len(node.args) != 3 or node.keywords:
            self.fail(node, f"found `{ast.unparse(node)}`, expected affine(WEIGHTS, LIST, BIAS)")
        weights, vector, bias = map(self.row, node.args)
        rows = tuple(self.numbers(node, row) if isinstance(row, Row) else () for row, _ in weights)
        operands = self.terms_among(node, [(node.args[1], *each) for each in vector])
        if not vector:
            self.fail(node, f"found `{ast.unparse(node)}`, expected a list of at least one term")
        if any(len(row) != len(vector) for row in rows) or len(rows) != len(bias) or not rows:
            expected = f"rows of {counted(len(vector), 'weight')}, and as many numbers in the bias as rows"
            self.fail(node, f"found `{ast.unparse(node)}`, expected {expected}")
        terms, unit = self.alike(node, "adds", "to", operands)
        unit, numbers = unit or NUMBER, self.numbers(node, bias)
        if unit != NUMBER and any(numbers):
            self.fail(node, f"adds a bias (number) to a list of {unit} in `{ast.unparse(node)}`, expected a bias of 0")
        layer = Local(f"layer_{next(self.layers)}", Affine(rows, self.vector(terms), numbers, node.lineno), node.lineno)
        return Row((Item(layer, index), unit) for index in range(len(rows)))

    def vector(self, terms: tuple[Tree, ...]) -> Tree:
        """If the terms are all components of an existing vector, return that vector."""
        match terms:
            case [Item(Local(_, Affine(rows)) as whole), *_] if len(terms) == len(rows):
                places = [each.index for each in terms if isinstance(each, Item) and each.vector is whole]
                if places == list(range(len(rows))):
                    return whole
        return Vector(terms)

    def numbers(self, node: ast.Call, row: Row) -> tuple[Fraction, ...]:
        self.count(node, len(row))
        numbers = []
        for tree, unit in row:
            if isinstance(tree, Row) or unit not in (None, NUMBER) or self.read_names(tree):
                self.fail(node, f"found an unknown in the weights of `{ast.unparse(node)}`, expected numbers")
            numbers.append(self.value_of(tree))
        return tuple(numbers)
