"""A picture of a running episode: throughput, RTT and loss of each flow in each interval so far."""

import sys
from collections.abc import Mapping, Sequence
from math import nan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ccmatic.base import InputError, shown

#: The render modes of environments with one link: their metadata lists them.
MODES = ("rgb_array", "human")

#: The title of the panel for each measurement.
PANELS = {"throughput_mbit": "throughput (Mbit/s)", "rtt_ms": "RTT (ms)", "loss": "loss (share)"}

#: The size of the picture in inches, and its pixels per inch: 640 × 480 pixels, even numbers as videos require.
SIZE, DOTS = (6.4, 4.8), 100

#: The largest number of flows with a legend: matplotlib has as many colours.
NAMED = 10

#: The back ends of matplotlib that open no window.
_WITHOUT_WINDOWS = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template", "module://matplotlib_inline.backend_inline")

#: The measurements of an interval by name, for each flow that is present.
Measurements: TypeAlias = Mapping[str, Mapping[str, Any]]


def check_mode(render_mode: str | None) -> None:
    if render_mode is not None and render_mode not in MODES:
        raise InputError(f"unknown render_mode '{shown(render_mode)}'; expected {', '.join(MODES)} or None")


class Screen:
    """The picture of the flows of one link, in one of MODES; None draws nothing."""

    def __init__(self, mode: str | None, flows: Sequence[str]) -> None:
        check_mode(mode)
        self._mode, self._flows = mode, tuple(flows)
        self._intervals: list[Measurements] | None = None
        self._drawn: Any = None

    def begin(self) -> None:
        self._intervals = []
        if self._mode == "human":
            self._show()

    def add(self, interval: Measurements) -> None:
        if self._mode is None:
            return
        assert self._intervals is not None  # Each environment begins an episode before it plays an interval.
        self._intervals.append(interval)
        if self._mode == "human":
            self._show()

    def render(self) -> NDArray[np.uint8] | None:
        """Return the picture of the episode so far, (height, width, 3). In the mode `human`, show it."""
        if self._mode is None:
            return None
        if self._intervals is None:
            raise InputError("render before reset; expected reset first")
        if self._mode == "rgb_array":
            return self._pixels()
        self._show()
        return None

    def close(self) -> None:
        if self._drawn is not None and self._mode == "human":
            from matplotlib import pyplot

            pyplot.close(self._drawn)
        self._drawn = None

    def _pixels(self) -> NDArray[np.uint8]:
        self._update()
        self._drawn.canvas.draw()
        return np.asarray(self._drawn.canvas.buffer_rgba())[..., :3].copy()

    def _show(self) -> None:
        """Show the picture in a window. Without a display, write a line about the last interval to standard error."""
        from matplotlib import pyplot

        if _has_display():
            self._update()
            pyplot.pause(0.001)
        elif self._intervals:
            flows = "; ".join(f"{flow} {_text(values)}".lstrip() for flow, values in self._intervals[-1].items())
            print(f"interval {len(self._intervals)}: {flows}", file=sys.stderr)

    def _update(self) -> None:
        if self._drawn is None:
            self._drawn = self._figure()
        intervals = self._intervals or []
        for axes, name in zip(self._drawn.axes, PANELS, strict=True):
            highest = 1e-3
            for flow, line in zip(self._flows, axes.get_lines(), strict=True):
                column = [interval[flow][name] if flow in interval else nan for interval in intervals]
                line.set_data(np.arange(1, len(column) + 1), column)
                highest = max(highest, np.fmax.reduce(column, initial=0))
            axes.set_xlim(0, max(10, len(intervals)))
            axes.set_ylim(0, 1.05 * highest)

    def _figure(self) -> Any:
        if self._mode == "human":
            from matplotlib import pyplot

            figure = pyplot.figure(figsize=SIZE, dpi=DOTS, layout="constrained")
        else:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

            figure = Figure(figsize=SIZE, dpi=DOTS, layout="constrained")
            FigureCanvasAgg(figure)
        panels = figure.subplots(len(PANELS), sharex=True)
        for axes, title in zip(panels, PANELS.values(), strict=True):
            axes.set_title(title, loc="left", fontsize=9)
            for flow in self._flows:
                axes.plot([], [], label=flow)
        panels[-1].set_xlabel("interval")
        if 1 < len(self._flows) <= NAMED:
            figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)
        return figure

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_drawn": None}


def _text(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{title} {values[name]:.4g}" for name, title in PANELS.items())


def _has_display() -> bool:
    import matplotlib
    from matplotlib import pyplot

    pyplot.get_fignums()  # Importing pyplot and calling it resolves which back end matplotlib uses.
    return matplotlib.get_backend().lower() not in _WITHOUT_WINDOWS
