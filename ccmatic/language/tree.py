"""A controller's rate as a tree: its classes, what is in one, its value, its sign."""

import operator
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class Number:
    """A literal."""

    value: Fraction


@dataclass(frozen=True)
class Name:
    """A parameter."""

    name: str


@dataclass(frozen=True)
class Past(Name):
    """What the name stood for `back` before: a term of known times."""

    back: object
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Binary:
    """left op right, with op one of + - * /; -x is 0 - x."""

    op: str
    left: object
    right: object
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Extreme:
    """The largest or the smallest of the terms: `pick` is max or min."""

    pick: str
    terms: tuple


@dataclass(frozen=True)
class If:
    """`then` where `test` holds, else `other`: an `if` statement or a conditional expression."""

    test: object
    then: object
    other: object


@dataclass(frozen=True)
class Comparison:
    """left op right, with op one of < <= > >= == !=."""

    op: str
    left: object
    right: object


@dataclass(frozen=True)
class Logic:
    """All of the parts (op is `and`) or at least one (op is `or`)."""

    op: str
    parts: tuple


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    part: object


@dataclass(frozen=True)
class Between:
    """What an envelope returns: any rate from low to high."""

    low: object
    high: object
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class AnyOf:
    """One of the terms: whichever the network chooses."""

    terms: tuple


@dataclass(frozen=True)
class CubeRoot:
    """The cube root of a number, in a law."""

    part: object


@dataclass(frozen=True)
class Bounded:
    """What a law says, linear or not: any number from low to high, which are proved to bound it where it is reached."""

    law: object
    low: object
    high: object
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Remembered:
    """How a path through an update ends: what each piece of state becomes, by name."""

    values: dict


@dataclass(frozen=True)
class Impossible:
    """How a path through an update ends that no execution takes: what it assumes there is not so."""


#: What the operators of a `Binary` and of a `Comparison` do to numbers.
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
ORDER = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_EXTREMES = {"max": max, "min": min}
_LOGIC = {"and": all, "or": any}


def parts(tree):
    """The trees that a tree is made of, in the order in which they are written; none of a leaf."""
    match tree:
        case Binary(_, left, right) | Comparison(_, left, right):
            return left, right
        case Extreme(_, several) | Logic(_, several) | AnyOf(several):
            return several
        case Between(low, high):
            return low, high
        case Bounded(law, low, high):
            return law, low, high
        case Remembered(values):
            return tuple(values.values())
        case Not(part) | CubeRoot(part):
            return (part,)
        case If(test, then, other):
            return test, then, other
    return ()


def comparisons(tree):
    """Yield the comparisons in a tree, but for those of a law, of which a solver knows the bounds alone."""
    if isinstance(tree, Comparison):
        yield tree
    for part in (tree.low, tree.high) if isinstance(tree, Bounded) else parts(tree):
        yield from comparisons(part)


def leaves(tree):
    """Yield the Numbers and Names in a tree, each as often as it stands there."""
    within = parts(tree)
    return (leaf for part in within for leaf in leaves(part)) if within else (tree,)


def names(tree):
    """The set of names of the parameters that a tree reads."""
    return {leaf.name for leaf in leaves(tree) if isinstance(leaf, Name)}


def value(tree, known=None):
    """The number, or the truth, that a tree says, as Python works it out. known: the values of the names in it."""

    def of(part):
        return value(part, known)

    match tree:
        case Number(number):
            return number
        case Name(name) if known:
            return known[name]
        case Binary(op, left, right):
            return ARITHMETIC[op](of(left), of(right))
        case Comparison(op, left, right):
            return ORDER[op](of(left), of(right))
        case Extreme(pick, terms):
            return _EXTREMES[pick](map(of, terms))
        case Logic(op, conditions):
            return _LOGIC[op](map(of, conditions))
        case Not(part):
            return not of(part)
        case If(test, then, other):
            return of(then if of(test) else other)
    raise TypeError(f"no number: {tree!r}")


def sign(tree):
    """1 if a term of numbers, R_m > 0 and D >= 0 is seen to be above 0, 0 if at least 0, -1 if neither is seen."""
    match tree:
        case Number(number):
            return (number > 0) - (number < 0)
        case Name(name):
            return {"R_m": 1, "D": 0}.get(name, -1)
        case Binary("+", left, right):
            return max(sign(left), sign(right)) if min(sign(left), sign(right)) >= 0 else -1
        case Binary("*" | "/", left, right):
            return min(sign(left), sign(right))
        case Extreme(pick, terms):
            return _EXTREMES[pick](map(sign, terms))
    return -1


def as_sent(update, assumed=()):
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
