"""The lanes of a trace: charts of the flows' shares of the link, and a lane of charts for each flow."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ccmatic import controllers
from ccmatic.base import BYTES, CONDITION, RATE, TIME, InputError, Unit
from ccmatic.contracts import Model, load_definition
from ccmatic.networks.traces.charts import Chart, Form, Kind, Line, scales

if TYPE_CHECKING:
    from ccmatic.networks.traces.trace import Trace

#: A sender's rate of at least this size, in units of C, stands for no limit.
UNLIMITED = 100

#: The largest rate, in units of C, that a chart shows.
CUT = 10

#: The roles of the lines for a sender's state, in the order of use.
STATE = ("belief", "probe", "truth", "jitter")

#: For each dimension, the title of the chart and the unit of the drawing.
UNITS: dict[Any, tuple[str, str]] = {BYTES: ("Window and state", "C·R_m"), RATE: ("Rates", "C"), TIME: ("Times", "R_m")}


@dataclass(frozen=True)
class Lane:
    """The charts of one flow.

    Attributes:
        number: The number of the flow, which starts at 1.
        controller: The name of the flow's controller, or empty.
        charts: The Charts of the flow.
    """

    number: int
    controller: str
    charts: tuple[Chart, ...]

    @property
    def title(self) -> str:
        return f"Flow {self.number}, {self.controller}" if self.controller else f"Flow {self.number}"


@dataclass(frozen=True)
class Lanes:
    """The lanes of all flows of a trace.

    Attributes:
        steps: The number of values in a line.
        shared: The charts about all flows together: their shares of the link, their waiting bytes, and the model's own
            columns.
        each: A Lane for each flow.
    """

    steps: int
    shared: tuple[Chart, ...]
    each: tuple[Lane, ...]

    @staticmethod
    def of(trace: "Trace", model: Model | None = None) -> "Lanes":
        """Return the Lanes of a Trace of windows; the model is by default the one that the trace names."""
        with suppress(InputError):
            model = model or load_definition("models", "MODEL", trace.query.get("model"))
        try:
            return _Reader(trace, model).lanes()
        except KeyError as error:
            raise InputError(f"cannot draw the trace: it has no {error.args[0]}") from None
        except OverflowError:
            raise InputError("cannot draw the trace: it has a number above 1e308") from None


def count(trace: "Trace") -> int:
    number = 1
    while f"A{number + 1}" in trace.columns:
        number += 1
    return number


class _Reader:
    def __init__(self, trace: "Trace", model: Model | None) -> None:
        self._trace, self._model, self._flows = trace, model, count(trace)
        self._scale: dict[Any, Fraction] = {**scales(trace)}
        self._parts, self._kept = _senders(trace, model, self._flows)
        self._left = dict.fromkeys(trace.columns)

    def lanes(self) -> Lanes:
        lanes = [self._lane(number) for number in range(1, self._flows + 1)]
        shared = [*([self._shares(lanes), self._waiting(lanes)] if self._flows > 1 else []), *self._own()]
        for chart in (*shared, *(chart for lane in lanes for chart in lane.charts)):
            _ = [float(value) for line in chart.lines for value in line.values]
        return Lanes(self._trace.horizon, tuple(shared), tuple(lanes))

    def _column(self, name: str, unit: Unit | str | None = BYTES) -> tuple[Fraction, ...]:
        self._left.pop(name, None)
        scale = self._scale.get(unit, 1)
        return tuple(Fraction(value) / scale for value in self._trace.columns[name])

    def _suffix(self, number: int) -> str:
        return str(number) if self._flows > 1 else ""

    def _lane(self, number: int) -> Lane:
        suffix = self._suffix(number)
        sent, served, lost, _, rate, window = (
            self._column(f"{name}{suffix}", RATE if name == "r" else BYTES)
            for name in ("A", "S", "L", "Ld", "r", "cwnd")
        )
        bytes_ = [Line(f"sent, A{suffix}", sent, "sent", Form.POINTS)]
        if f"K{suffix}" in self._left and suffix:
            let = self._column(f"K{suffix}")
            bytes_.append(Line(f"let through, K{suffix}", let, "truth", Form.POINTS))
        bytes_.append(Line(f"served, S{suffix}", served, "served", Form.POINTS))
        if any(lost):
            bytes_.append(Line(f"lost, L{suffix}", lost, "lost", Form.POINTS))
        by_unit: dict[Unit | str | None, list[Line]] = {
            BYTES: [Line(f"window, cwnd{suffix}", window, "sent")],
            RATE: [],
            TIME: [],
        }
        if min(rate) < UNLIMITED:
            by_unit[RATE].append(Line(f"rate, r{suffix}", rate, "sent", Form.STEPS))
        conditions: list[Line] = []
        others: list[Line] = []
        for name, unit in self._state(number):
            values = self._column(f"{name}{suffix}", unit)
            lines = conditions if unit == CONDITION else by_unit.get(unit, others)
            lines.append(Line(f"{name}{suffix}", values, STATE[(len(lines) - 1) % len(STATE)]))
        charts = [Chart("Bytes since the start", "C·R_m", tuple(bytes_))]
        for unit, lines in by_unit.items():
            if lines:
                title, shown = UNITS[unit]
                title = "Window" if unit == BYTES and len(lines) == 1 else title
                link = unit == RATE
                charts.append(Chart(title, shown, tuple(lines), link=link, cut=CUT if link else None))
        if conditions:
            charts.append(Chart("Conditions", "", tuple(conditions), Kind.STRIPS))
        if others:
            charts.append(Chart("Other state", "", tuple(others)))
        return Lane(number, self._parts[number - 1], tuple(charts))

    def _state(self, number: int) -> Iterator[tuple[str, Unit | str | None]]:
        """Yield the name and unit of each state of a flow's sender, and of the model's own columns for the flow."""
        suffix = self._suffix(number)
        for kept in self._kept:
            if kept.flow in (None, number) and f"{kept.name}{suffix}" in self._left:
                yield kept.name, kept.unit
        declared = self._model.declared() if self._model else {}
        for name in [name for name in self._left if suffix and name.endswith(suffix)]:
            if name in declared or not self._kept:
                yield name.removesuffix(suffix), declared[name].unit if name in declared else None

    def _shares(self, lanes: Sequence[Lane]) -> Chart:
        """Return the chart of the bytes that each flow has served per step, with its share of all served bytes."""
        served = [self._column(f"S{lane.number}") for lane in lanes]
        total = sum(column[-1] - column[0] for column in served)
        lines = []
        for lane, column in zip(lanes, served, strict=True):
            share = f" ({float(100 * (column[-1] - column[0]) / total):.3g} %)" if total else ""
            steps = (Fraction(0), *(after - before for before, after in pairwise(column)))
            lines.append(Line(f"flow {lane.number}{share}", steps, f"flow{lane.number}", Form.STEPS))
        return Chart("Shares of what is served, by flow and step", "C", tuple(lines), Kind.STACK, link=True)

    def _waiting(self, lanes: Sequence[Lane]) -> Chart:
        """Return the chart of the waiting bytes of each flow: the bytes sent that are neither lost nor served."""
        lines = []
        for lane in lanes:
            sent, lost, served = (self._column(f"{name}{lane.number}") for name in "ALS")
            waits = tuple(a - b - c for a, b, c in zip(sent, lost, served, strict=True))
            lines.append(Line(f"flow {lane.number}", waits, f"flow{lane.number}", Form.POINTS))
        return Chart("Bytes that wait, by flow", "C·R_m", tuple(lines), Kind.STACK)

    def _own(self) -> Iterator[Chart]:
        """Yield a chart for each unit of the model's own columns; skip the columns with a constant value."""
        declared = self._model.declared() if self._model else {}
        by_unit: dict[Unit | str | None, list[Line]] = {}
        for name in list(self._left):
            unit: Unit | str | None = declared[name].unit if name in declared else None
            values = self._column(name, None if self._model and name in self._model.measures else unit)
            if len(set(values)) > 1:
                lines = by_unit.setdefault(unit, [])
                lines.append(Line(name, values, STATE[len(lines) % len(STATE)]))
        for shown, lines in by_unit.items():
            one = declared.get(lines[0].label) if len(lines) == 1 else None
            title = f"{one.says[0].upper()}{one.says[1:]}" if one else "The link"
            yield Chart(title, UNITS[shown][1] if shown in UNITS else "", tuple(lines))


def _senders(trace: "Trace", model: Model | None, flows: int) -> tuple[list[str], Sequence[Any]]:
    """Return the name of each flow's controller (empty if unknown), and the state of all senders (empty if unknown)."""
    if trace.controller is None or model is None:
        return [""] * flows, ()
    with suppress(InputError):
        observations = model.observations
        read = controllers.parse(trace.controller, "", observations=observations)
        names = [each.name for each in controllers.each_of(read)]
        return names if len(names) == flows else [trace.controller_name or ""] * flows, read.state
    return [""] * flows, ()
