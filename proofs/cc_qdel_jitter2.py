"""cc_qdel on CCAC with D = 2 R_m and an infinite buffer, in steps of R_m: beliefs converge, and the link is used.
Windows are of 15 R_m: in those of 13 and 14 R_m C_L may fall while C_U is too low. How fast true bounds move is chosen:
the edge of that takes long to find. That the queue drains is no part of it: that takes longer still.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs.cc_qdel_varying import on
from ccmatic.proofs.link_rate import UTILISES, near, remembers, short_queue, true

from ccmatic.contracts import Lemma
from ccmatic.logic import every, no

LEAST, MOST = Fraction(3, 5), Fraction(3)
DRAINING = on("ccac", Fraction(1), jitter=2, horizon=16, C_U_most=MOST, C_L_least=LEAST, shrink=Fraction(21, 20))
EMPTY, HIGH, LOW, TRUE, _, STEADY = DRAINING.states
FINAL = ("beliefs true", "steady")


def long(x, c):
    """Converged, with a queue of more than five C(R_m + D)."""
    return every(near(x, 0, c), remembers(x, 0), no(short_queue(x, 0, {"queue": Fraction(5)})))


PROOF = replace(
    DRAINING,
    states=(
        replace(EMPTY, leads_to=("C_L too high", "C_U too low", *FINAL)),
        replace(HIGH, leads_to=FINAL),
        replace(LOW, leads_to=FINAL),
        replace(
            TRUE,
            holds=lambda x, t, c: every(true(x, t), no(near(x, t, c))),
            leads_to=("steady",),
        ),
        replace(
            STEADY,
            says="{C_L_least}·C ≤ C_L ≤ C and C ≤ C_U ≤ {C_U_most}·C",
            holds=lambda x, t, c: near(x, t, c),
            ensures=(UTILISES,),
        ),
    ),
    constants=tuple(each for each in DRAINING.constants if each.name not in ("queue", "inflight", "drain")),
    lemmas=(
        Lemma(
            "F.6: a queue over 5·C(R_m + D) falls",
            long,
            lambda x, c: x.queue(x.horizon - 1) < x.queue(0),
            paper=True,
        ),
    ),
    formerly=("9ab31af15cc2f5f826ef6525c415a74fe813350a0e78ece1a5c43b9779cb730e",),
)
