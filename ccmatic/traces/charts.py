"""The charts of a trace, common to drawings and pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from ccmatic.base import BYTES, RATE, TIME, InputError, Unit

if TYPE_CHECKING:
    from ccmatic.traces.trace import Trace

#: The dash patterns of lines by rank, in points: none, or (offset, (on, off)). Lines that coincide all stay visible.
DASHES = (None, (0, (6, 6)), (0, (3, 9)), (6, (3, 9)))

#: Lines coincide if they are closer than this share of their chart's height.
NEAR = 1 / 100


def scales(trace: "Trace") -> dict[Unit, Fraction]:
    """Return the divisor, by unit, that converts a trace's numbers to C·R_m, C and R_m.

    Raises:
        InputError: The trace has no step, or C or R_m is not above 0.
        KeyError: The trace has no C or R_m.
    """
    C, R_m = (trace.constants[name] for name in ("C", "R_m"))
    if not (trace.horizon > 0 and C > 0 and R_m > 0):
        raise InputError("cannot draw the trace; expected at least a step, C > 0 and R_m > 0")
    return {BYTES: C * R_m, RATE: C, TIME: R_m}


class Form(Enum):
    """The meaning of a line's values.

    Attributes:
        POINTS: Values at instants, with straight lines between.
        HELD: Each value holds until the next step.
        STEPS: Each value belongs to the step that ends at its instant.
    """

    POINTS = "points"
    HELD = "held"
    STEPS = "steps"


class Kind(Enum):
    """How a chart shows its lines.

    Attributes:
        LINES: Over one axis.
        STACK: As areas on top of each other.
        STRIPS: As a row for each condition, filled where it is true.
    """

    LINES = "lines"
    STACK = "stack"
    STRIPS = "strips"


@dataclass(frozen=True)
class Line:
    """A line, an area of a stack, or a row of strips.

    Attributes:
        label: The text beside its end.
        values: An exact number for each step, in the chart's unit.
        role: The key of its colour in canvas.ROLES.
        form: The meaning of its values.
    """

    label: str
    values: tuple[Fraction, ...]
    role: str
    form: Form = Form.HELD

    def areas(
        self, low: Sequence[float], high: Sequence[float]
    ) -> Iterator[tuple[int, tuple[float, float], tuple[float, float]]]:
        """Yield the areas between two lines of floats, as a line of a stack has them; skip steps without an area.

        Each area is (step, lower values, upper values), where values are a pair: at its beginning and at its end.
        """
        for t in range(1, len(high)):
            begin = t if self.form is Form.STEPS else t - 1
            bottom, top = (low[begin], low[t]), (high[begin], high[t])
            if bottom != top:
                yield t, bottom, top


@dataclass(frozen=True)
class Chart:
    """One chart.

    Attributes:
        title: The title.
        unit: The unit of its values, as people read it; empty if they have none.
        lines: The Lines, in the order of drawing.
        kind: How it shows the lines.
        link: Whether it shows the link's rate, 1 C.
        cut: The largest value that it shows; None if it shows all.
    """

    title: str
    unit: str
    lines: tuple[Line, ...]
    kind: Kind = Kind.LINES
    link: bool = False
    cut: int | None = None

    @property
    def heading(self) -> str:
        """The title and the unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value of its axis, as floats."""
        if self.kind is Kind.STRIPS:
            return 0.0, float(len(self.lines))
        shown = [value for line in self.stacked() for value in line.values if self.cut is None or value <= self.cut]
        low, high = float(min([Fraction(0), *shown])), float(max([Fraction(self.link), *shown]))
        return low, high + 0.08 * (high - low) if high > low else low + 1.0

    def stacked(self) -> tuple[Line, ...]:
        """Return the Lines as they are drawn: in a stack, each on top of those before."""
        if self.kind is not Kind.STACK:
            return self.lines
        tops: tuple[Fraction, ...] = (Fraction(0),) * len(self.lines[0].values)
        drawn = []
        for line in self.lines:
            tops = tuple(top + value for top, value in zip(tops, line.values, strict=True))
            drawn.append(Line(line.label, tops, line.role, line.form))
        return tuple(drawn)

    def ranks(self) -> list[int]:
        """Return the rank of each line: 0, or one above all earlier lines with which it coincides for a step."""
        low, high = self.range
        near = NEAR * (high - low)
        ranks: list[int] = []
        for index, line in enumerate(self.lines):
            below = [ranks[i] for i, other in enumerate(self.lines[:index]) if _coincide(line, other, near)]
            ranks.append(min(1 + max(below), len(DASHES) - 1) if below else 0)
        return ranks


def _coincide(line: Line, other: Line, near: float) -> bool:
    """Return whether two lines are at most this far apart for a whole step."""
    close = [abs(a - b) <= near for a, b in zip(line.values, other.values, strict=True)]
    return any(here and there for here, there in pairwise(close)) or (len(close) == 1 and close[0])
