"""A network as a list of units max(0, y), where y is linear in the inputs and in earlier units."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ccmatic.base import InputError
from ccmatic.language.neural.graph import Bent, Extreme, Graph, Joined, Layer, Scaled, Statement, Total

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
