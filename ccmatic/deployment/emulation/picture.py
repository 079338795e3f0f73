"""Draw a run as curves in time: throughput, the shares of several flows, delays, and losses."""

from itertools import pairwise

import numpy as np

from ccmatic.deployment.emulation import measures
from ccmatic.deployment.emulation.link import SECOND
from ccmatic.networks import traces
from ccmatic.networks.traces import JITTER, LOSS, NETWORK, SENDER

#: The colours of flows, in order; and the largest numbers of bins and of dots in a drawing.
COLOURS = (SENDER, "#E69F00", NETWORK, "#CC79A7", JITTER, "#666666")
BINS, POINTS = 200, 4000

#: Shares are drawn in bins of at least LONG R_m. There are at most FEW bins.
LONG, FEW = 10, 60


def draw(emulation, start, path):
    """Draw a run to a file. The first `start` seconds are shaded."""
    painters = {"Throughput (Mbit/s)": _rates, "Delay (ms)": _delays, "Packets lost in R_m": _losses}
    if len(emulation.flows) > 1:
        painters = {"Throughput (Mbit/s)": _rates, "Shares": _shares, **painters}
    heights = [1 if painter is _losses else 2 for painter in painters.values()]
    with traces.figure(path, (8, 1.6 + sum(heights))) as figure:
        panels = figure.subplots(len(painters), sharex=True, height_ratios=heights)
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
    """Draw the actual and the largest possible output rate of the bottleneck, in bins of at least R_m."""
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


def _shares(axes, emulation):
    """Draw the flows' shares of the bottleneck's output, stacked, and Jain's index of the flows that should send."""
    end = emulation.duration
    edges = np.linspace(0, end, max(2, min(FEW, end // (LONG * emulation.link.rtt)) + 1))
    rates = np.array([measures.rates(emulation, *span) for span in pairwise(map(int, edges))]).T
    middles = (edges[1:] + edges[:-1]) / 2 / SECOND
    colours = [COLOURS[number % len(COLOURS)] for number in range(len(rates))]
    axes.stackplot(middles, rates / np.maximum(rates.sum(axis=0), 1e-9), colors=colours, alpha=0.5, linewidth=0)
    there = [[first <= begin and until <= last for begin, until in pairwise(edges)] for first, last in emulation.spans]
    indices = [measures.jain(list(now[sends])) for now, sends in zip(rates.T, np.array(there).T, strict=True)]
    axes.plot(middles, [np.nan if index is None else index for index in indices], color="#000000", label="Jain's index")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))


def _delays(axes, emulation):
    """Draw the round trip of each packet, and the queueing delay that is a part of it."""
    kept = emulation.log[emulation.log["released"] >= 0]
    kept = kept[:: max(1, len(kept) // POINTS)]
    times = kept["arrival"] / SECOND
    axes.plot(times, (kept["released"] - kept["arrival"]) / 1e6, ".", markersize=2, color=JITTER, label="round trip")
    axes.plot(times, (kept["admitted"] - kept["arrival"]) / 1e6, ".", markersize=2, color=NETWORK, label="queueing")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1), markerscale=4)


def _losses(axes, emulation):
    """Draw the number of packets lost in each span of R_m."""
    link, lost = emulation.link, emulation.log[emulation.log["lost"] != 0]["arrival"]
    counts = np.bincount(lost // link.rtt, minlength=1)
    spans = np.flatnonzero(counts)
    axes.vlines(spans * link.rtt / SECOND, 0, counts[spans], color=LOSS)
