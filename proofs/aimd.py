"""AIMD on CCAC's network with a buffer of C·R_m: the lemmas of aimd_proofs.py, which CCAC's authors combine by hand.

Each lemma is as printed. It is about the windows that the authors' tool examines, which are the first of an execution.
There the window has not been halved (`recovering` is False), and a count of the service begins with the window
(`changed` is True). For R_m + 1 steps, a loss halves the window even in recovery (`time`). At the end of such a window
this is not so: the lemma "windows join" is violated, and the counterexample is saved. Lemma 3 states that one window
preserves a steady state. So it does not follow that the steady state lasts for ever. proofs/aimd_any_start.py proves
bounds that last, for a controller in any state.

Lemma 4 is given as printed and as meant. As printed, only a window with a loss at each step violates it. The script
also checks it with other buffers, and leaves the longest queue at C·R_m: see proofs/aimd_lemma_4.py.
"""

from fractions import Fraction

from ccmatic.contracts import Lemma, Proof, State
from ccmatic.logic import every, no, some


def bdp(x):
    """Return C(R_m + D)."""
    return x.C * (x.R + x.D)


def undetected(x, t):
    """Return the lost bytes whose loss the sender has not detected."""
    return x.L[t] - x.Ld[t]


def small_window(x, t):
    """The window is at most C(R_m + D) + β + MSS."""
    return x.cwnd[t] <= bdp(x) + x.beta + x.alpha


def few_undetected(x, t):
    """Undetected losses are at most C(R_m + D) + MSS."""
    return undetected(x, t) <= bdp(x) + x.alpha


def packets_below(x, most):
    """MSS is below `most`·C·R_m."""
    return x.alpha < Fraction(most) * x.C * x.R


def shrinks(x):
    """The window ends smaller by more than a packet."""
    return x.cwnd[x.horizon - 1] < x.cwnd[0] - x.alpha


def serves_packets(x):
    """Each step serves nothing or at least a packet, which lemma 2 requires."""
    steps = range(1, x.horizon)
    return every([some(x.S[t] <= x.S[t - 1], x.S[t] >= x.S[t - 1] + x.alpha) for t in steps])


def steady(x, t):
    """The state that lemma 3 preserves."""
    return every(small_window(x, t), few_undetected(x, t), packets_below(x, "0.3333333333333333"))


def loses_below_threshold(x, t):
    """Step t loses bytes after a window smaller than β - MSS."""
    return every(x.L[t] > x.L[t - 1], x.cwnd[t - 1] < x.beta - x.alpha)


def lemma_4(name, joined):
    """Return lemma 4: no loss below the threshold. `joined` combines the steps of the window."""
    return Lemma(
        name,
        lambda x, c: steady(x, 0),
        lambda x, c: no(joined([loses_below_threshold(x, t) for t in range(1, x.horizon)])),
        paper=True,
    )


STEADY = State(
    "steady",
    "cwnd ≤ C(R_m + D) + β + MSS, undetected losses ≤ C(R_m + D) + MSS, MSS < C·R_m/3",
    holds=lambda x, t, c: steady(x, t),
)
ANY = State("any", "without conditions", holds=lambda x, t, c: True)

LEMMAS = (
    Lemma(
        "lemma 1: the window falls",
        lambda x, c: every(no(small_window(x, 0)), few_undetected(x, 0), packets_below(x, "0.25")),
        lambda x, c: shrinks(x),
        paper=True,
    ),
    Lemma(
        "lemma 2: undetected losses fall",
        lambda x, c: every(serves_packets(x), no(few_undetected(x, 0)), packets_below(x, "0.2")),
        lambda x, c: some(
            every(undetected(x, x.horizon - 1) <= undetected(x, 0) - x.C, small_window(x, x.horizon - 1)),
            every(no(small_window(x, 0)), shrinks(x)),
        ),
        paper=True,
    ),
    Lemma(
        "lemma 3: the steady state is kept",
        lambda x, c: steady(x, 0),
        lambda x, c: every(small_window(x, x.horizon - 1), few_undetected(x, x.horizon - 1)),
        paper=True,
    ),
    lemma_4("lemma 4 as printed: no loss at every step", every),
    lemma_4("lemma 4 as meant: no loss at any step", some),
)

PROOF = Proof(
    model="ccac2021_anywhere",
    buffer="1",
    beliefs=(),
    states=(STEADY, ANY),
    constants=(),
    lemmas=LEMMAS,
    formerly=(
        "3ac648719748993dd8bbe0db004e50b6fad3c686454e66c0f35ea8464fa1b02f",
        "109108b713449665fbaaf8a7b4126452f6caac5113e16c2980831d6a17d13afd",
    ),
)
