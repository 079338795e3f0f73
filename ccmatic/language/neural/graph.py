"""A network as a list of statements over vectors of exact numbers."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

#: A vector of exact numbers, and a matrix with one row per output.
Row: TypeAlias = tuple[Fraction, ...]
Rows: TypeAlias = tuple[Row, ...]

#: The keys of the metadata that name a proof: the claims, and the digests of the files of their proofs.
CLAIMS, PROOFS = "ccmatic.claims", "ccmatic.proofs"


@dataclass(frozen=True)
class Layer:
    """The statement `weights` times a vector, plus `bias`."""

    source: str
    weights: Rows
    bias: Row


@dataclass(frozen=True)
class Scaled:
    """The statement that multiplies each number of a vector by a factor, and adds an offset."""

    source: str
    factors: Row
    offsets: Row


@dataclass(frozen=True)
class Total:
    """The statement that adds two vectors."""

    left: str
    right: str


@dataclass(frozen=True)
class Extreme:
    """The statement that takes the largest or the smallest of each number of several vectors."""

    pick: Literal["max", "min"]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Bent:
    """The statement that applies a function to each number of a vector.

    Attributes:
        kind: The function: max(0, y), tanh(y), |y|, max(y, slope·y) with a slope of at most 1, or y within limits.
        source: The vector.
        slope: The slope of `leaky`.
        low: The lower limit of `clip`; None if there is no limit.
        high: The upper limit of `clip`; None if there is no limit.
    """

    kind: Literal["relu", "tanh", "abs", "leaky", "clip"]
    source: str
    slope: Fraction = Fraction(0)
    low: Fraction | None = None
    high: Fraction | None = None


@dataclass(frozen=True)
class Joined:
    """The statement that joins several vectors into one."""

    sources: tuple[str, ...]


@dataclass(frozen=True)
class Recurrent:
    """A gated recurrent unit (GRU) of one observation. Its next memory is (1 - z)·h + z·m for the memory m.

    With x for the observation and σ(y) = 1/(1 + e^-y), the gates are z = σ(`update`(x, m)) and r = σ(`reset`(x, m)),
    and h = tanh(`candidate`(x) + r·`recalled`(m)). Each of the four functions is (weights, bias), as in a Layer.

    Attributes:
        source: The vector of the observation.
        memory: The vector of the memory.
    """

    source: str
    memory: str
    update: tuple[Rows, Row]
    reset: tuple[Rows, Row]
    candidate: tuple[Rows, Row]
    recalled: tuple[Rows, Row]


Statement: TypeAlias = Layer | Scaled | Total | Extreme | Bent | Joined


@dataclass(frozen=True)
class Graph:
    """A network.

    Attributes:
        file: The path of its file, for messages.
        inputs: The shape of each input, by the input's name. A dimension without a number counts as 1.
        statements: The statements in order, by the name of the vector that a statement computes.
        outputs: The vector that each output of the network has, by the output's name.
        sizes: The number of numbers in each vector, by its name.
        notes: The metadata of the file that are plain words, by their key.
        recurrent: The unit with memory, by the name of the vector of its next memory; empty without such a unit.
    """

    file: str
    inputs: dict[str, tuple[int, ...]]
    statements: dict[str, Statement]
    outputs: dict[str, str]
    sizes: dict[str, int]
    notes: dict[str, str]
    recurrent: dict[str, Recurrent]
