"""The tree of a controller's rate: the classes of its nodes, and functions on trees."""

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
    """The base class of all nodes. The fields of a node contain its subtrees."""


@dataclass(frozen=True)
class Number(Tree):
    value: Fraction


@dataclass(frozen=True)
class Name(Tree):
    """A name that a controller reads, which is a parameter."""

    name: str


@dataclass(frozen=True)
class Past(Name):
    """The value of a name at an earlier time. `back` is the difference in time, a term over known times."""

    back: Tree
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Binary(Tree):
    """The term `left op right`, where op is one of + - * /. A negation -x is stored as 0 - x."""

    op: str
    left: Tree
    right: Tree
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Extreme(Tree):
    """The largest or the smallest of several terms. `pick` is `max` or `min`."""

    pick: str
    terms: tuple[Tree, ...]


@dataclass(frozen=True)
class If(Tree):
    test: Tree
    then: Tree
    other: Tree


@dataclass(frozen=True)
class Comparison(Tree):
    """The condition `left op right`, where op is one of < <= > >= == !=."""

    op: str
    left: Tree
    right: Tree


@dataclass(frozen=True)
class Logic(Tree):
    op: str
    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Not(Tree):
    part: Tree


@dataclass(frozen=True)
class Between(Tree):
    """The result of an envelope: the network chooses any rate from low to high."""

    low: Tree
    high: Tree
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class AnyOf(Tree):
    """One of several terms; the network chooses which one."""

    terms: tuple[Tree, ...]


@dataclass(frozen=True)
class Function(Tree):
    """A nonlinear function of numbers, such as cbrt, exp, log, sqrt, tanh or power."""

    name: str
    parts: tuple[Tree, ...]
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Vector(Tree):
    terms: tuple[Tree, ...]


@dataclass(frozen=True)
class Affine(Tree):
    """The vector Σ_j weights[i][j]·vector[j] + bias[i], with one component per row i.

    Attributes:
        weights: A tuple of rows of Fractions; or the name of an array, which only the array back end supports.
        vector: The input vector.
        bias: A tuple of Fractions; or the name of an array.
    """

    weights: tuple[tuple[Fraction, ...], ...] | str
    vector: Tree
    bias: tuple[Fraction, ...] | str
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Item(Tree):
    """One component of a vector; `index` starts at 0."""

    vector: Tree
    index: int


@dataclass(frozen=True, eq=False)
class Local(Tree):
    """A named term. All readings of the name share this node, so the term is stored and computed only once.

    Two Locals are equal if their terms are equal. Digests decide whether terms are equal, because terms with shared
    parts are too large to compare directly.
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
    """The result of a law, which may be nonlinear. In a solver's query, this result is any number from low to high.

    A proof shows that the result is within the bounds wherever the law is reached.
    """

    law: Tree
    low: Tree
    high: Tree
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class NextState(Tree):
    """The end of a path through an update. This node contains the next value of each state variable, by name."""

    values: dict[str, Tree]


@dataclass(frozen=True)
class Impossible(Tree):
    """The end of a path that no execution takes, because an assumption on the path fails."""


#: The operators of `Binary` and `Comparison` nodes, as functions of numbers.
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
    match tree:
        case Binary(_, left, right) | Comparison(_, left, right):
            return left, right
        case Extreme(_, several) | Logic(_, several) | AnyOf(several) | Vector(several) | Function(_, several):
            return several
        case Between(low, high):
            return low, high
        case Bounded(law, low, high):
            return law, low, high
        case NextState(values):
            return tuple(values.values())
        case Not(part) | Local(_, part) | Affine(_, part) | Item(part):
            return (part,)
        case If(test, then, other):
            return test, then, other
    return ()


def bare(tree: Tree) -> Tree:
    """Return the term inside the `Local` nodes that enclose a tree."""
    while isinstance(tree, Local):
        tree = tree.term
    return tree


def nodes(tree: Tree, within: Callable[[Tree], Sequence[Tree]] = parts) -> Iterator[Tree]:
    """Yield each node of a tree once, in source order; `within` gives the subtrees of a node to visit."""
    reached: dict[int, Tree] = {}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if id(node) not in reached:
            reached[id(node)] = node
            yield node
            waiting.extend(reversed(within(node)))


def comparisons(tree: Tree) -> Iterator[Comparison]:
    """Yield the comparisons in a tree, except those inside a law, because solvers use only the law's bounds."""
    reached = nodes(tree, lambda node: (node.low, node.high) if isinstance(node, Bounded) else parts(node))
    return (node for node in reached if isinstance(node, Comparison))


def leaves(tree: Tree) -> Iterator[Tree]:
    """Yield, once, each node that has no subtrees, such as Numbers and Names."""
    return (node for node in nodes(tree) if not parts(node))


def leaves_outside_tests(tree: Tree) -> Iterator[Tree]:
    """Yield each leaf of a term once, except leaves that occur only in the term's tests."""
    reached = nodes(tree, lambda node: (node.then, node.other) if isinstance(node, If) else parts(node))
    return (node for node in reached if not parts(node))


def rebuilt(tree: Tree, made: Sequence[Tree]) -> Tree:
    """Return the tree with new subtrees, in the order of `parts`; the tree itself if they are unchanged."""
    within = parts(tree)
    if all(new is old for new, old in zip(made, within, strict=True)):
        return tree
    # The comparison is by identity, because the hash of a tree would require a visit of the whole tree.
    by_id = {id(old): new for old, new in zip(within, made, strict=True)}

    def other(part: Any) -> Any:
        return tuple(map(other, part)) if isinstance(part, tuple) else by_id.get(id(part), part)

    result: Tree = type(tree)(*(other(getattr(tree, each.name)) for each in fields(tree)))
    return result


def replaced(tree: Tree, meanings: Mapping[str, Tree]) -> Tree:
    return _Replacement(meanings).walk(tree)


class _Replacement(Walker[Tree]):
    def __init__(self, meanings: Mapping[str, Tree]) -> None:
        super().__init__()
        self.meanings = meanings

    def visit_Name(self, node: Name) -> Tree:
        return self.meanings.get(node.name, node)

    def visit_object(self, node: Tree) -> Visit[Tree]:
        return rebuilt(node, (yield from self.results(parts(node))))

    visit_Function = visit_Local = visit_object


class _Digest(Walker[bytes]):
    def visit_Local(self, node: Local) -> Visit[bytes]:
        # Fill the cached property here. If the property computed its value itself, it would recurse once per nested
        # Local.
        if "digest" not in vars(node):
            vars(node)["digest"] = yield node.term
        return node.digest

    def visit_object(self, node: Tree) -> Visit[bytes]:
        total = sha256(type(node).__name__.encode())
        for each in fields(node):
            if each.compare:
                total.update(b"=" + (yield from self.field_digest(getattr(node, each.name))))
        return total.digest()

    visit_Function = visit_object

    def field_digest(self, value: Any) -> Visit[bytes]:
        """Return the bytes for the value of a field: a tree, a number, a name, or several of these."""
        if is_dataclass(value):
            return (yield value)
        if isinstance(value, dict):
            value = tuple(each for item in value.items() for each in item)
        if not isinstance(value, tuple):
            return repr(value).encode()
        total = sha256()
        for each in value:
            total.update(b"," + (yield from self.field_digest(each)))
        return total.digest()


def as_sent(update: Tree, assumed: tuple[Tree, ...] = ()) -> Tree:
    """Return an update in the form that a deployed sender executes.

    If a path ends in a law, the function drops the path's assumptions. These assumptions concern the law's bounds,
    which exist only for solvers. On other paths, the assumptions move to the end.
    """
    match update:
        case If(test, then, Impossible()):
            return as_sent(then, (*assumed, test))
        case If(test, then, other):
            return If(test, as_sent(then, assumed), as_sent(other, assumed))
        case NextState(values) if any(isinstance(value, Bounded) for value in values.values()):
            return update
    for test in reversed(assumed):
        update = If(test, update, Impossible())
    return update
