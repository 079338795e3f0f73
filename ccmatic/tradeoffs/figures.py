"""Figures 7 and 8 of the paper, and the figure of a family. They use floats, because no verdict depends on them."""

from itertools import cycle, pairwise

from ccmatic.networks import traces
from ccmatic.networks.traces import BELIEF, LARGE, LOSS, NETWORK, PROBE, QUIET, SENDER, SMALL, TRUTH
from ccmatic.records import BeliefSetLine

#: The colours of allowances and the dash patterns of controllers, in the order of use.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#666666")
DASHES = ((4, 2), (1, 1.5), (8, 2, 1, 2))

#: The colours and the markers for the values of T*, in the order of use.
FAMILY_COLOURS, MARKERS = (SENDER, NETWORK, PROBE, BELIEF), ("o", "s", "^", "D")

#: The parameters of Figure 8: C_Llambda in packets per R_m, T* and D in R_m, α in packets. The last parameter is the
#: duration of a probe that is too short, as a multiple of T*.
LEAST_RATE, MEASURED, JITTER, EXTRA, SHORT = 100, 1, 1, 10, 0.5


def draw_convergence(curves, rules, path, file):
    """Draw Figure 7: the number of round trips F⁻¹ of a ramp on a RampPath, against the rate that the ramp reaches.

    `curves` has the name and the points (k, F(k)) of each allowance. `rules` has the name and the points (round trips,
    rate) of each controller, whose line is dashed.
    """
    with traces.figure(file, (8.6, 5)) as figure:
        axes = figure.subplots()
        label = f"link rate C (packets per $R_m$), from $C_0$ = {path.start}"
        _prepare(axes, "Time to ramp up under a loss allowance", label)
        axes.set_ylabel("round trips of up to $R_m + β_s$")
        for colour, (name, ramp) in zip(cycle(COLOURS), curves):
            axes.plot(*_stairs(ramp), color=colour, linewidth=1.8, label=f"f = {name}")
        for dashes, (name, ramp) in zip(cycle(DASHES), rules):
            label = name.replace("R_m", "$R_m$")
            axes.plot(*_stairs(ramp), color=TRUTH, linewidth=1.1, linestyle=(0, dashes), label=label)
        axes.set(xscale="log", yscale="log", xlim=(float(path.start), float(path.end)))
        axes.set_ylim(bottom=0.9)
        title = f"at least, if at most f is lost\n($β_s$ = {path.buffer_time} $R_m$); dashed:\nas controllers probe"
        axes.legend(
            frameon=False,
            loc="upper left",
            bbox_to_anchor=(1.01, 1),
            title=title,
            fontsize=SMALL,
            title_fontsize=SMALL,
            alignment="left",
        )


def draw_beliefs(file):
    """Draw Figure 8: the links that explain the observations, and the loss of a probe on each link."""
    with traces.figure(file, (9.6, 4.2)) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        most, top = LEAST_RATE * (MEASURED + JITTER), LEAST_RATE * (MEASURED + JITTER) / MEASURED
        _prepare(left, "The belief set of CBR-delay", "buffer β (packets)")
        _prepare(right, "What a probe adds to the queue", "β, or queue (packets)")
        left.set_ylabel("link rate C (packets per $R_m$)")
        for axes in (left, right):
            _belief_set(axes, most, top)
        left.set(xlim=(0, 1.2 * most), ylim=(0.7 * LEAST_RATE, 1.25 * top))
        right.set_xlim(0, 1.2 * most)
        corners = (("$P_1$", LEAST_RATE * JITTER, LEAST_RATE), ("$P_2$", 0, top))
        for name, beta, rate in corners:
            left.plot(beta, rate, "o", color="#000000", clip_on=False)
            left.annotate(name, (beta, rate), xytext=(8, 6), textcoords="offset points")
        left.text(0.62 * most, 1.02 * LEAST_RATE, "$L_1$: $C = C_{L\\lambda}$", color=BELIEF, va="bottom")
        left.text(0.3 * most, 0.73 * top, "$L_2$: $C·T^* + β = C_{L\\lambda}(T^* + D)$", color=BELIEF)
        _probe(right, "Prb 1: over $T^*$", MEASURED, SENDER, top)
        _probe(right, f"Prb 2: over {SHORT} $T^*$", SHORT, LOSS, top)
        caption = (
            f"$C_{{L\\lambda}}$ = {LEAST_RATE} packets per $R_m$, $T^*$ = D = $R_m$, α = {EXTRA} packets. "
            "A probe may lose what lies between its line and $L_2$: at most α, or if it is shorter a share of C."
        )
        figure.supxlabel(caption, fontsize=SMALL, color=QUIET)


def beliefs():
    """Yield the numbers of Figure 8: the corners of the belief set, and the largest losses at each corner.

    Each corner has two losses: that of a probe of the duration T*, and that of a shorter probe.
    """
    corners = {"P1": (LEAST_RATE, LEAST_RATE * JITTER), "P2": (LEAST_RATE * (MEASURED + JITTER) // MEASURED, 0)}
    for name, (rate, buffer) in corners.items():
        lost = (max(0, int(_queue(T, rate)) - buffer) for T in (MEASURED, SHORT))
        yield BeliefSetLine(8, name, rate, buffer, *lost)


def _queue(T, rate):
    """Return the growth of a link's queue by a probe with C_Llambda·(T* + D) + α bytes over the time T."""
    return LEAST_RATE * (MEASURED + JITTER) + EXTRA - rate * T


def _belief_set(axes, most, top):
    rates = [LEAST_RATE, top, 2 * top]
    least = [max(0, most - rate * MEASURED) for rate in rates]
    axes.fill_betweenx(rates, least, [2 * most] * 3, color=BELIEF, alpha=0.15, linewidth=0)
    axes.plot(least[:2], rates[:2], color=BELIEF, linewidth=2)
    axes.plot([least[0], 2 * most], [LEAST_RATE] * 2, color=BELIEF, linewidth=2)


def _probe(axes, name, T, colour, top):
    rates = [LEAST_RATE, top]
    added = [_queue(T, rate) for rate in rates]
    axes.plot(added, rates, color=colour, linewidth=1.6)
    lost = max(added[1], added[0] - LEAST_RATE * JITTER)
    axes.annotate(
        f"{name}\nloses up to {lost:g}",
        (added[1], top),
        xytext=(4, 8),
        textcoords="offset points",
        color=colour,
        fontsize=SMALL,
    )


def _stairs(ramp):
    points = [(float(rate), k) for (_, before), (k, after) in pairwise(ramp) for rate in (before, after)]
    return zip(*points, strict=True) if points else ((), ())


def _prepare(axes, title, label):
    axes.set_title(title, loc="left", fontsize=LARGE, fontweight="bold")
    axes.set_xlabel(label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)


def draw_family(points, path, others=()):
    """Draw loss against convergence time: Theorem 6.1's bound, the family cc_probe_slow_k, and other senders.

    `points` are those of `family.points`. Each of the `others` has a name, the packets lost, and the time until the
    first loss in R_m.
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
        colour, times = FAMILY_COLOURS[i % len(FAMILY_COLOURS)], [float(point.convergence) for point in mine]
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
