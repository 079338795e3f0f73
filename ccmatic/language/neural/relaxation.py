"""Linear relaxations of a network over a box of inputs, with bounds that hold exactly.

HiGHS, a floating-point solver, solves each linear program. Its answer is only a hint. The bound is computed from the
multipliers of the answer by weak duality, with whole numbers. So a wrong hint gives a weak bound, but no wrong bound.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccmatic.language.neural.graph import Form, Piecewise

#: Multipliers are rounded to multiples of 1/FINE, and slopes and bounds of units to multiples of 1/COARSE.
FINE, COARSE = 2**40, 2**30

_INFINITE = float("inf")


@dataclass(frozen=True)
class Range:
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class Answer:
    """The answer to a linear program.

    Attributes:
        bound: A lower bound of the objective, which holds exactly. None if no bound above `enough` is known.
        is_empty: Whether the program has no solution, which also holds exactly.
        values: The values of the variables at the optimum, rounded. Empty if HiGHS found no optimum.
        multipliers: The multiplier of each row, rounded.
    """

    bound: Fraction | None
    is_empty: bool
    values: NDArray[np.float64]
    multipliers: NDArray[np.float64]


class Relaxation:
    """A linear program whose solutions include all values of a network's variables over a box.

    The variables are those of the Piecewise, and last the slack t. A unit z = max(0, y) with y from l to u has two
    rows: z ≥ y, and z ≤ u·(y - l) / (u - l). A unit on its active side also has z ≤ y. A unit on its other side is 0.
    """

    def __init__(self, network: Piecewise, box: Sequence[Range]) -> None:
        import highspy

        self.network, self.box = network, [*box]
        self.ranges: list[Range] = []
        self._rows: list[NDArray[Any]] = []
        self._limits: list[tuple[Fraction | None, Fraction | None]] = []
        self._slack_rows: set[int] = set()
        self._scale = COARSE * lcm(*(each.denominator for form in network.units for each in form.factors.values()))
        self.slack = network.inputs + len(network.units)
        self.above: dict[int, int] = {}
        self.below: dict[int, int] = {}
        self.highs: Any = highspy.Highs()
        for option, value in (("output_flag", False), ("presolve", "off"), ("solver", "simplex"), ("threads", 1)):
            self.highs.setOptionValue(option, value)
        self.status = highspy.HighsModelStatus
        for each in self.box:
            self.highs.addVar(float(each.low), float(each.high))
        for _ in network.units:
            self.highs.addVar(0.0, 0.0)
        self.highs.addVar(-_INFINITE, _INFINITE)

    def add_unit(self, range_of_form: Range) -> None:
        """Add the next unit, whose form has values within a range."""
        number = len(self.ranges)
        low, high = _down(range_of_form.low), _up(range_of_form.high)
        self.ranges.append(Range(low, high))
        self.box.append(Range(Fraction(0), max(high, Fraction(0))))
        form, variable = self.network.units[number], self.network.inputs + number
        self.highs.changeColBounds(variable, 0.0, float(max(high, Fraction(0))))
        if high <= 0:
            return
        # z - y ≥ constant; equal if the unit is active.
        negated = {name: -factor for name, factor in form.factors.items()}
        constant = form.constant
        self.above[number] = self.add_row(negated | {variable: Fraction(1)}, constant, constant if low >= 0 else None)
        if low < 0:
            slope = _up(high / (high - low))
            scaled = {name: -slope * factor for name, factor in form.factors.items()}
            self.below[number] = self.add_row(scaled | {variable: Fraction(1)}, None, slope * (constant - low))

    def add_row(self, factors: Mapping[int, Fraction], low: Fraction | None, high: Fraction | None) -> int:
        whole = np.zeros(self.slack + 1, object)
        scale = lcm(self._scale, *(factor.denominator for factor in factors.values()))
        if scale != self._scale:
            self._rows = [row * (scale // self._scale) for row in self._rows]
            self._scale = scale
        for name, factor in factors.items():
            whole[name] = factor.numerator * (scale // factor.denominator)
        self._rows.append(whole)
        self._limits.append((low, high))
        if self.slack in factors:
            self._slack_rows.add(len(self._rows) - 1)
        ends = (-_INFINITE if low is None else float(low), _INFINITE if high is None else float(high))
        names = np.fromiter(factors, np.int32, len(factors))
        self.highs.addRow(*ends, len(names), names, np.array([float(each) for each in factors.values()]))
        return len(self._rows) - 1

    def fix(self, unit: int, is_active: bool | None) -> None:
        """Fix a unit to its active side (z = y) or to its other side (z = 0), or free it again."""
        variable = self.network.inputs + unit
        row, high = self.above[unit], max(self.ranges[unit].high, Fraction(0))
        low = self._limits[row][0]
        self._limits[row] = (low, low if is_active else None)
        assert low is not None
        self.highs.changeRowBounds(row, float(low), float(low) if is_active else _INFINITE)
        self.box[variable] = Range(Fraction(0), Fraction(0) if is_active is False else high)
        self.highs.changeColBounds(variable, 0.0, float(self.box[variable].high))

    def smallest(self, objective: Form, enough: float = -_INFINITE) -> Answer:
        """Return the smallest value of a form with its constant. Only a bound above `enough` is of interest."""
        costs = np.zeros(self.slack + 1)
        for name, factor in objective.factors.items():
            costs[name] = float(factor)
        self.highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)
        self.highs.run()
        status = self.highs.getModelStatus()
        multipliers, values = np.zeros(len(self._rows)), np.empty(0)
        if status == self.status.kOptimal:
            solution = self.highs.getSolution()
            multipliers, values = np.array(solution.row_dual), np.array(solution.col_value)
        elif status == self.status.kInfeasible:
            _, has_ray, ray = self.highs.getDualRay()
            if has_ray and self._is_empty(np.array(ray, np.float64)):
                return Answer(None, True, values, multipliers)
        if status == self.status.kOptimal and float(costs @ values) + float(objective.constant) <= enough:
            return Answer(None, False, values, multipliers)
        return Answer(self.lower_bound(objective, multipliers), False, values, multipliers)

    def _is_empty(self, ray: NDArray[np.float64]) -> bool:
        """Return whether a ray of multipliers proves that the program has no solution."""
        largest = float(np.abs(ray).max(initial=0.0)) or 1.0
        bounds = [self.lower_bound(Form({}), sign * ray / largest) for sign in (1, -1)]
        return any(bound is not None and bound > 0 for bound in bounds)

    def lower_bound(self, objective: Form, multipliers: NDArray[np.float64]) -> Fraction | None:
        """Return the lower bound of a form that multipliers of the rows prove; None if they prove no bound.

        With multipliers p > 0 of rows a·v ≥ l, and p < 0 of rows a·v ≤ u, weak duality says: the form c·v is at least
        the sum of all p·l and p·u, plus the smallest value of (c - p·a)·v over the box. This holds for any such p.
        """
        whole = [(int(row), round(float(multipliers[row]) * FINE)) for row in np.flatnonzero(multipliers)]
        chosen = self._without_slack(objective, [each for each in whole if self._end(*each) is not None])
        bound = objective.constant
        scale = lcm(FINE * self._scale, *(factor.denominator for factor in objective.factors.values()))
        rest = np.zeros(self.slack + 1, object)
        for name, factor in objective.factors.items():
            rest[name] = factor.numerator * (scale // factor.denominator)
        if chosen:
            rows = np.array([self._rows[row] for row, _ in chosen], object)
            weights = np.array([weight for _, weight in chosen], object)
            rest -= (weights @ rows) * (scale // (FINE * self._scale))
        for row, weight in chosen:
            bound += Fraction(weight, FINE) * (self._end(row, weight) or 0)
        if any(rest[len(self.box) :]):
            return None
        for number, each in zip(rest, self.box, strict=False):
            bound += Fraction(number, scale) * (each.low if number > 0 else each.high)
        return bound

    def _end(self, row: int, weight: int) -> Fraction | None:
        """Return the lower limit of a row for a multiplier above 0, the upper one for one below 0, else None."""
        return self._limits[row][0 if weight > 0 else 1] if weight else None

    def _without_slack(self, objective: Form, chosen: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return multipliers that were changed such that the slack's factor in the objective vanishes."""
        slack_rows = [(weight, row) for row, weight in chosen if row in self._slack_rows]
        if not slack_rows:
            return chosen
        wanted = -FINE if self.slack in objective.factors else 0
        changed, largest = dict(chosen), min(slack_rows)[1]
        changed[largest] += wanted - sum(weight for weight, _ in slack_rows)
        return [each for each in changed.items() if self._end(*each) is not None]


def _down(number: Fraction) -> Fraction:
    return Fraction(floor(number * COARSE), COARSE)


def _up(number: Fraction) -> Fraction:
    return Fraction(ceil(number * COARSE), COARSE)
