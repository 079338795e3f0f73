"""The front, drawn: what is inflight, and how long beliefs take to converge again, against what is used."""

from collections import defaultdict

from ccmatic import traces
from ccmatic.traces import QUIET, SENDER, SMALL

#: What is drawn against utilisation where something is guaranteed of it, and what its axis says.
PANELS = {
    "inflight": "inflight, at most (C(R_m + D))",
    "settles": "R_m until beliefs have converged again, at most",
    "climb": "packets by which C_L rises in a window, at least",
}


def draw(points, dominated, file):
    """Draw Points that hold to a file: PNG, SVG or PDF, by the name's suffix; those that nothing dominates stand out.
    dominated: as of `points.dominated`. Raises InputError."""
    drawn = [measure for measure in PANELS if any(measure in point.measures for point in points)] or ["inflight"]
    with traces.figure(file, (4.5 * len(drawn), 4)) as figure:
        for axes, measure in zip(figure.subplots(1, len(drawn), squeeze=False)[0], drawn, strict=True):
            for place, names in _places(points, measure).items():
                _mark(axes, place, [name for name in names if not dominated[name]])
            axes.set(xlabel="share of the link used, at least", ylabel=PANELS[measure], xmargin=0.3, ymargin=0.3)


def _places(points, measure):
    """(utilisation, a measure) of each of the Points that has it, with the names of those there."""
    places = defaultdict(list)
    for point in points:
        if measure in point.measures:
            places[float(point.measures["utilisation"]), float(point.measures[measure])].append(point.name)
    return places


def _mark(axes, place, best):
    """best: the names of those there that are on the front."""
    axes.plot(*place, "o", color=SENDER if best else QUIET, fillstyle="full" if best else "none")
    if best:
        more = f" and {len(best) - 1} more" if best[1:] else ""
        named = best[0] + more
        axes.annotate(named, place, (2, -4), textcoords="offset points", fontsize=SMALL, rotation=-45, va="top")
