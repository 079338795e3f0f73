"""The tightest envelope, by cases of the measured delay, that contains all decisions of a controller.

A decision is a network of units. All rates are in units of C_L, and all times in units of R_m. So one answer holds for
links of every rate.
"""

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import Any, NamedTuple

from ccmatic.base import InputError, OutOfTime, definitions
from ccmatic.controllers import Controller, parse
from ccmatic.language import (
    Binary,
    Comparison,
    Extreme,
    Function,
    If,
    Logic,
    Name,
    Not,
    Number,
    VectorWalker,
    Visit,
    comparisons,
    names,
    nodes,
)
from ccmatic.language.neural import Form, Piecewise, Range, combined, extremes

#: The names that a decision may read. The delay may occur only in conditions.
LOWER, UPPER = definitions.chosen("models.beliefs", "LINK_RATE")
DELAY = definitions.chosen("models.beliefs", "WAIT")
KNOWN = (LOWER, UPPER, "R_m", DELAY)

#: The variable of C_U in a form, until `min` limits it.
UNLIMITED = 0

ZERO, ONE = Fraction(0), Fraction(1)

_OPERATORS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


class Case(NamedTuple):
    """A range of measured delays in which all conditions of a controller have the same truth."""

    #: The condition that tells this case from the next ones, in the language; empty for the last case.
    test: str
    #: A delay of the case, in R_m.
    delay: Fraction


@dataclass(frozen=True)
class Decision:
    """A controller's rate in one case, in units of C_L."""

    network: Piecewise
    box: tuple[Range, ...]


def limits(controller: Controller) -> list[Fraction]:
    """Return the delays, in R_m, at which a condition of the controller changes its truth, in increasing order."""
    curved = next((node.name for node in nodes(controller.body) if isinstance(node, Function)), None)
    if curved:
        raise InputError(f"{controller.name} computes {curved}, which is not linear; expected ReLU", controller.file)
    for name in sorted(names(controller.body) - {*KNOWN}):
        expected = f"a network of {', '.join(KNOWN)} whose biases are multiples of C_L"
        raise InputError(f"{controller.name} reads `{name}`; expected {expected}", controller.file)
    found = set()
    for comparison in comparisons(controller.body):
        if not names(comparison) <= {DELAY, "R_m"}:
            raise InputError(f"{controller.name} has a condition on rates; expected max and min", controller.file)
        sides = [_Times(controller.file).walk(side) for side in (comparison.left, comparison.right)]
        slope = sides[0].get(DELAY, ZERO) - sides[1].get(DELAY, ZERO)
        if slope:
            found.add((sides[1].get("R_m", ZERO) - sides[0].get("R_m", ZERO)) / slope)
    return sorted(limit for limit in found if limit >= 0)


def decision(controller: Controller, delay: Fraction, least_upper: Fraction) -> Decision:
    """Return the decision of a controller at one delay, in R_m.

    C_U is at least `least_upper`, in units of C_L. It has no largest value, so it may occur only within `min`, beside a
    term with bounds.
    """
    walk = _Rates(controller, delay, least_upper)
    output = walk.walk(controller.body)
    if walk.is_unbounded(output):
        walk.refuse(controller.body, f"the rate grows with {UPPER}; expected a limit, such as min({UPPER}, 4 * C_L)")
    return walk.decision(output)


class _Times(VectorWalker):
    """The walk that returns a time as factors of the delay and of R_m."""

    WORLD = "meaning in a condition on the delay"

    def visit_Name(self, node: Name) -> dict[str, Fraction]:
        return {node.name: ONE}

    def visit_Number(self, node: Number) -> dict[str, Fraction]:
        return {"": node.value} if node.value else {}

    def visit_Binary(self, node: Binary) -> Visit[Any]:
        left, right = (yield node.left), (yield node.right)
        match node.op:
            case "+" | "-":
                sign = 1 if node.op == "+" else -1
                return {name: left.get(name, ZERO) + sign * right.get(name, ZERO) for name in {*left, *right}}
            case "*" if left.keys() <= {""}:
                return {name: number * left.get("", ZERO) for name, number in right.items()}
            case "*" if right.keys() <= {""}:
                return {name: number * right.get("", ZERO) for name, number in left.items()}
            case "/" if right.keys() == {""}:
                return {name: number / right[""] for name, number in left.items()}
        self.refuse(node, "a product of times; expected multiples of R_m")


class _Rates(VectorWalker):
    """The walk that returns a rate as a form of a network, in units of C_L. Its variables are numbered as they appear.

    Inputs and units have negative numbers until `decision`: inputs become -1, -3, … and units -2, -4, …
    """

    WORLD = "meaning in a piecewise-linear network"

    def __init__(self, controller: Controller, delay: Fraction, least_upper: Fraction) -> None:
        super().__init__(controller.file)
        self.delay, self.least_upper = delay, least_upper
        self.inputs: list[Range] = []
        self.units: list[Form] = []
        self.ranges: dict[int, Range] = {}
        self.limited: dict[Any, Form] = {}

    def decision(self, output: Form) -> Decision:
        numbers = {-1 - 2 * place: place for place in range(len(self.inputs))}
        numbers |= {-2 - 2 * place: len(self.inputs) + place for place in range(len(self.units))}

        def numbered(form: Form) -> Form:
            return Form({numbers[name]: factor for name, factor in form.factors.items()}, form.constant)

        network = Piecewise(len(self.inputs), [numbered(form) for form in self.units], [numbered(output)])
        return Decision(network, tuple(self.inputs))

    def is_unbounded(self, form: Form) -> bool:
        return UNLIMITED in form.factors

    def range(self, form: Form) -> Range:
        low = high = form.constant
        for name, factor in form.factors.items():
            ends = sorted((factor * self.ranges[name].low, factor * self.ranges[name].high))
            low, high = low + ends[0], high + ends[1]
        return Range(low, high)

    def visit_Number(self, node: Number) -> Form:
        return Form({}, node.value)

    def visit_Name(self, node: Name) -> Form:
        if node.name in (LOWER, "R_m"):
            return Form({}, ONE)
        if node.name == UPPER:
            return Form({UNLIMITED: ONE})
        self.refuse(node, f"`{node.name}` outside a condition; expected terms of rates")

    def visit_Binary(self, node: Binary) -> Visit[Any]:
        left, right = (yield node.left), (yield node.right)
        match node.op:
            case "+" | "-":
                return combined([(ONE, left), (ONE if node.op == "+" else -ONE, right)])
            case "*" if not left.factors:
                return combined([(left.constant, right)])
            case "*" if not right.factors:
                return combined([(right.constant, left)])
            case "/" if not right.factors and right.constant:
                return combined([(1 / right.constant, left)])
        self.refuse(node, "a product of two terms; expected a number times a term")

    def visit_If(self, node: If) -> Visit[Any]:
        return (yield node.then if (yield node.test) else node.other)

    def visit_Comparison(self, node: Comparison) -> bool:
        left, right = (
            sum(number * (self.delay if name == DELAY else ONE) for name, number in _Times().walk(side).items())
            for side in (node.left, node.right)
        )
        return bool(getattr(operator, _OPERATORS[node.op])(left, right))

    def visit_Logic(self, node: Logic) -> Visit[Any]:
        parts = yield from self.results(node.parts)
        return all(parts) if node.op == "and" else any(parts)

    def visit_Not(self, node: Not) -> Visit[Any]:
        return not (yield node.part)

    def visit_Extreme(self, node: Extreme) -> Visit[Any]:
        forms = yield from self.results(node.terms)
        unbounded = [form for form in forms if self.is_unbounded(form)]
        bounded = [form for form in forms if not self.is_unbounded(form)]
        best = self.extreme(node.pick, bounded) if bounded else None
        if not unbounded:
            return best
        shapes = [_shape(form) for form in unbounded]
        if node.pick == "max" or best is None or None in shapes:
            self.refuse(node, f"{UPPER} has no largest value; expected a limit, such as min({UPPER}, 4 * C_L)")
        near = self.range(best)
        least = min(shape[0] * self.least_upper + shape[1] for shape in shapes if shape)
        key = frozenset(shapes), frozenset(best.factors.items()), best.constant
        if key not in self.limited:
            self.limited[key] = self.fresh(Range(min(near.low, least), near.high))
        return self.limited[key]

    def fresh(self, near: Range) -> Form:
        """Return a new input as a form: min(C_U, y) takes any value of its range."""
        self.inputs.append(near)
        name = 1 - 2 * len(self.inputs)
        self.ranges[name] = near
        return Form({name: ONE})

    def extreme(self, pick: str, forms: Sequence[Form]) -> Form:
        sign = ONE if pick == "max" else -ONE
        best = forms[0]
        for form in forms[1:]:
            best = combined([(ONE, best), (sign, self.unit(combined([(sign, form), (-sign, best)])))])
        return best

    def unit(self, form: Form) -> Form:
        """Return max(0, form) as a form."""
        near = self.range(form)
        if near.low >= 0:
            return form
        if near.high <= 0:
            return Form({})
        self.units.append(form)
        name = -2 * len(self.units)
        self.ranges[name] = Range(ZERO, near.high)
        return Form({name: ONE})

    def weighted(self, weights: Any, vector: Any, bias: Any) -> Form:
        if any(self.is_unbounded(form) for form in vector):
            raise InputError(f"a layer reads {UPPER}, which has no largest value; expected min({UPPER}, 4 * C_L)")
        return combined(zip(weights, vector, strict=True), bias)


def _shape(form: Form) -> tuple[Fraction, Fraction] | None:
    """Return (k, c) of a form k·C_U + c with k > 0; None for another form."""
    factor = form.factors.get(UNLIMITED, ZERO)
    return (factor, form.constant) if len(form.factors) == 1 and factor > 0 else None


def cases(found: Sequence[Fraction]) -> Iterator[Case]:
    """Yield the cases that limits of the delay separate, from the largest delay down."""
    for limit, after in reversed([*zip(found, [*found[1:], None], strict=False)]):
        yield Case(f"{DELAY} > {limit} * R_m", limit + 1 if after is None else (limit + after) / 2)
        yield Case(f"{DELAY} >= {limit} * R_m" if limit else "", limit)
    if not found or found[0] > 0:
        yield Case("", found[0] / 2 if found else ZERO)


def units(controller: Controller) -> int:
    """Return the number of units of the decision that needs the most units, among all cases of the delay."""
    made = (decision(controller, case.delay, ONE) for case in cases(limits(controller)))
    return max(len(each.network.units) for each in made)


#: The ends of an envelope are multiples of C_L/GRID.
GRID = 64

_ABOUT = '"""The tightest envelope, in multiples of C_L/{grid}, that contains {name}."""'


def enclose(controller: Controller, seconds: float = 60, ordered: bool = False) -> str:
    """Return the text of an envelope that contains all decisions of a controller, for all beliefs and for every C.

    The ends are exact: rounded outward to a multiple of C_L/GRID, and no further.

    Args:
        controller: A controller that is a piecewise-linear network of beliefs.
        seconds: The time limit.
        ordered: Whether the envelope contains only the decisions for beliefs with C_L ≤ C_U.

    Raises:
        InputError: If the controller is no such network.
        OutOfTime: If the time was over.
    """
    if controller.is_envelope:
        raise InputError(f"{controller.name} is an envelope; expected a network", controller.file)
    end = monotonic() + seconds
    found = [*cases(limits(controller))]
    reads_upper = UPPER in names(controller.body) and not ordered
    lines = [_ABOUT.format(grid=GRID, name=controller.name), "", ""]
    lines += [f"def rate(C_L, {'C_U, ' if reads_upper else ''}R_m, qdel_L):"]
    if reads_upper:
        # C_U is at least C_L if both are true. The envelope also contains the decisions for other beliefs.
        anything = [_ends(controller, case, ZERO, end) for case in found]
        widest = Range(min(each.low for each in anything), max(each.high for each in anything))
        lines += ["    if C_U < C_L:", f"        {_returned(widest)}"]
    for case, ends in _merged(found, [_ends(controller, case, ONE, end) for case in found]):
        indent = "    " if not case.test else "        "
        lines += [*([f"    if {case.test}:"] if case.test else []), f"{indent}{_returned(ends)}"]
    return "\n".join([*lines, ""])


def is_tightest(envelope: Controller, controller: Controller, ordered: bool = False, seconds: float = 60) -> bool:
    """Return whether an envelope is the one that `enclose` returns for a controller."""
    return bool(parse(enclose(controller, seconds, ordered), envelope.name).meaning == envelope.meaning)


def _ends(controller: Controller, case: Case, least_upper: Fraction, end: float) -> Range:
    made = decision(controller, case.delay, least_upper)
    near = extremes(made.network, made.box, Fraction(1, GRID), end - monotonic())
    if near is None:
        raise OutOfTime(f"no envelope that contains {controller.name} was found in time")
    return near


def _merged(found: Sequence[Case], ends: Sequence[Range]) -> list[tuple[Case, Range]]:
    """Return the cases with their ends. A case is left out if the next one has the same ends."""
    pairs = [*zip(found, ends, strict=True)]
    return [pair for pair, after in zip(pairs, [*pairs[1:], None], strict=True) if after is None or after[1] != pair[1]]


def _returned(ends: Range) -> str:
    return f"return between({_times(ends.low)}, {_times(ends.high)})"


def _times(number: Fraction) -> str:
    return f"{number} * C_L" if number >= 0 else f"-{-number} * C_L"
