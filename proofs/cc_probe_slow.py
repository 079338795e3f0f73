"""cc_probe_slow on CBR-delay with a buffer of any size (section 6.3 of the paper, which prints no lemmas for it).

Where what was seen contradicts C_Llambda and q_U, they time out (models/cbr_delay.py). The queue is drained before
C_Llambda converges, as in the paper.
"""

from fractions import Fraction

from ccmatic.models.cbr_delay import explains_probe
from ccmatic.properties.performance import inflight_within, loses_at_most, utilises

from ccmatic.contracts import Constant, Lemma, Measure, Objective, Proof, State
from ccmatic.logic import every, no


def rate_true(x, t):
    """Rate and buffer are such as C_Llambda allows."""
    return explains_probe(x, x.beliefs["C_Llambda"][t])


def true(x, t):
    """So is the queue."""
    return every(rate_true(x, t), x.beliefs["q_U"][t] >= x.queue(t))


def drained(x, t, c):
    """Beliefs are true, and the queue is known to be short."""
    return every(true(x, t), x.beliefs["q_U"][t] <= c["q_U_most"] * x.C)


def inside(x, t, c):
    """C_Llambda has converged."""
    return x.beliefs["C_Llambda"][t] >= c["C_Llambda_least"] * x.C


LITTLE_LOSS = Objective(
    "loses little", "at most {loss} packets are lost in an R_m", lambda x, c: loses_at_most(x, c["loss"])
)
UTILISES = Objective(
    "uses the link",
    "at least {utilisation} of C(T - D) is delivered",
    lambda x, c: utilises(x, c["utilisation"]),
)
UTILISES_STALE = Objective(
    "uses the link",
    "at least {stale_utilisation} of C(T - D) is delivered",
    lambda x, c: utilises(x, c["stale_utilisation"]),
)
LITTLE_INFLIGHT = Objective(
    "bounds inflight", "inflight is at most {inflight}·C(R_m + D)", lambda x, c: inflight_within(x, c["inflight"])
)

STALE = State(
    "C_Llambda too high",
    "C < C_Llambda, or C + β < 3·C_Llambda",
    holds=lambda x, t, c: no(rate_true(x, t)),
    leads_to=("queue bound false", "queue long", "C_Llambda low", "steady"),
    measures=(
        Measure(
            "C_Llambda",
            lambda x, t: x.beliefs["C_Llambda"][t],
            lambda x: x.C / 3,
            "C/3",
            by="fall",
            after=lambda f, c: 3 * f,
        ),
    ),
    unless=(UTILISES_STALE,),
)
FALSE_QUEUE = State(
    "queue bound false",
    "C_Llambda is true, q_U below the queue",
    holds=lambda x, t, c: every(rate_true(x, t), no(true(x, t))),
    leads_to=("queue long", "C_Llambda low", "steady"),
    unless=(UTILISES_STALE,),
)
LONG_QUEUE = State(
    "queue long",
    "beliefs true, q_U > {q_U_most}·C·R_m",
    holds=lambda x, t, c: every(true(x, t), no(drained(x, t, c))),
    leads_to=("C_Llambda low", "steady"),
    measures=(
        Measure(
            "q_U",
            lambda x, t: x.beliefs["q_U"][t],
            lambda x: 0,
            "0",
            by="drain",
            unit=lambda x: x.alpha,
            unit_says="MSS",
        ),
    ),
    ensures=(LITTLE_LOSS,),
)
LOW = State(
    "C_Llambda low",
    "beliefs true, q_U ≤ {q_U_most}·C·R_m, C_Llambda < {C_Llambda_least}·C",
    holds=lambda x, t, c: every(drained(x, t, c), no(inside(x, t, c))),
    leads_to=("steady",),
    measures=(
        Measure(
            "C_Llambda",
            lambda x, t: x.beliefs["C_Llambda"][t],
            lambda x: x.C,
            "C",
            by="climb",
            falls=False,
            unit=lambda x: x.alpha,
            unit_says="MSS/R_m",
        ),
    ),
    ensures=(LITTLE_LOSS, LITTLE_INFLIGHT),
)
STEADY = State(
    "steady",
    "beliefs true, q_U ≤ {q_U_most}·C·R_m, C_Llambda ≥ {C_Llambda_least}·C",
    holds=lambda x, t, c: every(drained(x, t, c), inside(x, t, c)),
    ensures=(UTILISES, LITTLE_INFLIGHT, LITTLE_LOSS),
)

PROOF = Proof(
    model="cbr_delay",
    buffer="any",
    beliefs=("C_Llambda", "q_U"),
    states=(STALE, FALSE_QUEUE, LONG_QUEUE, LOW, STEADY),
    constants=(
        Constant(
            "loss",
            "packets lost in an R_m while beliefs are true, at most",
            Fraction(0),
            Fraction(10),
            step=Fraction(1, 4),
            better="smaller",
            paper="2",
        ),
        Constant(
            "fall",
            "factor by which C_Llambda falls while too high",
            Fraction(101, 100),
            Fraction(2),
            at=Fraction(19, 10),
            paper="1.9",
        ),
        Constant(
            "stale_utilisation",
            "share of the link used while C_Llambda is too high and does not fall, at least",
            Fraction(1, 100),
            Fraction(1),
            paper="0.295",
        ),
        Constant(
            "q_U_most",
            "q_U in the steady state, at most, in C·R_m",
            Fraction(1),
            Fraction(6),
            better="smaller",
            step=Fraction(1, 50),
            paper="3.21",
        ),
        Constant(
            "drain",
            "by how much q_U falls in a window until then, in MSS",
            Fraction(1, 4),
            Fraction(10),
            step=Fraction(1, 4),
        ),
        Constant(
            "inflight",
            "inflight in the steady state, at most, in C(R_m + D)",
            Fraction(1),
            Fraction(5),
            better="smaller",
            step=Fraction(1, 50),
            paper="1.5, 1.7",
        ),
        Constant(
            "climb",
            "by how much C_Llambda rises in a window until converged, in MSS/R_m",
            Fraction(1, 100),
            Fraction(1),
            at=Fraction(3, 10),
            front=(Fraction(1, 5),),
            paper="0.2",
        ),
        Constant(
            "C_Llambda_least",
            "C_Llambda in the steady state, at least, in C",
            Fraction(1, 20),
            Fraction(1),
            paper="0.23",
        ),
        Constant(
            "utilisation",
            "share of the link used in the steady state, at least",
            Fraction(1, 10),
            Fraction(1),
            paper="0.3, 0.295",
        ),
    ),
    lemmas=(
        Lemma("true beliefs stay true", lambda x, c: true(x, 0), lambda x, c: true(x, x.horizon - 1)),
        Lemma(
            "drained queues bound inflight",
            lambda x, c: drained(x, 0, c),
            lambda x, c: inflight_within(x, c["inflight"]),
        ),
        Lemma("true beliefs lose little", lambda x, c: true(x, 0), lambda x, c: loses_at_most(x, c["loss"])),
        Lemma(
            "section 10: q_U of 3.21",
            lambda x, c: drained(x, 0, {"q_U_most": Fraction(321, 100)}),
            lambda x, c: drained(x, x.horizon - 1, {"q_U_most": Fraction(321, 100)}),
            paper=True,
        ),
        Lemma(
            "section 6.3: at most 2 packets lost", lambda x, c: true(x, 0), lambda x, c: loses_at_most(x, 2), paper=True
        ),
    ),
)
