"""Bounds that a controller with state keeps for ever on CCAC's network with a buffer of C·R_m, if it keeps any.

What is bounded is what CCAC's authors bound by hand for AIMD: the window, and losses not found. By what a controller
remembers there are more candidates: how far a place that it remembers is beyond what was admitted; and the window while
a condition holds, and less is acknowledged than such a place. Each is weakened by as little as the windows ask that
break it, and dropped where one breaks the loosest of its range.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import product

from ccmatic.proofs.aimd import ANY, packets_below, undetected

from ccmatic.contracts import BYTES, CONDITION, Constant, Objective, Proof, State
from ccmatic.logic import equal, every, implies

#: In C·R_m. At the most there is no bound.
NONE = Fraction(4)
GRID = {"low": Fraction(0), "high": NONE, "step": Fraction(1, 4), "better": "smaller", "droppable": True}


def at_most(x, value, bound, beyond):
    """A value is at most a bound, in C·R_m, and so much beyond."""
    return bound == NONE or value <= bound * x.C + beyond


def window_at_most(x, t, bound):
    """In C·R_m, beyond β + MSS."""
    return at_most(x, x.cwnd[t], bound, x.beta + x.alpha)


def undetected_at_most(x, t, bound):
    """In C·R_m, beyond MSS."""
    return at_most(x, undetected(x, t), bound, x.alpha)


def place_at_most(place):
    """A place in C·R_m, beyond what was admitted and three packets."""
    return lambda x, t, bound: at_most(x, x.state[place][t] - x.admitted(t), bound, 3 * x.alpha)


def window_while(condition, place):
    """The window while a condition holds, and what is acknowledged has not come to a place."""

    def holds(x, t, bound):
        return implies(every(equal(x.state[condition][t], 1), x.state[place][t] > x.S[t]), window_at_most(x, t, bound))

    return holds


def candidates(kept):
    """(name, what it bounds, its condition by x, t and the bound) for each bound that is tried. kept: what the
    controller remembers."""
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
    """The proof for what a controller remembers."""
    tried = list(candidates(kept))

    def steady(x, t, c):
        return every(packets_below(x, "1/10"), [holds(x, t, c[name]) for name, _, holds in tried])

    bounds = "".join(f"; {says} ≤ {{{name}}}·C·R_m" for name, says, _ in tried)
    peak = Objective(
        "bounds the window",
        "cwnd - β - MSS is at most {peak}·C·R_m at each step",
        lambda x, c: every([window_at_most(x, t, c["peak"]) for t in range(x.horizon)]),
    )
    joined = [Constant(name, says, joined=place > 0, **GRID) for place, (name, says, _) in enumerate(tried)]
    return replace(
        PROOF,
        states=(State("steady", f"MSS < C·R_m/10{bounds}", holds=steady, ensures=(peak,)), ANY),
        constants=(*joined, Constant("peak", "cwnd - β - MSS at any step", **GRID)),
        of=None,
    )


PROOF = Proof(
    model="ccac2021_anywhere", buffer="1", horizon=8, beliefs=(), states=(ANY,), constants=(), common=2, of=of
)
