"""The charts of a trace, which drawings and web pages share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from ccmatic.base import BYTES, RATE, TIME, InputError, Unit

if TYPE_CHECKING:
    from ccmatic.networks.traces.trace import Trace

#: The dash patterns of lines by rank, in points: None or (offset, (on, off)). With these patterns, lines that coincide
#: remain visible.
DASHES = (None, (0, (6, 6)), (0, (3, 9)), (6, (3, 9)))

#: Two lines coincide if their distance is below this share of their chart's height.
NEAR = 1 / 100


def scales(trace: "Trace") -> dict[Unit, Fraction]:
    """Return the divisor for each unit. It converts a trace's numbers to units of C·R_m, C and R_m."""
    C, R_m = (trace.constants[name] for name in ("C", "R_m"))
    if not (trace.horizon > 0 and C > 0 and R_m > 0):
        raise InputError("cannot draw the trace; expected at least a step, C > 0 and R_m > 0")
    return {BYTES: C * R_m, RATE: C, TIME: R_m}


class Form(Enum):
    """The relation of a line's values to time.

    Attributes:
        POINTS: Each value belongs to an instant, and straight lines connect the values.
        HELD: Each value holds until the next step.
        STEPS: Each value belongs to the step that ends at its instant.
    """

    POINTS = "points"
    HELD = "held"
    STEPS = "steps"


class Kind(Enum):
    """The way in which a chart shows its lines.

    Attributes:
        LINES: All lines share one axis.
        STACK: The lines are areas on top of each other.
        STRIPS: Each condition has a row, which is filled where the condition is true.
    """

    LINES = "lines"
    STACK = "stack"
    STRIPS = "strips"


@dataclass(frozen=True)
class Line:
    """A line of a chart, an area of a stack, or a row of strips.

    Attributes:
        label: The text beside the line's end.
        values: An exact number for each step, in the chart's unit.
        role: The key of the line's colour in canvas.ROLES.
        form: The relation of the values to time.
    """

    label: str
    values: tuple[Fraction, ...]
    role: str
    form: Form = Form.HELD

    def areas(
        self, low: Sequence[float], high: Sequence[float]
    ) -> Iterator[tuple[int, tuple[float, float], tuple[float, float]]]:
        """Yield the areas between two lines of floats, as a stack draws them, except in steps without an area.

        Each area is a tuple (step, lower values, upper values). Each of them is a pair: the value at the beginning and
        at the end of the step.
        """
        for t in range(1, len(high)):
            begin = t if self.form is Form.STEPS else t - 1
            bottom, top = (low[begin], low[t]), (high[begin], high[t])
            if bottom != top:
                yield t, bottom, top


@dataclass(frozen=True)
class Chart:
    """A chart of a trace.

    Attributes:
        title: The chart's title.
        unit: The unit of the chart's values, in a form for readers; empty if the values have no unit.
        lines: The Lines, in the order of drawing.
        kind: The way in which the chart shows its lines.
        link: Whether the chart shows the link's rate, 1 C.
        cut: The largest value that the chart shows; None if the chart shows all values.
    """

    title: str
    unit: str
    lines: tuple[Line, ...]
    kind: Kind = Kind.LINES
    link: bool = False
    cut: int | None = None

    @property
    def heading(self) -> str:
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value of the vertical axis, as floats."""
        if self.kind is Kind.STRIPS:
            return 0.0, float(len(self.lines))
        shown = [value for line in self.stacked() for value in line.values if self.cut is None or value <= self.cut]
        low, high = float(min([Fraction(0), *shown])), float(max([Fraction(self.link), *shown]))
        return low, high + 0.08 * (high - low) if high > low else low + 1.0

    def stacked(self) -> tuple[Line, ...]:
        """Return the Lines as the chart draws them: in a stack, each line lies on top of the earlier lines."""
        if self.kind is not Kind.STACK:
            return self.lines
        tops: tuple[Fraction, ...] = (Fraction(0),) * len(self.lines[0].values)
        drawn = []
        for line in self.lines:
            tops = tuple(top + value for top, value in zip(tops, line.values, strict=True))
            drawn.append(Line(line.label, tops, line.role, line.form))
        return tuple(drawn)

    def ranks(self) -> list[int]:
        """Return the rank of each line: one more than all earlier lines with which it coincides for a step, else 0."""
        low, high = self.range
        near = NEAR * (high - low)
        ranks: list[int] = []
        for index, line in enumerate(self.lines):
            below = [ranks[i] for i, other in enumerate(self.lines[:index]) if _coincide(line, other, near)]
            ranks.append(min(1 + max(below), len(DASHES) - 1) if below else 0)
        return ranks


def _coincide(line: Line, other: Line, near: float) -> bool:
    """Return whether the distance of two lines is at most `near` for a whole step."""
    close = [abs(a - b) <= near for a, b in zip(line.values, other.values, strict=True)]
    return any(here and there for here, there in pairwise(close)) or (len(close) == 1 and close[0])
