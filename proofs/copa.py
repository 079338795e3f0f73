"""Copa on CCAC's network without a buffer's end, as its authors prove it by hand: the lemmas of their copa_proofs.py.

Each is as printed, of windows in which nothing is lost; lemma 4 lets cwnd be a packet larger at first than at last.
Lemmas 1 and 2 are of the network that composes: see proofs/copa_composing.py. Lemma 3 needs windows of 15 steps
(`--horizon 15`), of which lemmas 1 and 2 are false: at no length that was tried do all four hold.

They do not add up to a proof. Copa decides from step 2 of a window on, and windows have but one step in common; the
delay of what waits at first is not known to it, so that "windows join" breaks.
"""

from fractions import Fraction

from ccmatic.proofs.aimd import ANY

from ccmatic.contracts import Lemma, Proof
from ccmatic.logic import equal, every, some


def given(x, most):
    """MSS is below so many C·R_m, and nothing is lost."""
    return every(x.alpha < Fraction(most) * x.C * x.R, equal(x.L[0], 0), equal(x.L[x.horizon - 1], 0))


def first(x):
    """The window before Copa decides."""
    return x.cwnd[x.R + x.D - 1]


def last(x):
    """The last window."""
    return x.cwnd[x.horizon - 1]


def most(x, packets):
    """4·C·R_m and so many packets."""
    return 4 * x.C * x.R + packets * x.alpha


def least(x):
    """C·R_m - MSS."""
    return x.C * x.R - x.alpha


def inflight(x, t):
    """Sent and not served."""
    return x.A[t] - x.S[t]


LEMMAS = (
    Lemma(
        "lemma 1: a large window falls",
        lambda x, c: every(given(x, "0.3333333333333333"), first(x) > most(x, 1)),
        lambda x, c: last(x) < first(x) - x.alpha,
        paper=True,
    ),
    Lemma(
        "lemma 2: a long queue falls",
        lambda x, c: every(given(x, "0.2"), first(x) <= most(x, 1), inflight(x, 0) > most(x, 2)),
        lambda x, c: every(inflight(x, x.horizon - 1) <= inflight(x, 0) - x.alpha, last(x) <= most(x, 1)),
        paper=True,
    ),
    Lemma(
        "lemma 3: a small window rises",
        lambda x, c: every(given(x, "0.25"), first(x) < least(x), inflight(x, 0) <= most(x, 2)),
        lambda x, c: every(
            some(last(x) >= least(x), last(x) >= first(x) + x.alpha), inflight(x, x.horizon - 1) <= most(x, 2)
        ),
        paper=True,
    ),
    Lemma(
        "lemma 4: the steady state is kept",
        lambda x, c: every(
            given(x, "0.14285714285714285"), first(x) >= least(x), first(x) <= most(x, 2), inflight(x, 0) <= most(x, 2)
        ),
        lambda x, c: every(last(x) <= most(x, 1), last(x) >= least(x), inflight(x, x.horizon - 1) <= most(x, 2)),
        paper=True,
    ),
)

PROOF = Proof(model="ccac2021_non_composing", buffer="infinite", beliefs=(), states=(ANY,), constants=(), lemmas=LEMMAS)
