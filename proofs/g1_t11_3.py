"""g1_t11_3, a controller of query G1 that the paper does not treat: it sends next to nothing while it sees a queue.
On CCAC with an infinite buffer; the states are cc_qdel's. In windows of 9 R_m C_L may fall while C_U is too low; in
those of 10 R_m it may not."""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs import cc_qdel as qdel

from ccmatic.contracts import Constant, Lemma, Proof

STEADY = replace(qdel.STEADY, ensures=(qdel.UTILISES, qdel.LITTLE_INFLIGHT))

PROOF = Proof(
    model="ccac",
    buffer="infinite",
    horizon=11,
    beliefs=("C_L", "C_U"),
    states=(qdel.CROSSED, qdel.STALE_LOW, qdel.STALE_HIGH, qdel.TRUE, qdel.CONVERGED, STEADY),
    constants=(
        Constant(
            "C_U_most",
            "C_U of converged beliefs, at most, in C",
            Fraction(1),
            Fraction(6),
            better="smaller",
            at=Fraction(3),
            front=(Fraction(2), Fraction(4)),
        ),
        Constant(
            "C_L_least", "C_L of converged beliefs, at least, in C", Fraction(1, 20), Fraction(1), Fraction(1, 200)
        ),
        Constant(
            "queue",
            "queue in the steady state, at most, in C(R_m + D)",
            Fraction(0),
            Fraction(5),
            Fraction(1, 20),
            better="smaller",
        ),
        Constant("utilisation", "share of the link used, at least", Fraction(1, 10), Fraction(1)),
        Constant(
            "inflight",
            "inflight in the steady state, at most, in C(R_m + D)",
            Fraction(1),
            Fraction(10),
            Fraction(1, 20),
            better="smaller",
        ),
        Constant(
            "drain",
            "queue drained in a window before the steady state, in C·R_m",
            Fraction(1, 20),
            Fraction(8),
            Fraction(1, 20),
        ),
        Constant(
            "fall", "factor by which C_U falls while C_L is too high", Fraction(101, 100), Fraction(5), Fraction(1, 20)
        ),
        Constant("rise", "factor by which C_L or C_U rises while C_U is too low", Fraction(101, 100), Fraction(3)),
        Constant(
            "shrink",
            "factor by which a true bound moves until converged",
            Fraction(101, 100),
            Fraction(4),
            Fraction(1, 20),
        ),
    ),
    lemmas=(
        Lemma(
            "converged beliefs stay so",
            lambda x, c: qdel.converged_stay(x, 0, c),
            lambda x, c: qdel.converged_stay(x, x.horizon - 1, c),
        ),
    ),
)
