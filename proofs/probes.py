"""What controllers by C_Llambda and q_U guarantee on CBR-delay with a buffer of any size.

Beliefs become true, the queue drains, then C_Llambda converges, and the link is used. No constant is chosen by an
author. If observations contradict C_Llambda and q_U, these time out (models/beliefs/probing.py). A state may be left
quickly or slowly. The search first finds the guarantees in the state, then the speed of leaving it. A front shows that
speed for weaker guarantees as well.
"""

from fractions import Fraction

from ccmatic.models.beliefs.probing import explains_probe
from ccmatic.proofs.belief_parts import (
    LITTLE_INFLIGHT,
    LITTLE_LOSS,
    UTILISES,
    constant,
    inflight,
    kept,
    of_belief,
    of_queue,
    progresses_at_all,
    smallest,
    uses_link,
)
from ccmatic.properties.performance import inflight_within, loses_at_most

from ccmatic.contracts import Lemma, Proof, State
from ccmatic.logic import every, no


def rate_true(x, t):
    """C_Llambda explains the link's rate and buffer."""
    return explains_probe(x, x.beliefs["C_Llambda"][t])


def true(x, t):
    """C_Llambda and q_U are true."""
    return every(rate_true(x, t), x.beliefs["q_U"][t] >= x.queue(t))


def drained(x, t, c):
    """Beliefs are true, and q_U shows that the queue is short."""
    return every(true(x, t), x.beliefs["q_U"][t] <= c["q_U_most"] * x.C)


def inside(x, t, c):
    """C_Llambda has converged."""
    return x.beliefs["C_Llambda"][t] >= c["C_Llambda_least"] * x.C


FALLS = of_belief("C_Llambda", "fall", limit=lambda x: x.C / 3, limit_says="C/3", after=lambda f, c: 3 * f)
CLIMBS = of_belief("C_Llambda", "climb", falls=False, unit=lambda x: x.alpha, unit_says="MSS/R_m")
DRAINS = of_queue("q_U", lambda x, t: x.beliefs["q_U"][t], unit=lambda x: x.alpha, unit_says="MSS")

STALE = State(
    "C_Llambda too high",
    "C < C_Llambda, or C + β < 3·C_Llambda",
    holds=lambda x, t, c: no(rate_true(x, t)),
    leads_to=("queue bound false", "queue long", "C_Llambda low", "steady"),
    measures=(FALLS,),
    unless=(uses_link("stale_utilisation"),),
)
FALSE_QUEUE = State(
    "queue bound false",
    "C_Llambda is true, q_U below the queue",
    holds=lambda x, t, c: every(rate_true(x, t), no(true(x, t))),
    leads_to=("queue long", "C_Llambda low", "steady"),
    unless=STALE.unless,
)
LONG_QUEUE = State(
    "queue long",
    "beliefs true, q_U > {q_U_most}·C·R_m",
    holds=lambda x, t, c: every(true(x, t), no(drained(x, t, c))),
    leads_to=("C_Llambda low", "steady"),
    measures=(DRAINS,),
    ensures=(LITTLE_LOSS,),
)
LOW = State(
    "C_Llambda low",
    "beliefs true, q_U ≤ {q_U_most}·C·R_m, C_Llambda < {C_Llambda_least}·C",
    holds=lambda x, t, c: every(drained(x, t, c), no(inside(x, t, c))),
    leads_to=("steady",),
    measures=(CLIMBS,),
    ensures=(LITTLE_LOSS, LITTLE_INFLIGHT),
)
STEADY = State(
    "steady",
    "beliefs true, q_U ≤ {q_U_most}·C·R_m, C_Llambda ≥ {C_Llambda_least}·C",
    holds=lambda x, t, c: every(drained(x, t, c), inside(x, t, c)),
    ensures=(UTILISES, LITTLE_INFLIGHT, LITTLE_LOSS),
)

LEMMAS = (
    kept("true beliefs stay true", lambda x, t, c: true(x, t)),
    Lemma(
        "drained queues bound inflight", lambda x, c: drained(x, 0, c), lambda x, c: inflight_within(x, c["inflight"])
    ),
    Lemma("true beliefs lose little", lambda x, c: true(x, 0), lambda x, c: loses_at_most(x, c["loss"])),
)

PROOF = Proof(
    model="cbr_delay",
    buffer="any",
    beliefs=("C_Llambda", "q_U"),
    states=(STALE, FALSE_QUEUE, LONG_QUEUE, LOW, STEADY),
    constants=(
        smallest("loss", "packets lost in an R_m while beliefs are true, at most", 0, 10, "1/4"),
        constant(
            "stale_utilisation",
            "share of C(T - D) delivered while C_Llambda is too high and does not fall, at least",
            "1/100",
            1,
            front=(Fraction(1, 10), Fraction(1, 5), Fraction(3, 10)),
        ),
        constant("fall", "factor by which C_Llambda falls while too high", "101/100", 2),
        smallest("q_U_most", "q_U in the steady state, at most, in C·R_m", 1, 6, "1/50"),
        constant("drain", "by how much q_U falls in a window until then, in MSS", "1/4", 10, "1/4"),
        inflight(5, "1/50"),
        constant(
            "C_Llambda_least",
            "C_Llambda in the steady state, at least, in C",
            "1/20",
            1,
            front=(Fraction(1, 10), Fraction(1, 5)),
        ),
        constant("climb", "by how much C_Llambda rises in a window until converged, in MSS/R_m", "1/100", 1),
        constant("utilisation", "share of C(T - D) delivered in the steady state, at least", "1/10", 1),
    ),
    lemmas=(
        progresses_at_all(STALE, fall=Fraction(101, 100)),
        progresses_at_all(LOW, climb=Fraction(1, 100)),
        *LEMMAS,
    ),
    formerly=(
        "b266d64579990e0d6552236e04ed9ddae3636e7ef25dd62d088b53a82f346ae0",
        "2ba2327b712cd5dec97f06bed90a8404f83c1a59fbc273c230107aa67198a77d",
    ),
)
