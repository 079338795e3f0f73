"""Estimates as text, as records, and as a picture: possible values as bands, and beliefs as lines."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isinf, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING

from ccmatic import records
from ccmatic.answers.estimation.senders import Estimate
from ccmatic.base import BYTES, RATE, TIME, aligned
from ccmatic.contracts import Model
from ccmatic.networks import traces
from ccmatic.networks.traces import BELIEF, JITTER, NETWORK, PROBE, SENDER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The quantities that have possible values: the fields of PossibleValues.
QUANTITIES = ("C", "queue", "delay", "waited")


def line(estimate: Estimate) -> records.EstimateLine:
    """Return an Estimate as the record that `estimate --json` prints."""
    ranges = {name: getattr(estimate.possible, name) for name in QUANTITIES}
    believed = {name: None if isinf(value) else Fraction(value) for name, value in estimate.declared.items()}
    return records.EstimateLine(estimate.t, **ranges, believed=believed)


def text(estimates: Sequence[Estimate]) -> str:
    """Return a table with one row per Estimate: first the possible values, then the beliefs."""
    names = list(estimates[0].declared)
    rows = [
        (estimate.t, *_ranges(estimate), *(_number(estimate.declared[name]) for name in names))
        for estimate in estimates
    ]
    return "\n".join(aligned([("t", *QUANTITIES, *names), *rows]))


def _ranges(estimate: Estimate) -> Iterator[str]:
    for name in QUANTITIES:
        bounds = getattr(estimate.possible, name)
        if bounds.least is None:
            yield "any"
        elif bounds.most is None:
            yield f"≥ {_number(bounds.least)}"
        elif bounds.least == bounds.most:
            yield _number(bounds.least)
        else:
            yield f"{_number(bounds.least)} … {_number(bounds.most)}"


def _number(value: Fraction | float) -> str:
    return "-" if isinf(value) else f"{float(value):.4g}"


#: The heading of each panel, and the unit of the beliefs in it, by the name of the panel's quantity.
PANELS = {
    "C": ("Link rate C", RATE),
    "queue": ("Queue", BYTES),
    "waited": ("Wait of the last byte served (steps)", TIME),
}

#: The colours of beliefs, in the order of use.
COLOURS = (BELIEF, SENDER, PROBE, JITTER)


def draw(estimates: Sequence[Estimate], model: Model, path: str | Path) -> None:
    """Draw Estimates of a model's beliefs to a file. The suffix selects PNG, SVG or PDF."""
    with traces.figure(path, (8, 6.4)) as figure:
        panels = zip(PANELS.items(), figure.subplots(len(PANELS), sharex=True), strict=True)
        for (name, (heading, unit)), axes in panels:
            axes.set_title(heading, loc="left", fontweight="bold")
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(color="#e6e6e6", linewidth=0.7)
            _panel(axes, estimates, name, [belief.name for belief in model.beliefs if belief.unit == unit])
            axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
        axes.set_xlabel("step")


def _panel(axes: "Axes", estimates: Sequence[Estimate], name: str, beliefs: Sequence[str]) -> None:
    steps, ranges = [estimate.t for estimate in estimates], [getattr(estimate.possible, name) for estimate in estimates]
    lines = {belief: [_float(estimate.declared[belief]) for estimate in estimates] for belief in beliefs}
    least, most = [_float(estimate.least) for estimate in ranges], [_float(estimate.most) for estimate in ranges]
    drawn = [value for column in (*lines.values(), least, most) for value in column if not isnan(value)]
    top = 1.1 * max(drawn, default=1)
    low, high = ([end if isnan(value) else value for value in column] for column, end in ((least, 0), (most, top)))
    axes.fill_between(steps, low, high, color=NETWORK, alpha=0.3, label="possible")
    for number, (belief, values) in enumerate(lines.items()):
        axes.plot(steps, values, ".-", markersize=4, linewidth=0.9, color=COLOURS[number % len(COLOURS)], label=belief)
    axes.set_ylim(0, top)


def _float(value: Fraction | float | None) -> float:
    return nan if value is None or isinf(value) else float(value)
