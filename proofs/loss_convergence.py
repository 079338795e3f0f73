"""The loss-convergence trade-off: Theorem 6.1 of the paper with Appendices D and E, step by step.

Steps 1 to 3 are here, over the links and traces of loss_convergence_link. Step 4 is in loss_convergence_ramp, and
Appendix E in loss_convergence_probes. `theorem` names the corresponding theorem in loss_convergence.v, which covers
traces of any length.
"""

from fractions import Fraction

from ccmatic.proofs import loss_convergence_probes, loss_convergence_ramp
from ccmatic.proofs.loss_convergence_link import HORIZON, JITTER, TRACES, Link, intervals, known_rate, link, rows

from ccmatic.logic import equal, every, implies, is_min, some, times
from ccmatic.tradeoffs import reproduce
from ccmatic.tradeoffs.statements import Construction, Hypothesis, Statement

# Step 1. The sender sends the same over link I, whose rate is 1, and over link II.


def link_I(x):
    A, S, K = rows(x, "A S K_I")
    return Link(Fraction(1), x("beta_s"), A, S, [Fraction(0)] * HORIZON, K)


def link_II(x):
    """Return link II with a buffer of β_I = β_s bytes. The result also covers the larger buffer C_II·β_s."""
    A, S, K = rows(x, "A S K_II")
    return Link(x("C_II"), x("beta_s"), A, S, [Fraction(0)] * HORIZON, K)


def step_1_laws(x):
    one, two = link_I(x), link_II(x)
    yield every(x("beta_s") > 0, x("C_II") > 0, equal(one.S[0], 0), one.K[0] >= 0, one.K[0] <= one.A[0])
    yield equal(two.K[0], one.K[0])
    for t in range(1, HORIZON):
        yield every(one.A[t] >= one.A[t - 1], one.S[t] >= one.S[t - 1])
        yield is_min(one.K[t], (True, one.K[t - 1] + one.C), (True, one.A[t]))
        yield is_min(two.K[t], (True, two.K[t - 1] + two.C), (True, two.A[t]))


def no_loss_on_I(x):
    one = link_I(x)
    return every([one.A[t] <= one.K[t] + one.beta for t in range(HORIZON)])


def jitter_of_I(x):
    one = link_I(x)
    for t in range(HORIZON):
        yield one.S[t] <= one.K[t]
        yield one.S[t] >= (one.K[t - JITTER] if t >= JITTER else one.K[0] - (JITTER - t))


def holds_back_queue_alone(x):
    """Bytes sent D ago are delivered, unless they are still in the queue."""
    one = link_I(x)
    return every([some(one.S[t] >= one.A[t - JITTER], one.S[t] >= one.K[t]) for t in range(JITTER, HORIZON)])


SHALLOW = Hypothesis("shallow buffer", "β ≤ C·D", lambda x: x("beta_s") <= JITTER)
NO_LOSS = Hypothesis("no loss", "link I loses nothing", no_loss_on_I)

REPRODUCES = Statement(
    name="step 1: link II reproduces link I",
    says="each link of rate C_II ≥ C_I can look to the sender like a link of rate C_I without loss: it loses nothing, "
    "with a jitter between 0 and D",
    equation="Appendix D.1, Step 1",
    theorem="step_1_reproduces",
    covers=TRACES,
    laws=step_1_laws,
    hypotheses=(
        SHALLOW,
        NO_LOSS,
        Hypothesis("jitter of link I", "its delay box adds between 0 and D", lambda x: every(list(jitter_of_I(x)))),
        Hypothesis(
            "no needless jitter",
            "its delay box delays no byte beyond R_m + D, unless the byte is still queued",
            holds_back_queue_alone,
        ),
        Hypothesis("faster link", "C_II ≥ C_I", lambda x: x("C_II") >= 1),
    ),
    conclusion=lambda x: every(list(link_II(x).laws())),
)

REPRODUCED = Construction(
    name="step 1: executions",
    says="link II can release each packet when link I did: its jitter is between 0 and D, and the sender behaves alike",
    equation="Appendix D.1, Step 1",
    theorem="step_1_reproduces",
    covers=reproduce.COVERS,
    examine=reproduce.examine,
    breaks=reproduce.BREAKS,
)

MUST_LOSE = Statement(
    name="step 1: without loss the link may be idle",
    says="if C_II ≥ C_I/u, the same deliveries use at most a share u of link II",
    equation="Appendix D.1, Step 1",
    theorem="step_1_must_lose",
    covers=TRACES,
    laws=lambda x: [*link_I(x).laws(), x("beta_s") > 0, x("C_II") > 0, x("u") > 0],
    hypotheses=(Hypothesis("link II is fast", "u·C_II ≥ C_I", lambda x: times(x("u"), x("C_II")) >= 1),),
    conclusion=lambda x: every([link_I(x).S[t] <= times(x("u"), x("C_II")) * (t + JITTER) for t in range(HORIZON)]),
)


# Step 2. C_Llambda is the maximum over intervals of (bytes sent) / (length + β_s).


def explained(link, beta_s):
    """Eq. D.1: C_Llambda is at most the link's rate, 1."""
    return every([link.A[t] - link.A[s] <= (t - s) + beta_s for s, t in intervals()])


def no_loss(x):
    return equal(link(x).L[-1], link(x).L[0])


SOUND = Statement(
    name="step 2: C_Llambda is sound",
    says="until a loss, no interval contains more than C·(its length + β_s): C_Llambda ≤ C",
    equation="Eq. D.1",
    theorem="step_2_sound",
    covers=TRACES,
    laws=lambda x: [*link(x).laws(), x("beta_s") > 0],
    hypotheses=(
        Hypothesis("no loss", "no byte is lost", no_loss),
        Hypothesis("rate", "the link's rate is C", known_rate),
        Hypothesis(
            "buffer",
            "β = C·β_s",
            lambda x: equal(x("beta"), x("beta_s")),
            ("β is a packet more", lambda x: every(x("packet") > 0, equal(x("beta"), x("beta_s") + x("packet")))),
        ),
    ),
    conclusion=lambda x: explained(link(x), x("beta_s")),
)


def slowest_link(x):
    """Return the link of rate C_Llambda = 1 without loss."""
    A, S, K = rows(x, "A S K")
    return Link(Fraction(1), x("beta_s"), A, S, [Fraction(0)] * HORIZON, K)


def step_2_laws(x):
    slowest = slowest_link(x)
    yield every(x("beta_s") > 0, slowest.A[0] >= 0, equal(slowest.K[0], slowest.A[0]))
    for t in range(1, HORIZON):
        yield every(slowest.A[t] >= slowest.A[t - 1], slowest.S[t] >= slowest.S[t - 1])
        yield is_min(slowest.K[t], (True, slowest.K[t - 1] + 1), (True, slowest.A[t]))


def latest(x):
    """Every byte takes R_m + D."""
    seen = slowest_link(x)
    return every([equal(seen.S[t], seen.A[t - JITTER] if t >= JITTER else 0) for t in range(HORIZON)])


def sooner(x):
    """Some bytes take less than R_m + D."""
    seen = slowest_link(x)
    due = [seen.A[t - JITTER] if t >= JITTER else 0 for t in range(HORIZON)]
    return every([every(seen.S[t] >= due[t], seen.S[t] <= seen.A[t]) for t in range(HORIZON)])


TIGHT = Statement(
    name="step 2: C_Llambda is tight",
    says="the link of rate C_Llambda, which loses nothing, explains the observations: 0 ≤ jitter ≤ D",
    equation="Eq. D.1",
    theorem="step_2_tight",
    covers=TRACES,
    laws=step_2_laws,
    hypotheses=(
        Hypothesis(
            "Eq. D.1",
            "no interval contains more than C_Llambda·(its length + β_s)",
            lambda x: explained(slowest_link(x), x("beta_s")),
        ),
        SHALLOW,
        Hypothesis("delays tell nothing", "every RTT is R_m + D", latest, ("some RTTs are shorter", sooner)),
        Hypothesis("starts empty", "nothing was sent before", lambda x: equal(x.row("A", 1)[0], 0)),
    ),
    conclusion=lambda x: every(list(slowest_link(x).laws())),
)


# Step 3. The risked loss, on the link of rate C_Llambda = 1.

RISKED = Statement(
    name="step 3: the loss risked",
    says="the link of rate C_Llambda loses at least ΔL = (bytes in an interval) - C_Llambda·(its length + β_s)",
    equation="Appendix D, Step 3",
    theorem="step_3_loss_risked",
    covers=TRACES,
    laws=lambda x: [*link(x).laws(), x("beta_s") > 0],
    hypotheses=(
        Hypothesis("rate", "the link's rate is C_Llambda", known_rate),
        Hypothesis("buffer", "its buffer is C_Llambda·β_s", lambda x: equal(x("beta"), x("beta_s"))),
    ),
    conclusion=lambda x: every(
        [link(x).A[t] - link(x).A[s] - (t - s) - x("beta_s") <= link(x).L[t] - link(x).L[s] for s, t in intervals()]
    ),
)


def lost_exactly(x):
    seen = link(x)
    for t in range(1, HORIZON):
        exact = [equal(seen.L[t] - seen.L[s], seen.A[t] - seen.A[s] - (t - s) - x("beta_s")) for s in range(t)]
        yield implies(seen.L[t] > seen.L[t - 1], some(exact))


EXACT = Statement(
    name="step 3: and no more",
    says="at each loss, the bytes lost since some instant are exactly ΔL",
    equation="Appendix D, Step 3",
    theorem="step_3_exact",
    covers=TRACES,
    laws=lambda x: [*link(x).laws(), x("beta_s") > 0],
    hypotheses=(
        Hypothesis("rate", "the link's rate is C_Llambda", known_rate),
        Hypothesis("buffer", "its buffer is C_Llambda·β_s", lambda x: equal(x("beta"), x("beta_s"))),
        Hypothesis("starts empty", "nothing is queued at first", lambda x: equal(link(x).admitted(0), link(x).K[0])),
    ),
    conclusion=lambda x: every(list(lost_exactly(x))),
)

STEPS = (
    REPRODUCES,
    REPRODUCED,
    MUST_LOSE,
    SOUND,
    TIGHT,
    RISKED,
    EXACT,
    *loss_convergence_ramp.STEPS,
    *loss_convergence_probes.STEPS,
)
