"""Copa on CCAC's network with an infinite buffer: the lemmas of copa_proofs.py, which CCAC's authors combine by hand.

Each lemma is as printed, about windows without loss. Lemma 4 permits a cwnd one packet larger at the start than at the
end. Lemmas 1 and 2 are about the composing network: see proofs/copa_composing.py. Lemma 3 needs windows of 15 steps
(`--horizon 15`), for which lemmas 1 and 2 are false. At no length that was tried do all four hold.

The lemmas do not add up to a proof. Copa decides from step 2 of a window on, but consecutive windows share only one
step. It does not know the delay of bytes that wait at the start. So "windows join" is violated.
"""

from fractions import Fraction

from ccmatic.proofs.aimd import ANY

from ccmatic.contracts import Lemma, Proof
from ccmatic.logic import equal, every, some


def given(x, most):
    """MSS is below `most`·C·R_m, and no byte is lost."""
    return every(x.alpha < Fraction(most) * x.C * x.R, equal(x.L[0], 0), equal(x.L[x.horizon - 1], 0))


def first(x):
    """Return the window before Copa's first decision."""
    return x.cwnd[x.R + x.D - 1]


def last(x):
    """Return the window at the last step."""
    return x.cwnd[x.horizon - 1]


def most(x, packets):
    """Return 4·C·R_m plus a number of packets."""
    return 4 * x.C * x.R + packets * x.alpha


def least(x):
    """Return C·R_m - MSS."""
    return x.C * x.R - x.alpha


def inflight(x, t):
    """Return the bytes sent and not served."""
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

PROOF = Proof(
    model="ccac2021_non_composing",
    buffer="infinite",
    beliefs=(),
    states=(ANY,),
    constants=(),
    lemmas=LEMMAS,
    formerly=("0c11a19552b05ba93767f4f124d8d7e2964445d39fcacd3b92084b8c7833cde2",),
)
