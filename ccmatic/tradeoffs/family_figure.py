"""The figure of loss against convergence time: Theorem 6.1's bound, the family cc_probe_slow_k, and other senders."""

from ccmatic.networks import traces
from ccmatic.networks.traces import BELIEF, LOSS, NETWORK, PROBE, SENDER, SMALL, TRUTH

#: The colours and the markers for the values of T*, in the order of use.
COLOURS, MARKERS = (SENDER, NETWORK, PROBE, BELIEF), ("o", "s", "^", "D")


def draw(points, path, others=()):
    """Draw the figure to a PNG, SVG or PDF file. The file's suffix selects the format.

    Args:
        points: The Points of `family.points`.
        path: The path of the file.
        others: Other senders. Each is a tuple: the name, the packets lost, and the time until the first loss in R_m.

    Raises:
        InputError: If the file cannot be written.
    """
    points = list(points)
    with traces.figure(path, (8, 5)) as figure:
        axes = figure.subplots()
        _bound(axes, points)
        _family(axes, points)
        for name, lost, time in others:
            axes.plot(float(lost), float(time), "x", color=LOSS, markersize=8, markeredgewidth=2)
            axes.annotate(name, (float(lost), float(time)), (7, -3), textcoords="offset points", color=LOSS)
        _dress(axes)


def _bound(axes, points):
    """Draw a bar at f(C) for each f. No line joins the bars, because the theorem is about single allowances."""
    bounds = {(float(point.allowed), float(point.bound), point.allowance) for point in points}
    losses, times = [loss for loss, *_ in bounds], [time for _, time, _ in bounds]
    axes.plot(
        losses,
        times,
        "_",
        color=TRUTH,
        markersize=26,
        markeredgewidth=2.5,
        label="Theorem 6.1: $F^{-1}(C)·(R_m + β_s)$",
    )
    for loss, time, name in bounds:
        axes.annotate(f"f = {name}", (loss, time), (0, -12), textcoords="offset points", ha="center", fontsize=SMALL)


def _family(axes, points):
    for i, probe in enumerate(sorted({point.probe for point in points})):
        mine = [point for point in points if point.probe == probe]
        used = [float(point.utilisation_P2) for point in mine]
        colour, times = COLOURS[i % len(COLOURS)], [float(point.convergence) for point in mine]
        allowed, lost = [float(point.allowed) for point in mine], [float(point.loss) for point in mine]
        axes.hlines(times, lost, allowed, color=colour, linewidth=1)
        axes.plot(
            allowed,
            times,
            MARKERS[i % len(MARKERS)],
            color=colour,
            label=f"cc_probe_slow, T* = {probe} $R_m$; uses {min(used):.0%} to {max(used):.0%} of $P_2$",
        )


def _dress(axes):
    axes.set_title("Loss against convergence time", loc="left", fontweight="bold")
    axes.set_xlabel("allowed loss, f(C); lines: down to the most that a probe lost (packets)")
    axes.set_ylabel("until the first loss is seen ($R_m$)")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.margins(0.1)
    axes.legend(frameon=False, fontsize=SMALL)
