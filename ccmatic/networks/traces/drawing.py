"""Drawings of a trace, for papers and pages. They use floats, because no verdict depends on them.

A trace of several flows has a chart of the flows' shares of the link, and below it a lane for each flow.
"""

from functools import partial
from io import BytesIO

from ccmatic.contracts import RunningMax, RunningMin
from ccmatic.networks.traces import canvas
from ccmatic.networks.traces.canvas import BELIEF, JITTER, LOSS, NETWORK, PROBE, QUIET, SENDER, TRUTH, require
from ccmatic.networks.traces.charts import DASHES, Form, Kind
from ccmatic.networks.traces.lanes import Lanes, count
from ccmatic.networks.traces.samples import CROWD, Samples

#: The height in inches of a drawing of one flow.
HEIGHT = 7.8

#: The largest belief about a rate, in units of C, that the panel of rates shows.
CUT = 10

#: Markers of matplotlib whose tip points at the value, for a lower and an upper bound.
FROM_BELOW, FROM_ABOVE = 6, 7


def draw_trace(trace, path, model=None):
    """Draw a trace of any number of flows as PNG, SVG or PDF; the model is by default the one that the trace names."""
    require(path)
    size, compose = _composer(trace, model)
    with canvas.figure(path, size, layout=None) as drawn:
        compose(drawn)


def plot(trace):
    """Return a Figure of matplotlib that shows the trace.

    Raises:
        InputError: If matplotlib is missing, or the trace lacks a value for the drawing.
    """
    rc_context, Figure = canvas.tools()
    size, compose = _composer(trace)

    class Drawing(Figure):
        """A Figure that a notebook displays under any backend of matplotlib."""

        def _repr_png_(self):
            shown = BytesIO()
            with rc_context(canvas.STYLE):
                self.savefig(shown, format="png", dpi=canvas.DOTS)
            return shown.getvalue()

    with rc_context(canvas.STYLE):
        drawn = Drawing(figsize=size, layout=None)
        compose(drawn)
    return drawn


def _composer(trace, model=None):
    if count(trace) > 1:
        lanes = Lanes.of(trace, model)
        return (canvas.WIDTH, _height_of(lanes)), partial(_compose_lanes, trace=trace, lanes=lanes)
    samples = Samples.of(trace, model)
    return (canvas.WIDTH, HEIGHT), partial(_compose, trace=trace, samples=samples)


def _compose(figure, trace, samples):
    window, beliefs = {"Window ($C·R_m$)": _draw_window}, {"What the sender believes of $C$ ($C$)": _draw_bounds}
    painters = {
        "Bytes since the start ($C·R_m$)": _draw_bytes,
        "Sending rate ($C$)": _draw_rate,
        **(window if samples.window else beliefs),
        "Queueing delay ($R_m$)": _draw_delay,
    }
    panels = canvas.panels(figure, trace, (2.4, 1, 1, 1.3))
    for axes, (title, painter) in zip(panels, painters.items(), strict=True):
        canvas.prepare(axes, title, samples.steps - 1)
        painter(axes, samples)


def _draw_bytes(axes, samples):
    times, line = samples.times, samples.line
    labels = [(samples.S[-1], "served, $S$", NETWORK)]
    if samples.D:
        least, most = samples.service
        axes.fill_between(times, least, most, color=JITTER, alpha=0.35, linewidth=0)
        axes.plot(times, samples.K, color=TRUTH, linestyle=":", linewidth=0.7 * line)
        labels += [(least[-1], "$S$ may be in here", JITTER), (samples.K[-1], "tokens, $K$", TRUTH)]
    if samples.losses:
        lost = {"facecolor": "none", "edgecolor": LOSS, "hatch": "////", "alpha": 0.45, "linewidth": 0}
        axes.fill_between(times, samples.kept, samples.A, **lost)
        axes.plot(times, samples.kept, color=LOSS, linewidth=0.6 * line)
        marks = [samples.kept[t] for t in samples.losses]
        axes.plot(samples.losses, marks, "x", color=LOSS, markersize=3 * line, markeredgewidth=0.8 * line)
        labels.append((samples.kept[-1], "not lost, $A - L$", LOSS))
    axes.plot(times, samples.A, color=SENDER, linewidth=line)
    _draw_points(axes, list(enumerate(samples.S)), samples, linestyle="-", linewidth=line)
    axes.set_ylim(0, 1.04 * max(samples.A[-1], samples.K[-1], 1))
    canvas.name(axes, [*labels, (samples.A[-1], "sent, $A$", SENDER)])


def _draw_rate(axes, samples):
    decided = samples.r[1:]
    axes.set_ylim(0, 1.15 * max(1, *decided, 1))
    axes.stairs(decided, samples.times, baseline=None, color=SENDER, linewidth=samples.line)
    if samples.allowed:
        least, most = zip(*samples.allowed, strict=True)
        axes.stairs(most, samples.times, baseline=least, fill=True, color=SENDER, alpha=0.2)
        axes.set_ylim(0, 1.15 * max(1, *decided, *most))
    canvas.name(axes, [_draw_link_rate(axes), (samples.r[-1], "sent, $r$", SENDER)])


def _draw_window(axes, samples):
    axes.step(*_held(axes, samples.window), where="post", color=SENDER, linewidth=samples.line)
    axes.set_ylim(0, 1.15 * max(samples.window))
    canvas.name(axes, [(samples.window[-1], "window, $c$", SENDER)])


def _draw_bounds(axes, samples):
    bounds = samples.bounds
    top = 1.3 * max([1, *(value for bound in bounds.values() for value in bound if value <= CUT)])
    axes.set_ylim(0, top)
    labels = []
    lower = [bound for bound in bounds if isinstance(bound, RunningMax)]
    upper = [bound for bound in bounds if isinstance(bound, RunningMin)]
    for bound, values in bounds.items():
        colour = BELIEF if bound in (*lower[:1], *upper[:1]) else PROBE
        marker = FROM_BELOW if bound in lower else FROM_ABOVE
        axes.step(*_held(axes, values), where="post", color=colour, linewidth=samples.line)
        some = {"markersize": 3 * samples.line, "markevery": max(1, samples.steps // CROWD)}
        axes.plot(values, color=colour, linestyle="", marker=marker, **some)
        cut = values[-1] > top
        axes.plot(samples.times, [0.93 * top if value > top else None for value in values], "^", color=colour)
        labels.append((values[-1], bound.legend(f" = {values[-1]:.4g}" if cut else ""), colour))
    if lower and upper:
        times, least = _held(axes, bounds[lower[0]])
        most = _held(axes, bounds[upper[0]])[1]
        axes.fill_between(times, least, most, step="post", color=BELIEF, alpha=0.2, linewidth=0)
    if not bounds:
        axes.text(0.5, 0.4, "the trace states no beliefs", transform=axes.transAxes, ha="center", color=QUIET)
    canvas.name(axes, [*labels[:1], _draw_link_rate(axes), *labels[1:]])


def _draw_link_rate(axes):
    axes.axhline(1, color=TRUTH, linestyle="--", linewidth=1, zorder=3)
    return 1, "link rate, $C$", TRUTH


def _draw_delay(axes, samples):
    longest, queue = samples.steps, samples.queue
    top = 1.1 * max(*queue, *(delay + 1 for delay in samples.Q if delay < longest), samples.D + 1)
    labels = [(queue[-1], "queue, $(A-L-K)/C$", TRUTH)]
    if samples.beta is not None and samples.beta <= 1.5 * top:
        top = max(top, 1.1 * samples.beta)
        axes.axhline(samples.beta, color=QUIET, linestyle="-.", linewidth=1)
        labels.append((samples.beta, "full buffer, $β/C$", QUIET))
    axes.set_ylim(-0.06 * top, top)
    axes.locator_params(axis="y", integer=True)
    least = [max(0, delay - samples.D) for delay in samples.Q]
    axes.step(*_held(axes, least), where="post", color=BELIEF, linewidth=0.8 * samples.line)
    axes.plot(queue, color=TRUTH, linewidth=0.8 * samples.line)
    measured = _draw_measured(axes, samples, min(longest, 0.93 * top))
    canvas.name(axes, [(least[-1], "at least $Q - D$", BELIEF), *labels, measured])


def _draw_measured(axes, samples, beyond):
    """Draw delays in whole steps as spans. Draw delays beyond the horizon as arrows at the height `beyond`."""
    measured = [(t, delay) for t, delay in enumerate(samples.Q) if delay < samples.steps]
    longer = [(t, beyond) for t, delay in enumerate(samples.Q) if delay >= samples.steps]
    ends = ([t for t, _ in measured], [delay for _, delay in measured], [delay + 1 for _, delay in measured])
    axes.vlines(*ends, color=NETWORK, alpha=0.4, linewidth=samples.line)
    _draw_points(axes, measured, samples)
    _draw_points(axes, longer, samples, marker="^")
    text = "$Q$ to $Q+1$" if samples.Q[-1] < samples.steps else f"$Q ≥ {samples.steps}$"
    return samples.Q[-1], f"measured, {text}", NETWORK


def _draw_points(axes, points, samples, marker="o", linestyle="", **line):
    style = {"color": NETWORK, "marker": marker, "markersize": 2.4 * samples.line, "linestyle": linestyle}
    axes.plot([t for t, _ in points], [value for _, value in points], clip_on=False, **style, **line)


def _held(axes, values):
    """A value lasts until the next value, and the last value until the panel's edge."""
    return [*range(len(values)), axes.get_xlim()[1]], [*values, values[-1]]


#: The heights in inches of a panel, of a strip, and of the space between panels.
PANEL, STRIP, BETWEEN = 1.05, 0.24, 0.5


def _height_of(lanes):
    charts = [chart for _, chart in _titled(lanes)]
    return 1.6 + sum(map(_height, charts)) + BETWEEN * (len(charts) - 1)


def _compose_lanes(figure, trace, lanes):
    titled = list(_titled(lanes))
    ratios = [_height(chart) for _, chart in titled]
    panels = canvas.panels(figure, trace, ratios, BETWEEN * len(ratios) / sum(ratios))
    for axes, (title, chart) in zip(panels, titled, strict=True):
        canvas.prepare(axes, _plain(title).replace("C·R_m", "$C·R_m$"), lanes.steps - 1)
        {Kind.LINES: _draw_lines, Kind.STACK: _draw_stack, Kind.STRIPS: _draw_strips}[chart.kind](axes, chart)


def _titled(lanes):
    """Yield each chart with its title. The title of a chart in a lane also names the flow."""
    yield from ((chart.heading, chart) for chart in lanes.shared)
    for lane in lanes.each:
        yield from ((f"{lane.title}: {chart.heading[0].lower()}{chart.heading[1:]}", chart) for chart in lane.charts)


def _height(chart):
    return STRIP * len(chart.lines) if chart.kind is Kind.STRIPS else PANEL


def _draw_lines(axes, chart):
    axes.set_ylim(*chart.range)
    labels = []
    for line, rank in zip(chart.lines, chart.ranks(), strict=True):
        colour, values = canvas.ROLES[line.role], [float(value) for value in line.values]
        style = {"color": colour, "linewidth": 1.8, "linestyle": DASHES[rank] or "-", "zorder": 2 + rank}
        if line.form is Form.POINTS:
            axes.plot(values, marker="o", markersize=3.5, **style)
        elif line.form is Form.HELD:
            axes.step([*range(len(values)), axes.get_xlim()[1]], [*values, values[-1]], where="post", **style)
        else:
            axes.step(range(len(values)), [values[min(1, len(values) - 1)], *values[1:]], where="pre", **style)
        labels.append((values[-1], _plain(line.label), colour))
    canvas.name(axes, [*labels, *_link(axes, chart)])


def _draw_stack(axes, chart):
    axes.set_ylim(*chart.range)
    labels, low = [], [0.0] * len(chart.lines[0].values)
    for line in chart.stacked():
        colour, high = canvas.ROLES[line.role], [float(value) for value in line.values]
        for t, bottom, top in line.areas(low, high):
            axes.fill_between((t - 1, t), bottom, top, color=colour, linewidth=0.8)
        labels.append(((low[-1] + high[-1]) / 2, line.label, colour))
        low = high
    canvas.name(axes, [*labels, *_link(axes, chart)])


def _draw_strips(axes, chart):
    axes.set_ylim(*chart.range)
    axes.set_yticks([])
    labels = []
    for row, line in enumerate(reversed(chart.lines)):
        colour = canvas.ROLES[line.role]
        spans = [(t, 1) for t, value in enumerate(line.values) if value]
        axes.broken_barh(spans, (row + 0.15, 0.7), facecolor=colour)
        labels.append((row + 0.5, f"{_plain(line.label)} is true", colour))
    canvas.name(axes, labels)


def _plain(text):
    """Return text of a trace, escaped so that matplotlib does not read the text as a formula."""
    return text.replace("$", r"\$")


def _link(axes, chart):
    """Draw the link's rate if the chart shows it, and return the label of this line."""
    if not chart.link:
        return []
    axes.axhline(1, color=canvas.TRUTH, linestyle=":", linewidth=1.2, zorder=6)
    return [(1, "link rate, $C$", canvas.TRUTH)]
