"""Draw a run: the rate, the window and the delay of each flow, beside the undisturbed run."""

from pathlib import Path
from typing import Any

import numpy as np

from ccmatic import records
from ccmatic.judging.rules import Run
from ccmatic.judging.rules.measures import arrivals, windows
from ccmatic.judging.rules.premises import spans
from ccmatic.judging.scenario import SECOND
from ccmatic.networks import traces
from ccmatic.networks.traces import JITTER, LOSS, NETWORK, SENDER

#: The largest number of bins and of dots in a drawing; and the colours of flows.
BINS, POINTS, COLOURS = 200, 4000, (SENDER, "#E69F00", NETWORK, "#CC79A7")


def draw(run: Run, path: str | Path, title: str, undisturbed: Run | None = None, at: int | None = None) -> None:
    painters = {"Arrivals (Mbit/s)": _rates, "Window (kB)": _windows, "Delay (ms)": _delays}
    with traces.figure(path, (8, 7)) as figure:
        figure.suptitle(title, fontsize=10, parse_math=False)
        panels = figure.subplots(len(painters), sharex=True)
        for axes, (name, painter) in zip(panels, painters.items(), strict=True):
            axes.set_title(name, loc="left", fontweight="bold")
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(color="#e6e6e6", linewidth=0.7)
            if undisturbed is not None:
                painter(axes, undisturbed, lambda number: "#bbbbbb")
            painter(axes, run, lambda number: COLOURS[number % len(COLOURS)])
            _events(axes, run)
            if at is not None:
                axes.axvline(at / SECOND, color=LOSS, linewidth=1, linestyle=":")
            axes.set_ylim(bottom=0)
        panels[-1].set_xlim(0, run.scenario.duration / SECOND)
        panels[-1].set_xlabel("time (s)")


def _events(axes: Any, run: Run) -> None:
    """Shade the events of a scenario."""
    for event in run.scenario.events:
        length = max(getattr(event, "length", 0), run.scenario.duration // 500)
        colour = LOSS if isinstance(event, records.LossEvent) else JITTER
        axes.axvspan(event.at / SECOND, (event.at + length) / SECOND, color=colour, alpha=0.25, linewidth=0)


def _rates(axes: Any, run: Run, colour: Any) -> None:
    edges = np.linspace(0, run.scenario.duration, max(2, min(BINS, run.scenario.duration // run.scenario.rtt + 1)))
    for number in range(len(run.scenario.flows)):
        times, sizes = arrivals(run, number)
        got, _ = np.histogram(times, edges, weights=sizes)
        axes.plot((edges[1:] + edges[:-1]) / 2 / SECOND, got * 8e3 / np.diff(edges), color=colour(number))
    for begin, end, bits in spans(run.scenario):
        axes.plot([begin / SECOND, end / SECOND], [bits / 1e6] * 2, color="#000000", linestyle="--", linewidth=0.8)


def _windows(axes: Any, run: Run, colour: Any) -> None:
    for number in range(len(run.scenario.flows)):
        times, values = windows(run, number)
        axes.plot(times / SECOND, values / 1000, color=colour(number), drawstyle="steps-post", linewidth=1)


def _delays(axes: Any, run: Run, colour: Any) -> None:
    for number in range(len(run.scenario.flows)):
        kept = run.packets[(run.packets["released"] >= 0) & (run.packets["flow"] == number)]
        kept = kept[:: max(1, len(kept) // POINTS)]
        delays = (kept["released"] - kept["arrival"]) / 1e6
        axes.plot(kept["arrival"] / SECOND, delays, ".", markersize=2, color=colour(number))
