"""The front, drawn: what is inflight, and how long beliefs take to converge again, against what is used."""

from ccmatic import traces
from ccmatic.traces import QUIET, SENDER, SMALL

#: What is drawn against utilisation, and what its axis says.
PANELS = {"inflight": "inflight, at most (C(R_m + D))", "settles": "R_m until beliefs have converged again, at most"}


def draw(points, dominated, file):
    """Draw Points that hold to a file: PNG, SVG or PDF, by the name's suffix; those that nothing dominates stand out.
    dominated: as of `points.dominated`. Raises InputError."""
    with traces.figure(file, (9, 4)) as figure:
        for axes, (measure, says) in zip(figure.subplots(1, len(PANELS)), PANELS.items(), strict=True):
            for point in points:
                if measure in point.measures:
                    _mark(axes, point, measure, on_front=not dominated[point.name])
            axes.set(xlabel="share of the link used, at least", ylabel=says)


def _mark(axes, point, measure, on_front):
    place = float(point.measures["utilisation"]), float(point.measures[measure])
    axes.plot(*place, "o", color=SENDER if on_front else QUIET, fillstyle="full" if on_front else "none")
    if on_front:
        axes.annotate(point.name, place, (4, 4), textcoords="offset points", fontsize=SMALL)
