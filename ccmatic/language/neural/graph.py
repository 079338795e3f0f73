"""A network as statements over vectors of exact numbers, and as units max(0, y), where y is linear."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from ccmatic.base import InputError

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


ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Form:
    """A linear form.

    Attributes:
        factors: The factor of each variable, by the variable's number. Inputs come first, then units.
        constant: The constant summand.
    """

    factors: dict[int, Fraction]
    constant: Fraction = ZERO

    def at(self, values: Sequence[Fraction]) -> Fraction:
        return sum((factor * values[name] for name, factor in self.factors.items()), self.constant)


def combined(pairs: Iterable[tuple[Fraction, Form]], constant: Fraction = ZERO) -> Form:
    factors: dict[int, Fraction] = {}
    for times, form in pairs:
        if not times:
            continue
        constant += times * form.constant
        for name, factor in form.factors.items():
            factors[name] = factors.get(name, ZERO) + times * factor
    return Form({name: factor for name, factor in factors.items() if factor}, constant)


@dataclass
class Piecewise:
    """A piecewise-linear function.

    Attributes:
        inputs: The number of inputs.
        units: The form y of each unit max(0, y), in order. A form reads inputs and earlier units.
        outputs: The forms of the outputs.
    """

    inputs: int
    units: list[Form] = field(default_factory=list)
    outputs: list[Form] = field(default_factory=list)

    def unit(self, form: Form) -> Form:
        """Return max(0, form) as a form. The function adds a unit if the form is not constant."""
        if not form.factors:
            return Form({}, max(ZERO, form.constant))
        self.units.append(form)
        return Form({self.inputs + len(self.units) - 1: ONE})

    def values(self, inputs: Sequence[Fraction]) -> list[Fraction]:
        """Return the exact values of all variables for the values of the inputs."""
        values = list(inputs)
        for form in self.units:
            values.append(max(ZERO, form.at(values)))
        return values


def piecewise(graph: Graph) -> Piecewise:
    """Return a network as a Piecewise, with inputs and outputs in the order of the graph, each flattened."""
    vectors: dict[str, list[Form]] = {}
    for name in graph.inputs:
        first = sum(map(len, vectors.values()))
        vectors[name] = [Form({first + place: ONE}) for place in range(graph.sizes[name])]
    made = Piecewise(sum(map(len, vectors.values())))
    for name, statement in graph.statements.items():
        if isinstance(statement, Bent) and statement.kind == "tanh":
            problem = f"{name} is a Tanh, which is not piecewise linear"
            raise InputError(f"{problem}; expected a network of Relu, Clip, Abs, LeakyRelu, Max or Min", graph.file)
        vectors[name] = _forms(made, statement, vectors)
    made.outputs = [form for vector in graph.outputs.values() for form in vectors[vector]]
    return made


def _forms(made: Piecewise, statement: Statement, vectors: dict[str, list[Form]]) -> list[Form]:
    match statement:
        case Layer(source, weights, bias):
            rows = zip(weights, bias, strict=True)
            return [combined(zip(row, vectors[source], strict=True), offset) for row, offset in rows]
        case Scaled(source, factors, offsets):
            triples = zip(factors, vectors[source], offsets, strict=True)
            return [combined([(factor, form)], offset) for factor, form, offset in triples]
        case Total(left, right):
            return [combined([(ONE, x), (ONE, y)]) for x, y in zip(vectors[left], vectors[right], strict=True)]
        case Joined(sources):
            return [form for source in sources for form in vectors[source]]
        case Extreme(pick, sources):
            columns = zip(*(vectors[source] for source in sources), strict=True)
            return [_extreme(made, ONE if pick == "max" else -ONE, column) for column in columns]
        case Bent(_, source):
            return [_bent(made, statement, form) for form in vectors[source]]


def _extreme(made: Piecewise, sign: Fraction, forms: Sequence[Form]) -> Form:
    best = forms[0]
    for form in forms[1:]:
        best = combined([(ONE, best), (sign, made.unit(combined([(sign, form), (-sign, best)])))])
    return best


def _bent(made: Piecewise, bent: Bent, form: Form) -> Form:
    match bent.kind:
        case "relu":
            return made.unit(form)
        case "abs":
            return combined([(Fraction(2), made.unit(form)), (-ONE, form)])
        case "leaky":
            return combined([(ONE - bent.slope, made.unit(form)), (bent.slope, form)])
    if bent.low is not None:
        form = combined([(ONE, made.unit(combined([(ONE, form)], -bent.low)))], bent.low)
    if bent.high is not None:
        form = combined([(-ONE, made.unit(combined([(-ONE, form)], bent.high)))], bent.high)
    return form
