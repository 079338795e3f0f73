"""The state of a reader at one place in a source: the meanings of names, and the size of the text read so far."""

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from itertools import count
from typing import NoReturn, TypeAlias

from ccmatic.base import CONDITION, InputError, Unit, suggest
from ccmatic.language.limits import Size
from ccmatic.language.literals import Literals
from ccmatic.language.tree import Name, Tree
from ccmatic.language.value import Names, Sign, Value

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
