"""Drawings of a trace, for papers and pages. Floats are used here, where no verdict depends on them."""

from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from textwrap import wrap

from ccmatic.base import InputError, write_bytes
from ccmatic.contracts import RunningMax, RunningMin
from ccmatic.traces.samples import CROWD, Samples

#: What the name of a drawing may end in, and what keeps the time of drawing out of it.
UNDATED = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}

#: The palette of Okabe and Ito, by what is drawn.
SENDER, NETWORK, JITTER, LOSS = "#0072B2", "#009E73", "#56B4E9", "#D55E00"
BELIEF, PROBE, TRUTH, QUIET = "#CC79A7", "#E69F00", "#000000", "#666666"

#: In inches, pixels an inch, and points.
WIDTH, HEIGHT, MARGIN_LEFT, MARGIN_RIGHT, MARGIN_BOTTOM = 8.0, 7.8, 0.45, 1.8, 0.75
DOTS = 140
SMALL, NORMAL, LARGE = 8, 9, 11.5

#: A belief beyond CUT · C leaves its panel.
CUT = 10

#: Markers of matplotlib whose tips are at the value: of a bound from below, and of one from above.
FROM_BELOW, FROM_ABOVE = 6, 7

STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.size": NORMAL,
    "mathtext.fontset": "dejavusans",
    "svg.fonttype": "none",
    "svg.hashsalt": "ccmatic",
    "hatch.linewidth": 0.6,
}


def draw_trace(trace, path, model=None):
    """Draw the trace to a file: PNG, SVG or PDF, by the name's suffix. model: whose beliefs it has; by default the one
    that it names, if that is shipped. Raises InputError."""
    require(path)
    samples = Samples.of(trace, model)
    with figure(path, (WIDTH, HEIGHT), layout=None) as drawn:
        _compose(drawn, trace, samples)


def plot(trace):
    """A Figure of matplotlib's with the trace. Raises InputError if matplotlib is missing, or the trace lacks what is
    drawn."""
    rc_context, Figure = _tools()
    samples = Samples.of(trace)

    class Drawing(Figure):
        """A Figure that a notebook shows, whatever its backend."""

        def _repr_png_(self):
            shown = BytesIO()
            with rc_context(STYLE):
                self.savefig(shown, format="png", dpi=DOTS)
            return shown.getvalue()

    with rc_context(STYLE):
        drawn = Drawing(figsize=(WIDTH, HEIGHT), layout=None)
        _compose(drawn, trace, samples)
    return drawn


@contextmanager
def figure(path, size, layout="constrained"):
    """A Figure of matplotlib's, `size` in inches, to be drawn on and then written to a file: PNG, SVG or PDF, by the
    name's suffix. Raises InputError."""
    require(path)
    rc_context, Figure = _tools()
    suffix, drawing = Path(path).suffix.lower(), BytesIO()
    with rc_context(STYLE):
        drawn = Figure(figsize=size, layout=layout)
        yield drawn
        drawn.savefig(drawing, format=suffix[1:], dpi=DOTS, metadata=UNDATED[suffix])
    write_bytes(path, drawing.getvalue())


def require(path=None):
    """Raise InputError if nothing can be drawn, as matplotlib is missing, or nothing to a file of this name."""
    if path is not None and Path(path).suffix.lower() not in UNDATED:
        raise InputError(f"cannot draw this kind of file; expected a name in {', '.join(UNDATED)}", str(path))
    _tools()


def _tools():
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("drawings need matplotlib: pip install matplotlib") from None
    return rc_context, Figure


def _compose(figure, trace, samples):
    """A heading, four panels over one axis of time, and a caption."""
    text = f"objectives not met: {'; '.join(trace.broken)}" if trace.broken else ""
    heading = wrap(text, 100)
    panels = figure.subplots(
        4,
        sharex=True,
        gridspec_kw={
            "left": MARGIN_LEFT / WIDTH,
            "right": 1 - MARGIN_RIGHT / WIDTH,
            "top": 1 - (0.65 + 0.18 * len(heading)) / HEIGHT,
            "bottom": MARGIN_BOTTOM / HEIGHT,
            "hspace": 0.42,
            "height_ratios": (2.4, 1, 1, 1.3),
        },
    )
    window, beliefs = {"Window ($C·R_m$)": _draw_window}, {"What the sender believes of $C$ ($C$)": _draw_bounds}
    painters = {
        "Bytes since the start ($C·R_m$)": _draw_bytes,
        "Sending rate ($C$)": _draw_rate,
        **(window if samples.window else beliefs),
        "Queueing delay ($R_m$)": _draw_delay,
    }
    for axes, (title, painter) in zip(panels, painters.items(), strict=True):
        _prepare(axes, title, samples.steps - 1)
        painter(axes, samples)
    panels[-1].xaxis.get_major_locator().set_params(integer=True, nbins=16, min_n_ticks=1)
    panels[-1].set_xlabel("time ($R_m$)")
    _annotate(figure, trace, heading)


def _prepare(axes, title, end):
    axes.set_title(title, loc="left", fontsize=NORMAL, fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#999999")
    axes.tick_params(color="#999999", labelsize=SMALL)
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.locator_params(axis="y", nbins=5)
    pad = 0.02 * end or 0.5
    axes.set_xlim(-pad, end + pad)


def _annotate(figure, trace, heading):
    left = MARGIN_LEFT / WIDTH / 2
    model, buffer = (trace.query.get(name, "unknown") for name in ("model", "buffer"))
    title = f"A trace of {trace.horizon} step{'s'[: trace.horizon != 1]}, model {model}, buffer {buffer}"
    plain = {"va": "top", "parse_math": False}
    figure.text(left, 1 - 0.12 / HEIGHT, title, fontsize=LARGE, fontweight="bold", **plain)
    figure.text(left, 1 - 0.38 / HEIGHT, "\n".join(heading), color=_dark(LOSS), **plain)
    constants = trace.constants
    beta = f"{_number(constants['beta'])} $C·R_m$" if "beta" in constants else "infinite"
    alpha = f"α = MSS/$R_m$ = {_number(constants['MSS'] / constants['R_m'])};  " if "MSS" in constants else ""
    jitter = f"jitter D = {_number(constants['D'])} $R_m$"
    caption = f"{alpha}buffer β = {beta};  {jitter}.  Points mark the ends of steps."
    figure.text(left, 0.12 / HEIGHT, caption, color=QUIET, fontsize=SMALL)


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
    _name(axes, [*labels, (samples.A[-1], "sent, $A$", SENDER)])


def _draw_rate(axes, samples):
    decided = samples.r[1:]
    axes.set_ylim(0, 1.15 * max(1, *decided, 1))
    axes.stairs(decided, samples.times, baseline=None, color=SENDER, linewidth=samples.line)
    if samples.allowed:
        least, most = zip(*samples.allowed, strict=True)
        axes.stairs(most, samples.times, baseline=least, fill=True, color=SENDER, alpha=0.2)
        axes.set_ylim(0, 1.15 * max(1, *decided, *most))
    _name(axes, [_draw_link_rate(axes), (samples.r[-1], "sent, $r$", SENDER)])


def _draw_window(axes, samples):
    axes.step(*_held(axes, samples.window), where="post", color=SENDER, linewidth=samples.line)
    axes.set_ylim(0, 1.15 * max(samples.window))
    _name(axes, [(samples.window[-1], "window, $c$", SENDER)])


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
    _name(axes, [*labels[:1], _draw_link_rate(axes), *labels[1:]])


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
    _name(axes, [(least[-1], "at least $Q - D$", BELIEF), *labels, measured])


def _draw_measured(axes, samples, beyond):
    """Delays in whole steps as spans, those past the horizon as arrows at the height `beyond`."""
    known = [(t, delay) for t, delay in enumerate(samples.Q) if delay < samples.steps]
    longer = [(t, beyond) for t, delay in enumerate(samples.Q) if delay >= samples.steps]
    ends = ([t for t, _ in known], [delay for _, delay in known], [delay + 1 for _, delay in known])
    axes.vlines(*ends, color=NETWORK, alpha=0.4, linewidth=samples.line)
    _draw_points(axes, known, samples)
    _draw_points(axes, longer, samples, marker="^")
    text = "$Q$ to $Q+1$" if samples.Q[-1] < samples.steps else f"$Q ≥ {samples.steps}$"
    return samples.Q[-1], f"measured, {text}", NETWORK


def _draw_points(axes, points, samples, marker="o", linestyle="", **line):
    style = {"color": NETWORK, "marker": marker, "markersize": 2.4 * samples.line, "linestyle": linestyle}
    axes.plot([t for t, _ in points], [value for _, value in points], clip_on=False, **style, **line)


def _held(axes, values):
    """Times and values of a belief: each value is held until the next, the last to the panel's edge."""
    return [*range(len(values)), axes.get_xlim()[1]], [*values, values[-1]]


def _name(axes, labels):
    """Name each line, given as (last value, text, colour), beside its end, the names clear of each other."""
    low, high = axes.get_ylim()
    height = 72 * HEIGHT * axes.get_position().height
    labels = [(min(max(y, low), high), text, colour) for y, text, colour in labels]
    labels.sort(key=lambda label: label[0])
    wanted = [(y - low) / (high - low) * height for y, _, _ in labels]
    for (y, text, colour), place in zip(labels, _apart(wanted, 1.4 * NORMAL, height), strict=True):
        leader = {"arrowstyle": "-", "color": colour, "shrinkA": 1, "shrinkB": 0, "relpos": (0, 0.5)}
        axes.annotate(
            text,
            xy=(1, y),
            xycoords=("axes fraction", "data"),
            xytext=(1.05, place / height),
            textcoords="axes fraction",
            color=_dark(colour),
            va="center",
            annotation_clip=False,
            arrowprops=leader,
        )


def _apart(wanted, gap, height):
    """Places in the same order, `gap` apart at least and in 0 … height if there is room, near the wanted."""
    groups = []
    for index, place in enumerate(wanted):
        groups.append([place - index * gap])
        while len(groups) > 1 and _mean(groups[-2]) > _mean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    room = max(0, height - gap * (len(wanted) - 1))
    places = [min(max(_mean(group), 0), room) for group in groups for _ in group]
    return [place + index * gap for index, place in enumerate(places)]


def _mean(values):
    return sum(values) / len(values)


def _dark(colour):
    """A shade of the colour in which text reads well."""
    return tuple(int(colour[i : i + 2], 16) / 255 * 0.7 for i in (1, 3, 5))


def _number(value):
    """A rational as people write it, rounded where it is long."""
    text = str(value)
    return text if len(text) <= 9 else f"{float(value):.4g}"
