"""A drawing of a run: throughput, what packets wait for, and losses, over time."""

from itertools import pairwise

import numpy as np

from ccmatic import traces
from ccmatic.emulate.link import SECOND
from ccmatic.traces import JITTER, LOSS, NETWORK, SENDER

#: Of flows, in turn; bins and dots of a drawing, at most.
COLOURS = (SENDER, "#E69F00", NETWORK, "#CC79A7", JITTER, "#666666")
BINS, POINTS = 200, 4000


def draw(emulation, start, path):
    """Draw the run to a file: PNG, SVG or PDF, by the name's suffix. What is before `start` seconds is shaded. Raises
    InputError."""
    with traces.figure(path, (8, 6.6)) as figure:
        panels = figure.subplots(3, sharex=True, height_ratios=(2, 2, 1))
        painters = {"Throughput (Mbit/s)": _rates, "Delay (ms)": _delays, "Packets lost in R_m": _losses}
        for axes, (title, painter) in zip(panels, painters.items(), strict=True):
            axes.set_title(title, loc="left", fontweight="bold")
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(color="#e6e6e6", linewidth=0.7)
            axes.axvspan(0, start, color="#f2f2f2", linewidth=0)
            painter(axes, emulation)
            axes.set_ylim(bottom=0)
        panels[-1].set_xlim(0, emulation.duration / SECOND)
        panels[-1].set_xlabel("time (s)")
        if emulation.faults:
            figure.suptitle(f"not valid: {'; '.join(emulation.faults)}", color=LOSS, fontsize=9, parse_math=False)


def _rates(axes, emulation):
    """What leaves the bottleneck in bins of R_m, or longer ones, and what could."""
    log, link, end = emulation.log, emulation.link, emulation.duration
    edges = np.linspace(0, end, max(2, min(BINS, end // link.rtt + 1)))
    middles = (edges[1:] + edges[:-1]) / 2 / SECOND
    for number, name in enumerate(emulation.flows):
        mine = log[(log["flow"] == number) & (log["lost"] == 0)]
        served, _ = np.histogram(mine["admitted"], edges, weights=mine["size"])
        axes.plot(middles, served * 8e3 / np.diff(edges), color=COLOURS[number % len(COLOURS)], label=name)
    spans = pairwise(map(int, edges))
    offered = [link.capacity(start, stop) / (stop - start) / 1e6 for start, stop in spans]
    axes.stairs(offered, edges / SECOND, baseline=None, color="#000000", linestyle="--", label="link")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))


def _delays(axes, emulation):
    """The round trip of each packet, and what of it is the queue's."""
    kept = emulation.log[emulation.log["released"] >= 0]
    kept = kept[:: max(1, len(kept) // POINTS)]
    times = kept["arrival"] / SECOND
    axes.plot(times, (kept["released"] - kept["arrival"]) / 1e6, ".", markersize=2, color=JITTER, label="round trip")
    axes.plot(times, (kept["admitted"] - kept["arrival"]) / 1e6, ".", markersize=2, color=NETWORK, label="queueing")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1), markerscale=4)


def _losses(axes, emulation):
    """How many packets each span of R_m loses."""
    link, lost = emulation.link, emulation.log[emulation.log["lost"] != 0]["arrival"]
    counts = np.bincount(lost // link.rtt, minlength=1)
    spans = np.flatnonzero(counts)
    axes.vlines(spans * link.rtt / SECOND, 0, counts[spans], color=LOSS)
