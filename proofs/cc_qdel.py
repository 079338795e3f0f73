"""cc_qdel on CCAC with a buffer of at least 3C(R_m + D): what the paper proves in Appendix F, and where it differs.

Three states stand for the paper's "beliefs inconsistent": beliefs that are empty, which a window ends; and C_L or C_U
alone on the wrong side of C, so that what progress is, is one thing in each. `remembers` is new: a delay measured late
says little of the queue if anything may have been sent before; what was sent was at most 2C.
"""

from fractions import Fraction

from ccmatic.properties.performance import bdp, inflight_within, loses_at_most, utilises

from ccmatic.contracts import Constant, Lemma, Measure, Objective, Proof, State
from ccmatic.logic import every, implies, no, some


def true(x, t):
    """C is where the beliefs say."""
    return every(x.beliefs["C_L"][t] <= x.C, x.beliefs["C_U"][t] >= x.C)


def crossed(x, t):
    """No link rate is where the beliefs say: it changed, as they were being measured."""
    return x.beliefs["C_L"][t] > x.beliefs["C_U"][t]


def near(x, t, c):
    """Beliefs are true and have converged."""
    return every(true(x, t), x.beliefs["C_L"][t] >= c["C_L_least"] * x.C, x.beliefs["C_U"][t] <= c["C_U_most"] * x.C)


def remembers(x, t):
    """What is inflight was sent at 2C at most since the last byte served was."""
    delays = range(1, x.horizon - 1 - x.D)
    return every([implies(no(x.Q.at_least(t, k)), x.inflight(t) <= 2 * x.C * (k + x.D)) for k in delays])


def short_queue(x, t, c):
    """The bottleneck's queue, in C(R_m + D)."""
    return x.queue(t) <= c["queue"] * bdp(x)


UTILISES = Objective(
    "uses the link", "at least {utilisation} of C(T - D) is delivered", lambda x, c: utilises(x, c["utilisation"])
)
LITTLE_INFLIGHT = Objective(
    "bounds inflight", "inflight is at most {inflight}·C(R_m + D)", lambda x, c: inflight_within(x, c["inflight"])
)
NO_LOSS = Objective(
    "loses nothing if the buffer is large",
    "nothing is lost if the buffer is at least {lossless_buffer}·C(R_m + D)",
    lambda x, c: implies(x.beta >= c["lossless_buffer"] * bdp(x), loses_at_most(x, 0)),
)

C_L = Measure(
    "C_L",
    lambda x, t: x.beliefs["C_L"][t],
    lambda x: x.C,
    "C",
    by="shrink",
    falls=False,
    after=lambda f, c: f / c["C_L_least"],
)
C_U = Measure(
    "C_U",
    lambda x, t: x.beliefs["C_U"][t],
    lambda x: x.C,
    "C",
    by="shrink",
    after=lambda f, c: f * c["C_U_most"],
)

CROSSED = State(
    "beliefs empty",
    "C_L > C_U",
    holds=lambda x, t, c: crossed(x, t),
    leads_to=("C_L too high", "C_U too low", "beliefs true", "converged", "steady"),
)
STALE_LOW = State(
    "C_L too high",
    "C < C_L ≤ C_U",
    holds=lambda x, t, c: every(x.beliefs["C_L"][t] > x.C, no(crossed(x, t))),
    leads_to=("beliefs true", "converged", "steady"),
    measures=(
        Measure(
            "C_U", lambda x, t: x.beliefs["C_U"][t], lambda x: x.C, "C", by="fall", after=lambda f, c: f * c["C_U_most"]
        ),
    ),
    unless=(UTILISES,),
)
STALE_HIGH = State(
    "C_U too low",
    "C_L ≤ C_U < C",
    holds=lambda x, t, c: every(x.beliefs["C_U"][t] < x.C, no(crossed(x, t))),
    leads_to=("beliefs true", "converged", "steady"),
    measures=(
        Measure(
            "C_U", lambda x, t: x.beliefs["C_U"][t], lambda x: x.C, "C", by="rise", falls=False, after=lambda f, c: f
        ),
        Measure(
            "C_L",
            lambda x, t: x.beliefs["C_L"][t],
            lambda x: x.C,
            "C",
            by="rise",
            falls=False,
            after=lambda f, c: f / c["C_L_least"],
        ),
    ),
)
TRUE = State(
    "beliefs true",
    "C_L ≤ C ≤ C_U, not converged",
    holds=lambda x, t, c: every(true(x, t), no(every(near(x, t, c), remembers(x, t)))),
    leads_to=("converged", "steady"),
    measures=(C_L, C_U),
    unless=(UTILISES,),
)
CONVERGED = State(
    "converged",
    "{C_L_least}·C ≤ C_L and C_U ≤ {C_U_most}·C, the queue longer than {queue}·C(R_m + D)",
    holds=lambda x, t, c: every(near(x, t, c), remembers(x, t), no(short_queue(x, t, c))),
    leads_to=("steady",),
    measures=(
        Measure(
            "queue",
            lambda x, t: x.queue(t),
            lambda x: 0,
            "0",
            by="drain",
            unit=lambda x: x.C,
            unit_says="C·R_m",
        ),
    ),
    ensures=(UTILISES,),
)
STEADY = State(
    "steady",
    "converged, the queue at most {queue}·C(R_m + D)",
    holds=lambda x, t, c: every(near(x, t, c), remembers(x, t), short_queue(x, t, c)),
    ensures=(UTILISES, LITTLE_INFLIGHT, NO_LOSS),
)


def converged_stay(x, t, c):
    """Without the queue, on which neither constant depends."""
    return every(near(x, t, c), remembers(x, t))


def large_loss(x):
    """More than three packets in some R_m."""
    return no(loses_at_most(x, 3))


def paper_near(x, t):
    """Lemma F.3's constants."""
    return near(x, t, {"C_L_least": Fraction(27, 40), "C_U_most": 3})


def paper_steady(x, t):
    """Lemma F.5's constants."""
    return every(paper_near(x, t), x.queue(t) <= Fraction(33, 10) * bdp(x))


PAPERS = (
    Lemma("F.1: true beliefs stay true", lambda x, c: true(x, 0), lambda x, c: true(x, x.horizon - 1), paper=True),
    Lemma("F.3: 27/40 and 3", lambda x, c: paper_near(x, 0), lambda x, c: paper_near(x, x.horizon - 1), paper=True),
    Lemma(
        "F.5: queue of 3.3",
        lambda x, c: paper_steady(x, 0),
        lambda x, c: paper_steady(x, x.horizon - 1),
        paper=True,
    ),
    Lemma(
        "F.6: drains by C·R_m/2",
        lambda x, c: every(paper_near(x, 0), no(paper_steady(x, 0))),
        lambda x, c: every(
            paper_near(x, x.horizon - 1),
            some(paper_steady(x, x.horizon - 1), x.queue(x.horizon - 1) < x.queue(0) - x.C / 2),
        ),
        paper=True,
    ),
    *(
        Lemma(
            f"F.7: utilisation {share}",
            lambda x, c: paper_steady(x, 0),
            lambda x, c, share=share: utilises(x, share),
            paper=True,
        )
        for share in (Fraction(83, 100), Fraction(89, 100))
    ),
    Lemma(
        "F.7: inflight 4.4",
        lambda x, c: paper_steady(x, 0),
        lambda x, c: inflight_within(x, Fraction(44, 10)),
        paper=True,
    ),
    Lemma("F.7: at most 3 packets lost", lambda x, c: paper_steady(x, 0), lambda x, c: loses_at_most(x, 3), paper=True),
    Lemma(
        "F.8: no large loss as the rate rises",
        lambda x, c: every(true(x, 0), x.r[x.horizon - 1] > x.r[0]),
        lambda x, c: no(large_loss(x)),
        paper=True,
    ),
)

PROOF = Proof(
    model="ccac",
    buffer=">=6",
    beliefs=("C_L", "C_U"),
    states=(CROSSED, STALE_LOW, STALE_HIGH, TRUE, CONVERGED, STEADY),
    constants=(
        Constant(
            "C_U_most",
            "C_U of converged beliefs, at most, in C",
            Fraction(1),
            Fraction(6),
            better="smaller",
            at=Fraction(3),
            front=(Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(4)),
            paper="3",
        ),
        Constant(
            "C_L_least",
            "C_L of converged beliefs, at least, in C",
            Fraction(1, 2),
            Fraction(1),
            step=Fraction(1, 200),
            paper="27/40",
        ),
        Constant(
            "queue",
            "queue in the steady state, at most, in C(R_m + D)",
            Fraction(0),
            Fraction(5),
            better="smaller",
            step=Fraction(1, 20),
            paper="3.3",
        ),
        Constant(
            "utilisation",
            "share of the link used, at least",
            Fraction(1, 2),
            Fraction(1),
            paper="0.89, 0.83",
        ),
        Constant(
            "inflight",
            "inflight in the steady state, at most, in C(R_m + D)",
            Fraction(1),
            Fraction(10),
            better="smaller",
            step=Fraction(1, 20),
            paper="4.4",
        ),
        Constant(
            "lossless_buffer",
            "buffer from which nothing is lost in the steady state, in C(R_m + D)",
            Fraction(3),
            Fraction(10),
            better="smaller",
            step=Fraction(1, 20),
            paper="3, up to 3 packets lost",
        ),
        Constant(
            "drain",
            "queue drained in a window before the steady state, in C·R_m",
            Fraction(1, 20),
            Fraction(8),
            step=Fraction(1, 20),
            paper="1/2",
        ),
        Constant(
            "fall",
            "factor by which C_U falls while C_L is too high",
            Fraction(101, 100),
            Fraction(5),
            step=Fraction(1, 20),
            paper="1.1",
        ),
        Constant(
            "rise",
            "factor by which C_L or C_U rises while C_U is too low",
            Fraction(101, 100),
            Fraction(3),
            step=Fraction(1, 100),
            paper="1.1",
        ),
        Constant(
            "shrink",
            "factor by which a true bound moves until converged",
            Fraction(101, 100),
            Fraction(4),
            step=Fraction(1, 20),
            paper="1.7",
        ),
    ),
    lemmas=(
        Lemma(
            "converged beliefs stay so",
            lambda x, c: converged_stay(x, 0, c),
            lambda x, c: converged_stay(x, x.horizon - 1, c),
        ),
        *PAPERS,
    ),
)
