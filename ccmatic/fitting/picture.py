"""Draw a fit: the jitter and link rate of each window over time."""

from ccmatic.networks import traces
from ccmatic.networks.traces import BELIEF, JITTER, NETWORK, PROBE, QUIET

#: The colours of the models, in order.
COLOURS = (JITTER, BELIEF, NETWORK, PROBE)


def draw(fitted, path):
    """Draw a fit to a file."""
    with traces.figure(path, (8, 4.8)) as figure:
        upper, lower = figure.subplots(2, sharex=True)
        panels = {"Least jitter D (ms), and R_m": upper, "Link rate C that gives it (Mbit/s)": lower}
        for title, axes in panels.items():
            axes.set_title(title, loc="left", fontweight="bold")
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(color="#e6e6e6", linewidth=0.7)
        for number, fit in enumerate(fitted.fits):
            middle, colour = fit.begin + fitted.window / 2, COLOURS[number % len(COLOURS)]
            upper.plot(middle, fit.jitters * 1e3, ".-", markersize=3, linewidth=0.7, color=colour, label=fit.model)
            lower.plot(middle, fit.rates * 8 / 1e6, ".-", markersize=3, linewidth=0.7, color=colour)
        upper.axhline(fitted.rtt * 1e3, color=QUIET, linestyle="--", linewidth=0.8)
        for axes in panels.values():
            axes.set_ylim(bottom=0)
        upper.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
        lower.set_xlabel("time (s)")
