"""What a proof guarantees as a point, and which points are no better than another in anything."""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic.proving import windows_after

#: Each with whether more of it is better: constants of a proof by name; after how many R_m beliefs have converged again
#: at the latest if the link rate halves or doubles, as the report of a proof counts them; and the freedom of a Member.
MEASURES = {
    "utilisation": True,
    "inflight": False,
    "loss": False,
    "lossless_buffer": False,
    "settles": False,
    "climb": True,
    "freedom": True,
}

#: By how much the link rate changes.
CHANGE = Fraction(2)


@dataclass(frozen=True)
class Member:
    """A controller that may be on a front, or an envelope. source: its Python. freedom: the share of the most that may
    be sent which lies above the least, the mean of all rates that it returns; nothing of a controller."""

    name: str
    source: str
    freedom: Fraction = Fraction(0)


@dataclass(frozen=True)
class Point:
    """A controller, what was proved of it, and where.

    source: its Python. shape: by which it was proved, or the last that was tried; file: of that proof; None of either
    where time was up. verdict: as of a proof. measures: by name, without those of which nothing is guaranteed. why:
    that no shape will do, or None.
    """

    name: str
    source: str
    shape: str | None
    verdict: str
    file: str | None
    measures: dict[str, Fraction]
    why: str | None = None


def measured(proof, result, freedom):
    """The measures of a proof that holds: its definition, and its Result; and the freedom of what it is of."""
    measures = {name: result.values[name] for name in MEASURES if name in result.values} | {"freedom": freedom}
    moved = [state for state in proof.states if any(each.name in proof.beliefs for each in state.measures)]
    windows = [windows_after(state, CHANGE, result.values) for state in moved]
    return measures if None in windows else {**measures, "settles": Fraction(sum(windows) * (result.horizon - 1))}


def dominated(points):
    """Of each Point that holds the names of those that dominate it, by its name: those at least as good in each
    measure, and better in one. What is not guaranteed is worse than any value."""
    holding = [point for point in points if point.verdict == "holds"]
    return {one.name: [other.name for other in holding if _dominates(other, one)] for one in holding}


def _dominates(other, one):
    pairs = [(_rank(other, name), _rank(one, name)) for name in MEASURES]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def _rank(point, name):
    """What is larger for what is better."""
    if name not in point.measures:
        return (False, 0)
    return (True, point.measures[name] if MEASURES[name] else -point.measures[name])
