"""Bounds that AIMD keeps for ever from any state, on CCAC's network with a buffer of C·R_m.

CCAC's lemma 3 preserves bounds on the window and the undetected losses over the first window of an execution. To
preserve them over every window, a third bound is necessary: the window is smaller while detected losses do not halve it
because it was already halved for losses of the same flight. The three bounds hold only together, so the search finds
them together.

MSS is less than C·R_m/10. For MSS up to C·R_m/3, as printed, there are no such bounds up to 5·C·R_m. This does not
prove that AIMD reaches a steady state from any other: windows that begin in recovery violate lemmas 1 and 2.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs import aimd
from ccmatic.proofs.aimd import ANY, LEMMAS, packets_below, shrinks, undetected

from ccmatic.contracts import Constant, Lemma, Objective, State
from ccmatic.logic import equal, every, implies, no, some

GRID = {"low": Fraction(0), "high": Fraction(5), "step": Fraction(1, 20), "better": "smaller"}


def recovers(x, t):
    """A loss that is detected now does not halve the window."""
    recover = x.state["recover"][t]
    acknowledged = every(recover <= x.state["acked_before"][t], recover <= x.S[t])
    return every(equal(x.state["recovering"][t], 1), no(acknowledged))


def window_at_most(x, t, most):
    """The window is at most `most`·C·R_m + β + MSS."""
    return x.cwnd[t] <= most * x.C + x.beta + x.alpha


def undetected_at_most(x, t, most):
    """Undetected losses are at most `most`·C·R_m + MSS."""
    return undetected(x, t) <= most * x.C + x.alpha


def steady(x, t, c):
    """All three bounds hold."""
    return every(
        packets_below(x, "1/10"),
        window_at_most(x, t, c["window"]),
        undetected_at_most(x, t, c["undetected"]),
        implies(recovers(x, t), window_at_most(x, t, c["recovering"])),
    )


def loses_from(x, share):
    """No step loses bytes after a window smaller than `share`·C·R_m - MSS."""
    losses = [every(x.L[t] > x.L[t - 1], x.cwnd[t - 1] < share * x.C - x.alpha) for t in range(1, x.horizon)]
    return no(some(losses))


STEADY = State(
    "steady",
    "MSS < C·R_m/10, cwnd ≤ {window}·C·R_m + β + MSS, undetected losses ≤ {undetected}·C·R_m + MSS, and in recovery "
    "cwnd ≤ {recovering}·C·R_m + β + MSS",
    holds=steady,
    ensures=(
        Objective(
            "bounds the window",
            "cwnd is at most {peak}·C·R_m + β + MSS at each step",
            lambda x, c: every([window_at_most(x, t, c["peak"]) for t in range(x.horizon)]),
        ),
        Objective(
            "loses nothing while small",
            "nothing is lost in a step after cwnd < {threshold}·C·R_m - MSS",
            lambda x, c: loses_from(x, c["threshold"]),
        ),
    ),
)

LARGE = Lemma(
    "out of recovery a large window falls",
    lambda x, c: every(
        packets_below(x, "1/10"),
        no(window_at_most(x, 0, c["window"])),
        undetected_at_most(x, 0, c["undetected"]),
        no(recovers(x, 0)),
    ),
    lambda x, c: shrinks(x),
)


def on(buffer):
    """Return the proof for another buffer, in C·R_m."""
    return replace(
        aimd.PROOF,
        buffer=buffer,
        states=(STEADY, ANY),
        constants=(
            Constant("window", "window at the end of each window of steps, beyond β + MSS", paper="2", **GRID),
            Constant("undetected", "losses not found, beyond MSS", paper="2", joined=True, **GRID),
            Constant("recovering", "window in recovery, beyond β + MSS", joined=True, **GRID),
            Constant("peak", "window at any step, beyond β + MSS", **GRID),
            Constant(
                "threshold",
                "window, and MSS, below which nothing is lost",
                Fraction(0),
                Fraction(3),
                Fraction(1, 20),
                paper="β",
            ),
        ),
        lemmas=(LARGE, *LEMMAS[:3]),
    )


PROOF = replace(
    on("1"),
    formerly=("fdd072dd2f45a12030d65e68f12d84f99793794c6794901da0e2fa42da166a41",),
)
