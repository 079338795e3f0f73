"""A controller's rate as a tree: its classes, what is in one, its value, its sign."""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import Any

from ccmatic.language.walker import Visit, Walker


@dataclass(frozen=True)
class Tree:
    """A node of a tree: what its class says, of the trees in its fields."""


@dataclass(frozen=True)
class Number(Tree):
    """A literal."""

    value: Fraction


@dataclass(frozen=True)
class Name(Tree):
    """A parameter."""

    name: str


@dataclass(frozen=True)
class Past(Name):
    """What the name stood for `back` before: a term of known times."""

    back: Tree
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Binary(Tree):
    """left op right, with op one of + - * /; -x is 0 - x."""

    op: str
    left: Tree
    right: Tree
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Extreme(Tree):
    """The largest or the smallest of the terms: `pick` is max or min."""

    pick: str
    terms: tuple[Tree, ...]


@dataclass(frozen=True)
class If(Tree):
    """`then` where `test` holds, else `other`: an `if` statement or a conditional expression."""

    test: Tree
    then: Tree
    other: Tree


@dataclass(frozen=True)
class Comparison(Tree):
    """left op right, with op one of < <= > >= == !=."""

    op: str
    left: Tree
    right: Tree


@dataclass(frozen=True)
class Logic(Tree):
    """All of the parts (op is `and`) or at least one (op is `or`)."""

    op: str
    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Not(Tree):
    """The opposite of a condition."""

    part: Tree


@dataclass(frozen=True)
class Between(Tree):
    """What an envelope returns: any rate from low to high."""

    low: Tree
    high: Tree
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class AnyOf(Tree):
    """One of the terms: whichever the network chooses."""

    terms: tuple[Tree, ...]


@dataclass(frozen=True)
class Function(Tree):
    """A function that is not linear, of numbers: cbrt, exp, log, sqrt or tanh."""

    name: str
    parts: tuple[Tree, ...]
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Vector(Tree):
    """Terms, in order."""

    terms: tuple[Tree, ...]


@dataclass(frozen=True)
class Affine(Tree):
    """The vector Σ_j weights[i][j]·vector[j] + bias[i], for each row i.

    weights, bias: Fractions, a tuple of rows and a tuple; or the names of arrays, which only an array back end has.
    """

    weights: tuple[tuple[Fraction, ...], ...] | str
    vector: Tree
    bias: tuple[Fraction, ...] | str
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Item(Tree):
    """A component of a vector, from 0."""

    vector: Tree
    index: int


@dataclass(frozen=True, eq=False)
class Local(Tree):
    """A term with a name, which stands for it wherever it is read: it is stored once and worked out once.

    Two are equal if their terms are. That is decided by a digest, as terms that share parts are too large to compare.
    """

    name: str
    term: Tree
    line: int | None = None

    @cached_property
    def digest(self) -> bytes:
        return _Digest().walk(self.term)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Local) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)


@dataclass(frozen=True)
class Bounded(Tree):
    """What a law says, linear or not: any number from low to high, which are proved to bound it where it is reached."""

    law: Tree
    low: Tree
    high: Tree
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Remembered(Tree):
    """How a path through an update ends: what each piece of state becomes, by name."""

    values: dict[str, Tree]


@dataclass(frozen=True)
class Impossible(Tree):
    """How a path through an update ends that no execution takes: what it assumes there is not so."""


#: What the operators of a `Binary` and of a `Comparison` do to numbers.
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
EXTREMES: dict[str, Callable[..., Any]] = {"max": max, "min": min}


def parts(tree: Tree) -> tuple[Tree, ...]:
    """The trees that a tree is made of, in the order in which they are written; none of a leaf."""
    match tree:
        case Binary(_, left, right) | Comparison(_, left, right):
            return left, right
        case Extreme(_, several) | Logic(_, several) | AnyOf(several) | Vector(several) | Function(_, several):
            return several
        case Between(low, high):
            return low, high
        case Bounded(law, low, high):
            return law, low, high
        case Remembered(values):
            return tuple(values.values())
        case Not(part) | Local(_, part) | Affine(_, part) | Item(part):
            return (part,)
        case If(test, then, other):
            return test, then, other
    return ()


def bare(tree: Tree) -> Tree:
    """The term that a tree is, without the names it has."""
    while isinstance(tree, Local):
        tree = tree.term
    return tree


def nodes(tree: Tree, within: Callable[[Tree], Sequence[Tree]] = parts) -> Iterator[Tree]:
    """Yield each node of a tree once, in the order in which they are written. within: the parts of one to look at."""
    reached: dict[int, Tree] = {}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if id(node) not in reached:
            reached[id(node)] = node
            yield node
            waiting.extend(reversed(within(node)))


def comparisons(tree: Tree) -> Iterator[Comparison]:
    """Yield the comparisons in a tree, but for those of a law, of which a solver knows the bounds alone."""
    reached = nodes(tree, lambda node: (node.low, node.high) if isinstance(node, Bounded) else parts(node))
    return (node for node in reached if isinstance(node, Comparison))


def leaves(tree: Tree) -> Iterator[Tree]:
    """Yield the Numbers, Names and other nodes without parts in a tree, each once."""
    return (node for node in nodes(tree) if not parts(node))


def leaves_outside_tests(tree: Tree) -> Iterator[Tree]:
    """Yield the leaves of a term, each once, but for those of which only tests within it are made."""
    reached = nodes(tree, lambda node: (node.then, node.other) if isinstance(node, If) else parts(node))
    return (node for node in reached if not parts(node))


def rebuilt(tree: Tree, made: Sequence[Tree]) -> Tree:
    """The tree with other trees in place of its parts, in the order of `parts`; itself if they are the same."""
    within = parts(tree)
    if all(new is old for new, old in zip(made, within, strict=True)):
        return tree
    by_id = {id(old): new for old, new in zip(within, made, strict=True)}

    def other(part: Any) -> Any:
        return tuple(map(other, part)) if isinstance(part, tuple) else by_id.get(id(part), part)

    result: Tree = type(tree)(*(other(getattr(tree, each.name)) for each in fields(tree)))
    return result


def replaced(tree: Tree, meanings: Mapping[str, Tree]) -> Tree:
    """The tree with other trees in place of names. meanings: these, by name."""
    return _Replacement(meanings).walk(tree)


class _Replacement(Walker[Tree]):
    """A tree with other trees in place of names, as of `replaced`."""

    def __init__(self, meanings: Mapping[str, Tree]) -> None:
        super().__init__()
        self.meanings = meanings

    def visit_Name(self, node: Name) -> Tree:
        return self.meanings.get(node.name, node)

    def visit_object(self, node: Tree) -> Visit[Tree]:
        return rebuilt(node, (yield from self.each(parts(node))))

    visit_Function = visit_Local = visit_object


class _Digest(Walker[bytes]):
    """What a tree is, as bytes: equal for equal trees."""

    def visit_Local(self, node: Local) -> Visit[bytes]:
        if "digest" not in vars(node):
            vars(node)["digest"] = yield node.term
        return node.digest

    def visit_object(self, node: Tree) -> Visit[bytes]:
        total = sha256(type(node).__name__.encode())
        for each in fields(node):
            if each.compare:
                total.update(b"=" + (yield from self.said(getattr(node, each.name))))
        return total.digest()

    visit_Function = visit_object

    def said(self, value: Any) -> Visit[bytes]:
        """The bytes of what a field holds: a tree, a number or a name, or several of these."""
        if is_dataclass(value):
            return (yield value)
        if isinstance(value, dict):
            value = tuple(each for item in value.items() for each in item)
        if not isinstance(value, tuple):
            return repr(value).encode()
        total = sha256()
        for each in value:
            total.update(b"," + (yield from self.said(each)))
        return total.digest()


def as_sent(update: Tree, assumed: tuple[Tree, ...] = ()) -> Tree:
    """An update as a sender that runs does it: on a way that ends in a law nothing is assumed, as that is about the
    law's bounds, which are for solvers. On other ways it is assumed at the end."""
    match update:
        case If(test, then, Impossible()):
            return as_sent(then, (*assumed, test))
        case If(test, then, other):
            return If(test, as_sent(then, assumed), as_sent(other, assumed))
        case Remembered(values) if any(isinstance(value, Bounded) for value in values.values()):
            return update
    for test in reversed(assumed):
        update = If(test, update, Impossible())
    return update
