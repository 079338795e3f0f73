"""What a chart of a trace shows: the same in a drawing and on a page."""

from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from ccmatic.base import BYTES, RATE, TIME, InputError

#: The patterns of lines, by rank, in points: none, or (offset, (on, off)). Where lines coincide, all ranks can be seen.
DASHES = (None, (0, (6, 6)), (0, (3, 9)), (6, (3, 9)))

#: Lines that are nearer than this share of their chart's height coincide.
NEAR = 1 / 100


def scales(trace):
    """Return what a trace's numbers are divided by to be in C·R_m, C and R_m: a dict by unit.

    Raises:
        InputError: The trace has no step, or C or R_m is not above 0.
        KeyError: The trace has no C or R_m.
    """
    C, R_m = (trace.constants[name] for name in ("C", "R_m"))
    if not (trace.horizon > 0 and C > 0 and R_m > 0):
        raise InputError("cannot draw the trace; expected at least a step, C > 0 and R_m > 0")
    return {BYTES: C * R_m, RATE: C, TIME: R_m}


class Form(Enum):
    """What values of a line mean. POINTS: at instants, with straight lines between. HELD: each until the next step.
    STEPS: over the step before its instant."""

    POINTS = "points"
    HELD = "held"
    STEPS = "steps"


class Kind(Enum):
    """How a chart shows its lines. LINES: over one axis. STACK: as areas on top of each other. STRIPS: conditions, as a
    row each that is filled where it is true."""

    LINES = "lines"
    STACK = "stack"
    STRIPS = "strips"


@dataclass(frozen=True)
class Line:
    """A line, an area of a stack or a row of strips.

    Attributes:
        label: What it is, beside its end.
        values: An exact number for each step, in the chart's unit.
        role: Its colour, by what it is: a key of canvas.ROLES, or of canvas.FLOWS in a stack.
        form: What its values mean.
    """

    label: str
    values: tuple
    role: str
    form: Form = Form.HELD

    def areas(self, low, high):
        """Yield the areas of a line in a stack, between two lines of floats: a step, and the values below and above at
        its begin and its end. Steps without an area are left out."""
        for t in range(1, len(high)):
            begin = t if self.form is Form.STEPS else t - 1
            bottom, top = (low[begin], low[t]), (high[begin], high[t])
            if bottom != top:
                yield t, bottom, top


@dataclass(frozen=True)
class Chart:
    """One chart.

    Attributes:
        title: What it shows.
        unit: Of its values, as people read it; empty if they have none.
        lines: The Lines, in the order in which they are drawn.
        kind: How they are shown.
        link: Whether the link's rate, 1 C, is shown.
        cut: Values above it leave the chart; None if all are shown.
    """

    title: str
    unit: str
    lines: tuple
    kind: Kind = Kind.LINES
    link: bool = False
    cut: int | None = None

    @property
    def heading(self):
        """The title and the unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def range(self):
        """The least and the most that its axis shows, as floats."""
        if self.kind is Kind.STRIPS:
            return 0.0, float(len(self.lines))
        shown = [value for line in self.stacked() for value in line.values if self.cut is None or value <= self.cut]
        low, high = float(min([0, *shown])), float(max([1 if self.link else 0, *shown]))
        return low, high + 0.08 * (high - low) if high > low else low + 1.0

    def stacked(self):
        """The Lines as they are drawn: in a stack, each on top of those before."""
        if self.kind is not Kind.STACK:
            return self.lines
        tops, drawn = (0,) * len(self.lines[0].values), []
        for line in self.lines:
            tops = tuple(map(sum, zip(tops, line.values, strict=True)))
            drawn.append(Line(line.label, tops, line.role, line.form))
        return tuple(drawn)

    def ranks(self):
        """The rank of each line: 0, or above those of all lines before it with which it coincides for a step."""
        low, high = self.range
        near, ranks = NEAR * (high - low), []
        for index, line in enumerate(self.lines):
            below = [ranks[i] for i, other in enumerate(self.lines[:index]) if _coincide(line, other, near)]
            ranks.append(min(1 + max(below), len(DASHES) - 1) if below else 0)
        return ranks


def _coincide(line, other, near):
    """Whether two lines are so near for a step."""
    close = [abs(a - b) <= near for a, b in zip(line.values, other.values, strict=True)]
    return any(here and there for here, there in pairwise(close)) or (len(close) == 1 and close[0])
