"""Worlds, how each may round, and how a cell is checked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

from ccmatic.base import InputError


class Number(NamedTuple):
    """An exact output.

    value: a number or a truth.
    unit: the smallest step in which a world of integers keeps it.
    up: whether such a world rounds it up, as upper bounds are.
    off: by how much such a world may be off before it rounds, as laws that are not linear are in C.
    size: the size of the terms that it is a sum of; a world of floats rounds each of them.
    near: gives the value in float32, whose comparisons may come out otherwise where both sides are nearly equal.
    """

    value: Any
    unit: Fraction = Fraction(1)
    up: bool = False
    off: Fraction = Fraction(0)
    size: Any = None
    near: Callable[[], Any] | None = None


def exact(number, output):
    """The very number."""
    return output == number.value


def rounded(number, output):
    """Less than a unit from the exact number: below it, or above it for an upper bound."""
    if isinstance(number.value, bool):
        return bool(output) is number.value
    short = (output - number.value) if number.up else (number.value - output)
    return -number.off <= short < number.unit + number.off


def within(relative):
    """At most a share of the size of the number's terms away."""

    def is_near(value, size, output):
        if isinstance(value, bool):
            return bool(output) is value
        return abs(output - value) <= relative * max(abs(value), 1 if size is None else size)

    def agrees(number, output):
        if is_near(number.value, number.size, output):
            return True
        return number.near is not None and is_near(number.near(), number.size, output)

    return agrees


class World(NamedTuple):
    """A form in which definitions run. agrees: whether an output is near enough to an exact Number; rounding, why: how
    far it may be, and why. count: of cases in the default sample of a cell."""

    agrees: Callable[[Number, Any], bool]
    rounding: str
    why: str
    count: int


#: How far each world may be from the exact value, and why.
WORLDS = {
    "formula": World(exact, "exact", "linear terms have rational coefficients", 12),
    "solver": World(exact, "exact", "a solver decides linear real arithmetic exactly", 3),
    "tree": World(exact, "exact", "it computes with fractions", 20),
    "text": World(exact, "exact", "fractions are printed exactly, and read again", 20),
    "C": World(rounded, "less than a unit, to the safe side", "integers: what is kept or sent is rounded once", 60),
    "C floats": World(within(1e-5), "1e-5 of the largest term", "float32 has 24 bits; sums have up to 100 terms", 12),
    "arrays": World(within(1e-5), "1e-5 of the largest term", "float32 has 24 bits; up to 50 operations in turn", 4),
    "ONNX": World(within(1e-5), "1e-5 of the largest term", "as arrays, in an order that the runtime chooses", 12),
    "packets": World(exact, "no law broken", "whole packets, sampled at the ends of steps", 20),
    "replay": World(rounded, "less than 1 ns later", "the emulator's clock is in whole nanoseconds", 5),
    "fluid": World(exact, "no law broken", "whole bytes, sampled at the ends of slots", 1),
}


@dataclass(frozen=True)
class Kind:
    """Definitions of one sort.

    definitions: their names.
    cases: of a definition, a random generator and a count: inputs that obey what the definition may assume.
    exact: of a definition, a function from the arguments of one decision to the exact outputs, Numbers by name.
    worlds: by the world's name, a function from a definition to one that runs a case there: it yields (arguments,
        outputs) of each decision. It raises InputError if the world cannot carry the definition.
    accepts: the same for worlds that are relations: from a definition to a predicate of arguments and exact values.
    refused: (definition, world) pairs that are refused, with words of the message.
    may_refuse: words of messages with which a world may refuse any definition.
    weight: how many cases of controllers without state one case is worth.
    """

    name: str
    definitions: tuple[str, ...]
    cases: Callable[[str, Random, int], Iterator[Any]]
    exact: Callable[[str], Callable[[Any], dict[str, Number]]]
    worlds: dict[str, Callable[[str], Callable[[Any], Iterator[tuple[Any, dict[str, Any]]]]]]
    accepts: dict[str, Callable[[str], Callable[[Any, dict[str, Any]], bool]]] = field(default_factory=dict)
    refused: dict[tuple[str, str], str] = field(default_factory=dict)
    may_refuse: tuple[str, ...] = ()
    weight: int = 1


class Cell(NamedTuple):
    """One definition in one world."""

    kind: Kind
    definition: str
    world: str

    @property
    def count(self):
        """How many cases the default sample has."""
        return max(1, WORLDS[self.world].count // self.kind.weight)

    def __str__(self):
        return f"{self.kind.name}: {self.definition} in {self.world}"


class Disagreement(AssertionError):
    """A world gives another output than the definition."""


#: By how much a relation has to tell a wrong number from the right one.
_OFF = Fraction(1, 7)


def check(cell, seed, count):
    """Compare random cases of a definition.

    Returns the number of compared outputs, or the message of the refusal if the world refuses the definition as it
    should. Raises Disagreement.
    """
    kind, definition, world = cell
    words = kind.refused.get((definition, world))
    try:
        run = (kind.worlds.get(world) or kind.accepts[world])(definition)
    except InputError as error:
        if not any(each in str(error) for each in (*([words] if words else []), *kind.may_refuse)):
            raise Disagreement(f"{cell} is refused: {error}") from error
        return str(error)
    if words is not None:
        raise Disagreement(f"{cell} is carried; expected a refusal: {words}")
    rng = Random(f"{definition} {seed}")
    if world in kind.accepts:
        return sum(_check_relation(cell, run, case) for case in kind.cases(definition, rng, count))
    return sum(_check_outputs(cell, run, case) for case in kind.cases(definition, rng, count))


def _check_outputs(cell, run, case):
    compared, agrees, expected = 0, WORLDS[cell.world].agrees, cell.kind.exact(cell.definition)
    for arguments, outputs in run(case):
        numbers = expected(arguments)
        if numbers.keys() != outputs.keys():
            raise Disagreement(f"{cell} gives {sorted(outputs)}; expected {sorted(numbers)}")
        for name, number in numbers.items():
            if not agrees(number, outputs[name]):
                found = f"{name} is {outputs[name]}; expected {number.value}"
                raise Disagreement(f"{cell}: {found}, at {arguments}")
            compared += 1
    return compared


def _check_relation(cell, accepts, case):
    """That the formula accepts the exact outputs, and not any one of them changed."""
    values = {name: number.value for name, number in cell.kind.exact(cell.definition)(case).items()}
    if not accepts(case, values):
        raise Disagreement(f"{cell} does not accept {values}, at {case}")
    for name, value in values.items():
        for other in (not value,) if isinstance(value, bool) else (value - _OFF, value + _OFF):
            if accepts(case, values | {name: other}):
                raise Disagreement(f"{cell} accepts {name} = {other}; expected {value} alone, at {case}")
    return len(values)
