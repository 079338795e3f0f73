"""Drawings of traces of several flows: a chart of the flows' shares of the link, and below it a lane for each flow."""

from ccmatic.networks.traces import canvas
from ccmatic.networks.traces.charts import DASHES, Form, Kind

#: The heights in inches of a panel, of a strip, and of the space between panels.
PANEL, STRIP, BETWEEN = 1.05, 0.24, 0.5


def height(lanes):
    charts = [chart for _, chart in _titled(lanes)]
    return 1.6 + sum(map(_height, charts)) + BETWEEN * (len(charts) - 1)


def compose(figure, trace, lanes):
    """Draw Lanes on a Figure: a panel for each chart."""
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
