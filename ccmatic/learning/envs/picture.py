"""A picture of a running episode: throughput, RTT and loss in each interval so far."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The render modes of a LinkEnv: its metadata lists them.
MODES = ("rgb_array", "human")

#: The title of the panel for each measurement.
PANELS = {"throughput_mbit": "throughput (Mbit/s)", "rtt_ms": "RTT (ms)", "loss": "loss (share)"}

#: The size of the picture in inches, and its pixels per inch: 640 × 480 pixels, even numbers as videos require.
SIZE, DOTS = (6.4, 4.8), 100

#: The back ends of matplotlib that open no window.
_WITHOUT_WINDOWS = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template", "module://matplotlib_inline.backend_inline")


class Screen:
    """The picture of one LinkEnv.

    Attributes:
        has_begun: Whether an episode has begun.
    """

    def __init__(self, mode: str) -> None:
        self.has_begun = False
        self._mode = mode
        self._columns: dict[str, list[float]] = {name: [] for name in PANELS}
        self._drawn: Any = None

    def add(self, info: Mapping[str, Any], begins: bool) -> None:
        """Add the measurements of an interval. At the beginning of an episode, all earlier ones are removed."""
        self.has_begun = True
        for name, column in self._columns.items():
            if begins:
                column.clear()
            else:
                column.append(info[name])

    def pixels(self) -> NDArray[np.uint8]:
        """Return the picture as an array (height, width, 3)."""
        self._update()
        canvas = self._drawn[0].canvas
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()

    def show(self) -> None:
        """Show the picture in a window. Without a display, write a line about the last interval to standard error."""
        from matplotlib import pyplot

        if _has_display():
            self._update()
            pyplot.pause(0.001)
        elif any(self._columns.values()):
            last = ", ".join(f"{PANELS[name]} {column[-1]:.4g}" for name, column in self._columns.items())
            print(f"interval {len(self._columns['loss'])}: {last}", file=sys.stderr)

    def close(self) -> None:
        """Close the window."""
        if self._drawn is not None and self._mode == "human":
            from matplotlib import pyplot

            pyplot.close(self._drawn[0])
        self._drawn = None

    def _update(self) -> None:
        """Draw the lines of the picture anew. The first call makes the picture."""
        if self._drawn is None:
            self._drawn = self._figure()
        _, lines = self._drawn
        for line, column in zip(lines, self._columns.values(), strict=True):
            line.set_data(np.arange(1, len(column) + 1), column)
            line.axes.set_xlim(0, max(10, len(column)))
            line.axes.set_ylim(0, 1.05 * max([1e-3, *column]))

    def _figure(self) -> tuple[Any, list[Any]]:
        if self._mode == "human":
            from matplotlib import pyplot

            figure = pyplot.figure(figsize=SIZE, dpi=DOTS, layout="constrained")
        else:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

            figure = Figure(figsize=SIZE, dpi=DOTS, layout="constrained")
            FigureCanvasAgg(figure)
        panels, lines = figure.subplots(len(PANELS), sharex=True), []
        for axes, title in zip(panels, PANELS.values(), strict=True):
            axes.set_title(title, loc="left", fontsize=9)
            lines += axes.plot([], [])
        panels[-1].set_xlabel("interval")
        return figure, lines

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, without the drawing."""
        return {**vars(self), "_drawn": None}


def _has_display() -> bool:
    """Return whether matplotlib can open a window here."""
    import matplotlib
    from matplotlib import pyplot

    pyplot.get_fignums()  # Importing pyplot and calling it resolves which back end matplotlib uses.
    return matplotlib.get_backend().lower() not in _WITHOUT_WINDOWS
