"""Draw estimates over time: possible values as bands, and beliefs as lines."""

from collections.abc import Sequence
from fractions import Fraction
from math import isinf, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING

from ccmatic.answers.estimation.estimate import Estimate
from ccmatic.base import BYTES, RATE, TIME
from ccmatic.contracts import Model
from ccmatic.networks import traces
from ccmatic.networks.traces import BELIEF, JITTER, NETWORK, PROBE, SENDER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The heading of each panel, and the unit of the beliefs in it, by the name of the panel's quantity.
PANELS = {
    "C": ("Link rate C", RATE),
    "queue": ("Queue", BYTES),
    "waited": ("Wait of the last byte served (steps)", TIME),
}

#: The colours of beliefs, in the order of use.
COLOURS = (BELIEF, SENDER, PROBE, JITTER)


def draw(estimates: Sequence[Estimate], model: Model, path: str | Path) -> None:
    """Draw Estimates of a model's beliefs to a file.

    Args:
        estimates: The Estimates.
        model: The Model.
        path: The path of the file. The suffix selects PNG, SVG or PDF.

    Raises:
        InputError: If the drawing cannot be made.
    """
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
    """Return a number for drawing. None and infinity become nan."""
    return nan if value is None or isinf(value) else float(value)
