"""AIMD on CCAC's network with a buffer of C·R_m, as its authors prove it by hand: the lemmas of their aimd_proofs.py.

Each lemma is as printed, and is of the windows that their tool looks at, which are all an execution's first: nothing
was halved before (`recovering` is False), a count of what is served begins with the window (`changed` is True), and for
R_m + 1 steps a loss halves the window even in recovery (`time`). At the end of such a window this is not so: "windows
join" breaks, and the window that shows it is saved. So lemma 3, that a steady state is kept over a window, does not
say that it is for ever. proofs/aimd_any_start.py has what is kept for ever, by a controller begun at any step of its
life.

Lemma 4 is there as printed, where a window breaks it only if something is lost at each of its steps, and as meant.
The script asks it with other buffers too, and leaves the longest queue at C·R_m: see proofs/aimd_lemma_4.py.
"""

from fractions import Fraction

from ccmatic.contracts import Lemma, Proof, State
from ccmatic.logic import every, no, some


def bdp(x):
    """C(R_m + D)."""
    return x.C * (x.R + x.D)


def undetected(x, t):
    """Bytes lost that the sender has not found to be lost."""
    return x.L[t] - x.Ld[t]


def small_window(x, t):
    """At most C(R_m + D) + β + MSS."""
    return x.cwnd[t] <= bdp(x) + x.beta + x.alpha


def few_undetected(x, t):
    """At most C(R_m + D) + MSS."""
    return undetected(x, t) <= bdp(x) + x.alpha


def packets_below(x, most):
    """MSS, in C·R_m."""
    return x.alpha < Fraction(most) * x.C * x.R


def shrinks(x):
    """The window ends smaller by more than a packet."""
    return x.cwnd[x.horizon - 1] < x.cwnd[0] - x.alpha


def serves_packets(x):
    """In no step less than a packet is served, but nothing: lemma 2 needs it."""
    steps = range(1, x.horizon)
    return every([some(x.S[t] <= x.S[t - 1], x.S[t] >= x.S[t - 1] + x.alpha) for t in steps])


def steady(x, t):
    """What lemma 3 shows to be kept."""
    return every(small_window(x, t), few_undetected(x, t), packets_below(x, "0.3333333333333333"))


def loses_below_threshold(x, t):
    """Something is lost, after a window of less than β - MSS."""
    return every(x.L[t] > x.L[t - 1], x.cwnd[t - 1] < x.beta - x.alpha)


def lemma_4(name, joined):
    """No loss below the threshold, `joined` over the steps of the window."""
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
ANY = State("any", "of which nothing is said", holds=lambda x, t, c: True)

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

PROOF = Proof(model="ccac2021_anywhere", buffer="1", beliefs=(), states=(STEADY, ANY), constants=(), lemmas=LEMMAS)
