"""What a reader of a controller's Python knows at a place in it: what names mean there, and how much has been read."""

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

#: The functions of lists.
BUILT_IN = ("affine", "all", "any", "len", "range", "sum", "zip")

#: What a list has in place of a unit, as each in it has its own.
LIST = "a list"

#: A term and its unit; None for 0, which fits any unit.
Term: TypeAlias = tuple[Tree, Unit | None]

#: What a name may stand for: a term and its unit, a condition and CONDITION, or a Row and LIST.
Meaning: TypeAlias = "tuple[Tree | Row, Unit | str | None]"

#: A Term, and a Meaning, behind the syntax that says it.
Operand: TypeAlias = tuple[ast.expr, Tree, Unit | None]
Reading: TypeAlias = "tuple[ast.expr, Tree | Row, Unit | str | None]"


class Row(tuple[Meaning, ...]):
    """A list as it is read: a (tree, unit) of each; of a list within it, (Row, LIST)."""

    __slots__ = ()


class Scope:
    """What is known at a place in one source.

    Args:
        source: The text.
        units: The units of the parameters that it may read, by name.
        reserved: Names that it may not assign, besides these.
        file: Its file, for messages.
    """

    def __init__(
        self, source: str, units: Mapping[str, Unit | str], reserved: Collection[str], file: str | None
    ) -> None:
        self.literals = Literals(source)
        self.units: dict[str, Unit | str | None] = dict(units)
        self.reserved = {*units, *reserved, "max", "min", "between", "tanh", *BUILT_IN}
        self.file = file
        self.called = "rate"  # the function that is read
        self.parameters: tuple[str, ...] | None = None  # its own; None outside a function
        self.names: dict[str, Meaning] = {}  # of those assigned on the path that is read
        self.assigned: Collection[str] = ()
        self.in_assignment = False
        self.size = Size()
        self.branch, self.layers = 0, count(1)
        self.read_names: Callable[[Tree], frozenset[str]] = Names().walk  # each remembers
        self.value_of: Callable[[Tree], Fraction] = Value(file=file).walk
        self.sign: Callable[[Tree], int] = Sign().walk

    def fail(self, node: ast.AST, message: str) -> NoReturn:
        """Raise InputError, with the line of the syntax."""
        raise InputError(message, self.file, getattr(node, "lineno", None))

    def whole(self, node: ast.AST, tree: Tree) -> Tree:
        """The tree of a whole term or condition, if it is not too large."""
        if reason := self.size.ended(tree):
            self.fail(node, reason)
        return tree

    def count(self, node: ast.AST, more: int = 1) -> None:
        """So many more names, numbers or returns are read; refused where they are too many."""
        if reason := self.size.grown(more):
            self.fail(node, reason)

    def name(self, node: ast.Name) -> Meaning:
        """What is assigned to a name, or the parameter."""
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
        """What may be assigned: a term, a condition or a list."""
        raise NotImplementedError

    def expression(self, node: ast.expr) -> Term:
        """A term."""
        raise NotImplementedError

    def alike(
        self, node: ast.AST, verb: str, preposition: str, operands: Sequence[Operand]
    ) -> tuple[tuple[Tree, ...], Unit | None]:
        """The trees of the operands, and the unit that they share."""
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
    """What is read as a term; None for a condition and for a list."""
    what, unit = meaning
    return None if isinstance(what, Row) or isinstance(unit, str) else (what, unit)


def as_condition(meaning: Meaning) -> Tree | None:
    """What is read as a condition; None for a term and for a list."""
    what, unit = meaning
    return None if isinstance(what, Row) or unit != CONDITION else what
