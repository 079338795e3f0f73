"""Bounds that a controller with state keeps for ever on CCAC's network with a buffer of C·R_m.

The candidates include bounds of the window and of the undetected losses. CCAC's authors proved bounds of these two by
hand for AIMD. The controller's state yields further candidates:

- how far a byte position in the state exceeds the bytes admitted;
- the window while a condition holds and such a position is not yet acknowledged.

If a window breaks a bound, the search weakens the bound as little as the window requires. It drops a bound if some
window breaks even its loosest value.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import product

from ccmatic.proofs.aimd import ANY, packets_below, undetected

from ccmatic.contracts import BYTES, CONDITION, Constant, Objective, Proof, State
from ccmatic.logic import equal, every, implies

#: The loosest value of each bound, in C·R_m, which stands for no bound.
NONE = Fraction(4)
GRID = {"low": Fraction(0), "high": NONE, "step": Fraction(1, 4), "better": "smaller", "droppable": True}


def at_most(x, value, bound, beyond):
    """The value is at most bound·C·R_m plus `beyond`."""
    return bound == NONE or value <= bound * x.C + beyond


def window_at_most(x, t, bound):
    """The window is at most bound·C·R_m + β + MSS."""
    return at_most(x, x.cwnd[t], bound, x.beta + x.alpha)


def undetected_at_most(x, t, bound):
    """Undetected losses are at most bound·C·R_m + MSS."""
    return at_most(x, undetected(x, t), bound, x.alpha)


def place_at_most(place):
    """Return the condition that a byte position is at most bound·C·R_m + 3·MSS beyond the bytes admitted."""
    return lambda x, t, bound: at_most(x, x.state[place][t] - x.admitted(t), bound, 3 * x.alpha)


def window_while(condition, place):
    """Return the bound of the window while a condition holds and a byte position is not acknowledged."""

    def holds(x, t, bound):
        return implies(every(equal(x.state[condition][t], 1), x.state[place][t] > x.S[t]), window_at_most(x, t, bound))

    return holds


def candidates(kept):
    """Yield each candidate bound: its name, its quantity in words, and its condition by x, t and the bound.

    Args:
        kept: The controller's state variables.
    """
    places = [each.name for each in kept if each.unit == BYTES]
    conditions = [each.name for each in kept if each.unit == CONDITION]
    yield "window", "cwnd - β - MSS", window_at_most
    yield "undetected", "undetected losses - MSS", undetected_at_most
    for place in places:
        yield f"{place} ahead", f"{place} - what was admitted - 3·MSS", place_at_most(place)
    for condition, place in product(conditions, places):
        says = f"cwnd - β - MSS while {condition} and {place} is not acknowledged"
        yield f"window while {condition} before {place}", says, window_while(condition, place)


def of(kept):
    """Return the proof for the state variables of a controller."""
    tried = list(candidates(kept))

    def steady(x, t, c):
        return every(packets_below(x, "1/10"), [holds(x, t, c[name]) for name, _, holds in tried])

    bounds = "".join(f"; {says} ≤ {{{name}}}·C·R_m" for name, says, _ in tried)
    peak = Objective(
        "bounds the window",
        "cwnd - β - MSS is at most {peak}·C·R_m at each step",
        lambda x, c: every([window_at_most(x, t, c["peak"]) for t in range(x.horizon)]),
    )
    joined = [
        Constant(name, says, joined=place > 0, internal=name.endswith(" ahead"), **GRID)
        for place, (name, says, _) in enumerate(tried)
    ]
    return replace(
        PROOF,
        states=(State("steady", f"MSS < C·R_m/10{bounds}", holds=steady, ensures=(peak,)), ANY),
        constants=(*joined, Constant("peak", "cwnd - β - MSS at any step", **GRID)),
        of=None,
    )


PROOF = Proof(
    model="ccac2021_anywhere",
    buffer="1",
    horizon=8,
    beliefs=(),
    states=(ANY,),
    constants=(),
    common=2,
    of=of,
    formerly=(
        "826defbd2b7b3b2dbc0b77489deb97ba3f761c467dcfa180c80fb338ec7b8241",
        "feb4cbec8e4034683d239714b5779b7681c3fa4a4f1c92c820a759b76e80e9f4",
        "8d61049a1ba5b00dc7fc60c2a9c62f213c7dc8f9ef57d96a8b37ffcd27d76d6a",
    ),
)
