"""Exact answers about one decision of a network, by branch and bound over the sides of its units."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf
from pathlib import Path
from time import monotonic
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ccmatic.base import InputError, counted, located
from ccmatic.language.neural.graph import ONE, ZERO, Form, Piecewise, combined, piecewise
from ccmatic.language.neural.onnx_reader import read
from ccmatic.language.neural.relaxation import Range, Relaxation
from ccmatic.language.neural.vnnlib import Case, Violation, read_property
from ccmatic.logic import Linear, Term, every, isolated, linear, real
from ccmatic.logic.solving import SAT, UNKNOWN, Checker, SolverOptions

#: The number of random inputs that are tried before the search, and the seed of their choice.
TRIES, SEED = 4096, 1

#: The limit on the units of a network, because the search needs memory for the square of this number.
MOST_UNITS = 2000

#: Inputs are evaluated exactly if floats find that they are a violation, or that they miss it by less than this number.
NEAR = 1e-6


@dataclass(frozen=True)
class Decision:
    """The answer about a property of one decision.

    Attributes:
        verdict: Whether the property holds. The answer is `unknown` if the time was over.
        inputs: The inputs of a violation, exact; None without a violation.
        outputs: The outputs for these inputs, exact.
        branches: The number of branches that the search examined.
        seconds: The time of the search.
    """

    verdict: Literal["holds", "violated", "unknown"]
    inputs: tuple[Fraction, ...] | None
    outputs: tuple[Fraction, ...] | None
    branches: int
    seconds: float


class _Late(Exception):
    """Raised when the time is over."""


class _Found(Exception):
    """Raised with the inputs of a violation."""


def decide(network: str | Path, property: str | Path, *, timeout: float | None = None) -> Decision:
    """Decide a property of one decision of a network, exactly (docs/reference/learning.md).

    The network is a function of exact numbers. An evaluation in floats can differ by its rounding errors.

    Args:
        network: An ONNX file of a network that is piecewise linear.
        property: A VNN-LIB 1.0 file, which describes a violation.
        timeout: The number of seconds for the search; None for no limit.

    Returns:
        The Decision. A violation contains inputs that show it.

    Raises:
        InputError: If a file contains no such network or property, the two do not fit each other, an input has no
            bounds, or highspy is not installed.
    """
    function, violation = piecewise(read(network)), read_property(property)
    with located(str(property)):
        return decide_function(function, violation, inf if timeout is None else timeout)


def decide_function(network: Piecewise, violation: Violation, seconds: float) -> Decision:
    """Do as `decide`, for what the files contain."""
    try:
        import highspy  # noqa: F401  a clear message before the search
    except ImportError:
        raise InputError("highspy is not installed; pip install 'ccmatic[rl]'") from None
    sizes = network.inputs, len(network.outputs)
    if sizes != (violation.inputs, violation.outputs):
        declared = (
            f"the property declares {counted(violation.inputs, 'input')} and {counted(violation.outputs, 'output')}"
        )
        raise InputError(f"{declared}; expected as many as the network has, {sizes[0]} and {sizes[1]}")
    if len(network.units) > MOST_UNITS:
        raise InputError(f"the network has {len(network.units)} units; expected at most {MOST_UNITS}")
    begin, branches = monotonic(), 0
    verdict: Literal["holds", "violated", "unknown"] = "holds"
    inputs = None
    cases = [_split(case, network.inputs) for case in violation.cases]
    try:
        for box, forms in cases:
            if any(each.low > each.high for each in box):
                continue
            search = _Search(network, box, forms, begin + seconds)
            try:
                search.run()
            finally:
                branches += search.branches
    except _Found as found:
        verdict, inputs = "violated", found.args[0]
    except _Late:
        verdict = "unknown"
    outputs = None
    if inputs is not None:
        values = network.values(inputs)
        outputs = tuple(form.at(values) for form in network.outputs)
        assert violates(violation, (*inputs, *outputs))
    return Decision(verdict, inputs, outputs, branches, monotonic() - begin)


def extremes(network: Piecewise, box: Sequence[Range], step: Fraction, seconds: float) -> Range | None:
    """Return a range that contains all values of a network's only output over a box; None if the time was over.

    Both ends are multiples of `step`. Each end is the multiple next to an extreme value, on the outer side. The search
    finds the ends exactly. If the output is constant, both ends may equal it.
    """
    [output], end = network.outputs, monotonic() + seconds
    if not output.factors:
        whole = output.constant / step
        return Range(floor(whole) * step, ceil(whole) * step)
    try:
        return Range(-_highest(network, box, -ONE, step, end), _highest(network, box, ONE, step, end))
    except _Late:
        return None


def _highest(network: Piecewise, box: Sequence[Range], sign: Fraction, step: Fraction, end: float) -> Fraction:
    """Return the smallest multiple of `step` above all values of the output, or of its negative if the sign is -1."""

    def search(threshold: Fraction) -> _Search:
        return _Search(network, [*box], [Form({network.inputs: -sign}, threshold)], end)

    form = combined([(sign, network.outputs[0])])
    relaxation = search(ZERO).relaxed()
    bound = relaxation.smallest(combined([(-ONE, form)])).bound
    low = floor(form.at(network.values([each.low for each in box])) / step) + 1
    high = floor((_interval(form, relaxation.box).high if bound is None else -bound) / step) + 1
    while low < high:
        middle = (low + high) // 2
        try:
            search(middle * step).run()
            high = middle
        except _Found as found:
            low = floor(form.at(network.values(found.args[0])) / step) + 1
    return high * step


def violates(violation: Violation, values: Sequence[Fraction]) -> bool:
    """Return whether inputs and outputs, in this order, are a violation."""
    return any(all(form.at(values) <= 0 for form in case) for case in violation.cases)


def _split(case: Case, inputs: int) -> tuple[list[Range], list[Form]]:
    lows: list[Fraction | None] = [None] * inputs
    highs: list[Fraction | None] = [None] * inputs
    others = []
    for form in case:
        match list(form.factors.items()):
            case [(name, factor)] if name < inputs:
                limit = -form.constant / factor
                if factor > 0:
                    highs[name] = _closer(min, highs[name], limit)
                else:
                    lows[name] = _closer(max, lows[name], limit)
            case _:
                others.append(form)
    box = []
    for name, (low, high) in enumerate(zip(lows, highs, strict=True)):
        if low is None or high is None:
            raise InputError(f"X_{name} has no {'lower' if low is None else 'upper'} bound; expected both in each case")
        box.append(Range(low, high))
    return box, others


def _closer(pick: Callable[..., Fraction], old: Fraction | None, new: Fraction) -> Fraction:
    return new if old is None else pick(old, new)


class _Search:
    """The search for a violation of one case: inputs of a box at which all forms are at most 0."""

    def __init__(self, network: Piecewise, box: list[Range], forms: list[Form], end: float) -> None:
        self.network, self.box, self.end = network, box, end
        self.branches = 0
        places = [Form({place: ONE}) for place in range(network.inputs)] + network.outputs
        self.forms = [combined(((k, places[n]) for n, k in form.factors.items()), form.constant) for form in forms]
        self.floats = _Floats(network, self.forms)

    def check_time(self) -> None:
        if monotonic() > self.end:
            raise _Late

    def run(self) -> None:
        dice = np.random.default_rng(SEED)
        lows, highs = (np.array([float(getattr(each, side)) for each in self.box]) for side in ("low", "high"))
        points = lows + (highs - lows) * dice.random((TRIES, len(self.box)))
        self.try_inputs(points[np.argmin(self.floats.excess(points))])
        self.relaxation = self.relaxed()
        for form in self.forms:
            factors = form.factors | {self.relaxation.slack: -ONE}
            self.relaxation.add_row(factors, None, -form.constant)
        self.branch()

    def try_inputs(self, point: NDArray[np.float64]) -> None:
        """Raise _Found if the inputs nearest to a point are a violation."""
        inputs = tuple(
            min(max(Fraction(float(number)), each.low), each.high)
            for number, each in zip(point[: len(self.box)], self.box, strict=True)
        )
        values = self.network.values(inputs)
        if all(form.at(values) <= 0 for form in self.forms):
            raise _Found(inputs)

    def relaxed(self) -> Relaxation:
        """Return a relaxation with all units. The relaxation of the earlier units gives the range of each unit."""
        made = Relaxation(self.network, self.box)
        for form in self.network.units:
            self.check_time()
            near = _interval(form, made.box)
            if near.low < 0 < near.high and any(name >= self.network.inputs for name in form.factors):
                lowest = made.smallest(form).bound
                highest = made.smallest(combined([(-ONE, form)])).bound
                low = near.low if lowest is None else max(near.low, lowest)
                near = Range(low, near.high if highest is None else max(low, min(near.high, -highest)))
            made.add_unit(near)
        return made

    def branch(self) -> None:
        """Divide the inputs by the sides of units, until each part has no violation."""
        stack: list[dict[int, bool]] = [{}]
        fixed: dict[int, bool] = {}
        objective = Form({self.relaxation.slack: ONE})
        while stack:
            self.check_time()
            sides = stack.pop()
            self.branches += 1
            for unit in fixed.keys() - sides.keys():
                self.relaxation.fix(unit, None)
            for unit, side in sides.items():
                if fixed.get(unit) is not side:
                    self.relaxation.fix(unit, side)
            fixed = sides
            answer = self.relaxation.smallest(objective, enough=0.0)
            if answer.is_empty or (answer.bound is not None and answer.bound > 0):
                continue
            if answer.values.size:
                point = answer.values[: len(self.box)]
                if self.floats.excess(point[None])[0] < NEAR:
                    self.try_inputs(point)
            chosen = self.choice(sides, answer.values, answer.multipliers)
            if chosen is None:
                self.decide_exactly(sides)
                continue
            likely = not answer.values.size or self.floats.form(chosen, answer.values) > 0
            stack += [sides | {chosen: not likely}, sides | {chosen: likely}]

    def choice(
        self, sides: dict[int, bool], values: NDArray[np.float64], multipliers: NDArray[np.float64]
    ) -> int | None:
        """Return the free unit that the relaxation describes worst, or None if no unit is free."""
        free = [unit for unit in self.relaxation.below if unit not in sides]
        if not free or not values.size:
            return free[0] if free else None
        scores = []
        for unit in free:
            low, high = float(self.relaxation.ranges[unit].low), float(self.relaxation.ranges[unit].high)
            slack = -low * high / (high - low)  # The distance of z ≤ u·(y - l) / (u - l) from z = max(0, y) at y = 0.
            gap = values[self.network.inputs + unit] - max(0.0, self.floats.form(unit, values))
            scores.append((slack * abs(multipliers[self.relaxation.below[unit]]), gap))
        return free[max(range(len(free)), key=scores.__getitem__)]

    @isolated
    def decide_exactly(self, sides: dict[int, bool]) -> None:
        """Decide the inputs for which all units have fixed sides, with a solver whose arithmetic is exact."""
        checker = Checker(SolverOptions(timeout=max(self.end - monotonic(), 0.001)))
        values: list[Term] = [real(f"X_{place}") for place in range(self.network.inputs)]
        inputs = [*values]
        for value, each in zip(inputs, self.box, strict=True):
            checker.add(every(value >= each.low, value <= each.high))
        for unit, form in enumerate(self.network.units):
            y = _term(form, values)
            is_active = sides.get(unit, self.relaxation.ranges[unit].low >= 0)
            checker.add(y >= 0 if is_active else y <= 0)
            values.append(y if is_active else 0)
        for form in self.forms:
            checker.add(_term(form, values) <= 0)
        answer = checker.check()
        if answer == UNKNOWN:
            raise _Late
        if answer == SAT:
            raise _Found(tuple(checker.value(value) for value in inputs))


def _term(form: Form, values: Sequence[Term]) -> Linear:
    return sum((linear(values[name]) * factor for name, factor in form.factors.items()), Linear({}, form.constant))


class _Floats:
    def __init__(self, network: Piecewise, forms: Sequence[Form]) -> None:
        self.inputs, count = network.inputs, network.inputs + len(network.units)
        self.units = [_dense(form, count) for form in network.units]
        self.forms = [_dense(form, count) for form in forms]

    def form(self, unit: int, values: NDArray[np.float64]) -> float:
        weights, constant = self.units[unit]
        return float(weights @ values[: len(weights)] + constant)

    def excess(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest form at each point (points, inputs), but at least -1."""
        values = np.zeros((self.inputs + len(self.units), len(points)))
        values[: self.inputs] = points.T
        values = values[:, 0] if len(points) == 1 else values  # A vector needs no threads.
        for number, (weights, constant) in enumerate(self.units, self.inputs):
            values[number] = np.maximum(0, weights[:number] @ values[:number] + constant)
        largest = np.full(len(points), -1.0)
        for weights, constant in self.forms:
            largest = np.maximum(largest, weights @ values + constant)
        return largest


def _dense(form: Form, count: int) -> tuple[NDArray[np.float64], float]:
    weights = np.zeros(count)
    for name, factor in form.factors.items():
        weights[name] = float(factor)
    return weights, float(form.constant)


def _interval(form: Form, box: Sequence[Range]) -> Range:
    low = high = form.constant
    for name, factor in form.factors.items():
        ends = sorted((factor * box[name].low, factor * box[name].high))
        low, high = low + ends[0], high + ends[1]
    return Range(low, high)
