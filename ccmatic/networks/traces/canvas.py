"""The common style of all drawings of traces: panels over one axis of time, a heading, and names beside lines."""

from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from textwrap import wrap

from ccmatic.base import InputError, counted, write_bytes

#: The file suffixes of drawings, each with the metadata that keeps the time of drawing out of the file.
UNDATED = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}

#: The colour of each subject, from the palette of Okabe and Ito.
SENDER, NETWORK, JITTER, LOSS = "#0072B2", "#009E73", "#56B4E9", "#D55E00"
BELIEF, PROBE, TRUTH, QUIET = "#CC79A7", "#E69F00", "#000000", "#666666"

#: The colours of flows, in the order of use.
FLOWS = (JITTER, PROBE, BELIEF, "#F0E442", "#999999", NETWORK, LOSS, SENDER)

#: The colour of a Line by its role. A role is a subject or a flow.
ROLES = {
    "sent": SENDER,
    "served": NETWORK,
    "lost": LOSS,
    "truth": TRUTH,
    "belief": BELIEF,
    "probe": PROBE,
    "jitter": JITTER,
    **{f"flow{number}": colour for number, colour in enumerate(FLOWS, 1)},
}

#: Lengths are in inches, DOTS is in pixels per inch, and sizes of text are in points.
WIDTH, MARGIN_LEFT, MARGIN_RIGHT, MARGIN_BOTTOM = 8.0, 0.45, 1.8, 0.75
DOTS = 140
SMALL, NORMAL, LARGE = 8, 9, 11.5

STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.size": NORMAL,
    "mathtext.fontset": "dejavusans",
    "svg.fonttype": "none",
    "svg.hashsalt": "ccmatic",
    "hatch.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.prop_cycle": f"cycler('color', {[SENDER, PROBE, NETWORK, LOSS, BELIEF, TRUTH, JITTER, QUIET]})",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "legend.frameon": False,
}


@contextmanager
def figure(path, size, layout="constrained"):
    """Provide a Figure of matplotlib of a size in inches, and write it to a PNG, SVG or PDF when the block ends."""
    require(path)
    rc_context, Figure = tools()
    suffix, drawing = Path(path).suffix.lower(), BytesIO()
    with rc_context(STYLE):
        drawn = Figure(figsize=size, layout=layout)
        yield drawn
        drawn.savefig(drawing, format=suffix[1:], dpi=DOTS, metadata=UNDATED[suffix])
    write_bytes(path, drawing.getvalue())


def require(path=None):
    if path is not None and Path(path).suffix.lower() not in UNDATED:
        raise InputError(f"cannot draw this kind of file; expected a name in {', '.join(UNDATED)}", str(path))
    tools()


def tools():
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("drawings need matplotlib: pip install matplotlib") from None
    return rc_context, Figure


def prepare(axes, title, end):
    axes.set_title(title, loc="left", fontsize=NORMAL, fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#999999")
    axes.tick_params(color="#999999", labelsize=SMALL)
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.locator_params(axis="y", nbins=5)
    axes.ticklabel_format(axis="y", scilimits=(-2, 4), useMathText=True)  # longer numbers would not fit into the figure
    pad = 0.02 * end or 0.5
    axes.set_xlim(-pad, end + pad)


def panels(figure, trace, ratios, hspace=0.42):
    """Return the axes of panels of these heights, which lie below each other over one time axis.

    A heading and a caption describe the trace. `hspace` is in multiples of the mean panel height.
    """
    text = f"objectives not met: {'; '.join(trace.broken)}" if trace.broken else ""
    heading, height = wrap(text, 100), figure.get_figheight()
    axes = figure.subplots(
        len(ratios),
        sharex=True,
        gridspec_kw={
            "left": MARGIN_LEFT / WIDTH,
            "right": 1 - MARGIN_RIGHT / WIDTH,
            "top": 1 - (0.65 + 0.18 * len(heading)) / height,
            "bottom": MARGIN_BOTTOM / height,
            "hspace": hspace,
            "height_ratios": ratios,
        },
    )
    axes[-1].xaxis.get_major_locator().set_params(integer=True, nbins=16, min_n_ticks=1)
    axes[-1].set_xlabel("time ($R_m$)")
    _annotate(figure, trace, heading)
    return axes


def _annotate(figure, trace, heading):
    height = figure.get_figheight()
    left = MARGIN_LEFT / WIDTH / 2
    model, buffer = (trace.query.get(name, "unknown") for name in ("model", "buffer"))
    title = f"A trace of {counted(trace.horizon, 'step')}, model {model}, buffer {buffer}"
    plain = {"va": "top", "parse_math": False}
    figure.text(left, 1 - 0.12 / height, title, fontsize=LARGE, fontweight="bold", **plain)
    figure.text(left, 1 - 0.38 / height, "\n".join(heading), color=dark(LOSS), **plain)
    constants = trace.constants
    beta = f"{_number(constants['beta'])} $C·R_m$" if "beta" in constants else "infinite"
    alpha = f"α = MSS/$R_m$ = {_number(constants['MSS'] / constants['R_m'])};  " if "MSS" in constants else ""
    jitter = f"jitter D = {_number(constants['D'])} $R_m$"
    caption = f"{alpha}buffer β = {beta};  {jitter}.  Points mark the ends of steps."
    figure.text(left, 0.12 / height, caption, color=QUIET, fontsize=SMALL)


def name(axes, labels):
    """Write each line's name beside its end, without overlap. A label is a tuple (last value, text, colour)."""
    low, high = axes.get_ylim()
    height = 72 * axes.figure.get_figheight() * axes.get_position().height
    labels = [(min(max(y, low), high), text, colour) for y, text, colour in labels]
    labels.sort(key=lambda label: label[0])
    wanted = [(y - low) / (high - low) * height for y, _, _ in labels]
    for (y, text, colour), place in zip(labels, apart(wanted, 1.4 * NORMAL, height), strict=True):
        leader = {"arrowstyle": "-", "color": colour, "shrinkA": 1, "shrinkB": 0, "relpos": (0, 0.5)}
        axes.annotate(
            text,
            xy=(1, y),
            xycoords=("axes fraction", "data"),
            xytext=(1.05, place / height),
            textcoords="axes fraction",
            color=dark(colour),
            va="center",
            annotation_clip=False,
            arrowprops=leader,
        )


def apart(wanted, gap, height):
    """Return places near the wanted places: in the same order, and at least `gap` apart.

    The places are within 0 … height if there is enough room.
    """
    # The method is "pool adjacent violators": each group is a block around its mean, and overlapping blocks become one.
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


def dark(colour):
    return tuple(int(colour[i : i + 2], 16) / 255 * 0.7 for i in (1, 3, 5))


def _number(value):
    text = str(value)
    return text if len(text) <= 9 else f"{float(value):.4g}"
