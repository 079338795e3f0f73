"""Bounds that Copa keeps for ever from any state, on CCAC's non-composing network.

Copa's decisions depend on observations two steps earlier, so consecutive windows share two steps. The proof bounds the
window at the second shared step. It bounds the bytes in flight at the first, relative to that window. So a small window
implies a short queue, and the proof needs no history of delays.
"""

from fractions import Fraction

from ccmatic.proofs.aimd import ANY, packets_below

from ccmatic.contracts import Constant, Objective, Proof, State
from ccmatic.logic import equal, every

PACKETS = {"low": Fraction(0), "high": Fraction(12), "step": Fraction(1, 2), "better": "smaller"}


def window_at_least(x, t, packets):
    """The window is at least C·R_m less a number of packets."""
    return x.cwnd[t] >= x.C * x.R - packets * x.alpha


def window_at_most(x, t, packets):
    """The window is at most 4·C·R_m plus a number of packets."""
    return x.cwnd[t] <= 4 * x.C * x.R + packets * x.alpha


def steady(x, t, c):
    """The bounds hold, on a network without undetected losses."""
    return every(
        packets_below(x, "1/20"),
        equal(x.L[t], x.Ld[t]),
        window_at_least(x, t + 1, c["least"]),
        window_at_most(x, t + 1, c["most"]),
        x.inflight(t) <= x.cwnd[t + 1] + c["inflight"] * x.alpha,
    )


def uses(x, share):
    """A share of the link is used, in all steps but those shared with the next window."""
    end = x.horizon - 2
    return x.S[end] - x.S[0] >= share * x.C * end


def decided(x):
    """Return the steps at which this window decides."""
    return range(2, x.horizon)


STEADY = State(
    "steady",
    "MSS < C·R_m/20, C·R_m - {least}·MSS ≤ cwnd ≤ 4·C·R_m + {most}·MSS, at most cwnd + {inflight}·MSS in flight",
    holds=steady,
    ensures=(
        Objective("uses the link", "at least {utilisation} of C is used", lambda x, c: uses(x, c["utilisation"])),
        Objective(
            "keeps its window",
            "cwnd is at least C·R_m - {trough}·MSS at each step",
            lambda x, c: every([window_at_least(x, t, c["trough"]) for t in decided(x)]),
        ),
        Objective(
            "bounds its window",
            "cwnd is at most 4·C·R_m + {peak}·MSS at each step",
            lambda x, c: every([window_at_most(x, t, c["peak"]) for t in decided(x)]),
        ),
    ),
)

PROOF = Proof(
    model="ccac2021_anywhere_non_composing",
    buffer="infinite",
    horizon=14,
    beliefs=(),
    states=(STEADY, ANY),
    constants=(
        Constant("least", "window at the end of each window of steps, packets below C·R_m", paper="1", **PACKETS),
        Constant("most", "the same, packets above 4·C·R_m", paper="1", joined=True, **PACKETS),
        Constant("inflight", "in flight beyond the window, packets", joined=True, **PACKETS),
        Constant("utilisation", "share of the link used", Fraction(0), Fraction(1), Fraction(1, 40), paper="1/2"),
        Constant("trough", "window at any step, packets below C·R_m", **PACKETS),
        Constant("peak", "window at any step, packets above 4·C·R_m", **PACKETS),
    ),
    common=2,
    formerly=("24ba4f3c5508c806bcae125fb761870eb295eb4044f4082b389899529b2b218b",),
)
