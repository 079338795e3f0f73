"""The figure of a front: bytes in flight, and the time until beliefs converge again, plotted against utilisation."""

from collections import defaultdict
from os.path import commonprefix

from ccmatic.networks import traces
from ccmatic.networks.traces import QUIET, SENDER, SMALL

#: The measures that are plotted against utilisation, with the labels of their axes. A point appears in a panel if
#: the point guarantees both the utilisation and the panel's measure.
PANELS = {
    "inflight": "most bytes in flight (C·($R_m$ + D))",
    "settles": "most time until beliefs converge again ($R_m$)",
    "climb": "least rise of C_L in a window (packets)",
}


def draw(points, dominated, file):
    """Draw the proved points to a file. Points that no other point dominates stand out."""
    drawn = [measure for measure in PANELS if any(measure in point.measures for point in points)] or ["inflight"]
    same = len(commonprefix([point.name for point in points]))  # noqa: RUF071 (names are no paths)
    with traces.figure(file, (4.5 * len(drawn), 4.2)) as figure:
        for axes, measure in zip(figure.subplots(1, len(drawn), squeeze=False)[0], drawn, strict=True):
            for place, names in _places(points, measure).items():
                _mark(axes, place, [name[same:] or name for name in names if not dominated[name]])
            axes.set(xlabel="least share of the link", ylabel=PANELS[measure], xmargin=0.12, ymargin=0.12)
            axes.grid(color="#e6e6e6", linewidth=0.7)
        title = f"{points[0].name[:same]}…: filled points are on the front, hollow ones are dominated"
        figure.suptitle(title, fontsize=SMALL, parse_math=False)


def _places(points, measure):
    places = defaultdict(list)
    for point in points:
        if measure in point.measures:
            places[float(point.measures["utilisation"]), float(point.measures[measure])].append(point.name)
    return places


def _mark(axes, place, best):
    axes.plot(*place, "o", color=SENDER if best else QUIET, fillstyle="full" if best else "none")
    if best:
        axes.annotate(", ".join(best), place, (5, 3), textcoords="offset points", fontsize=SMALL, fontweight="bold")
