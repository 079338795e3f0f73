"""Guarantees as points in the space of measures. A point may dominate other points."""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic.proving.claim import windows_after

#: The measures, each with whether a larger value is better. Most measures are constants of a proof, by name.
#: `settles` is the largest number of R_m until beliefs have converged again after the link rate halves or doubles, as a
#: proof's report counts it. `freedom` is the freedom of a Member.
MEASURES = {
    "utilisation": True,
    "inflight": False,
    "loss": False,
    "lossless_buffer": False,
    "settles": False,
    "climb": True,
    "freedom": True,
}

#: The factor by which the link rate changes, for `settles`.
CHANGE = Fraction(2)


@dataclass(frozen=True)
class Member:
    """A controller or an envelope that may be on a front."""

    name: str
    source: str
    #: How much choice an envelope leaves: the share of its largest rate that lies above its smallest rate, averaged
    #: over all returned rates. For a controller this is 0.
    freedom: Fraction = Fraction(0)


@dataclass(frozen=True)
class Point:
    """A controller and the outcome of its proof."""

    name: str
    source: str
    #: The shape that proves the controller, or the last shape tried; None if the search timed out.
    shape: str | None
    verdict: str
    #: The result file of `shape`; None if the search timed out.
    file: str | None
    measures: dict[str, Fraction]
    #: The reason why no shape proves the controller, or None.
    why: str | None = None


def measured(proof, result, freedom):
    measures = {name: result.values[name] for name in MEASURES if name in result.values} | {"freedom": freedom}
    moved = [state for state in proof.states if any(each.name in proof.beliefs for each in state.measures)]
    windows = [windows_after(state, CHANGE, result.values) for state in moved]
    return measures if None in windows else {**measures, "settles": Fraction(sum(windows) * (result.horizon - 1))}


def dominated(points):
    """Return the name of each proved Point, mapped to the names of the points that dominate it.

    A point dominates another point if it is at least as good in each measure, and better in at least one. A missing
    guarantee is worse than any value.
    """
    holding = [point for point in points if point.verdict == "holds"]
    return {one.name: [other.name for other in holding if _dominates(other, one)] for one in holding}


def _dominates(other, one):
    pairs = [(_rank(other, name), _rank(one, name)) for name in MEASURES]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def _rank(point, name):
    """Return a sort key, which is larger for a better value of a measure."""
    if name not in point.measures:
        return (False, 0)
    return (True, point.measures[name] if MEASURES[name] else -point.measures[name])
