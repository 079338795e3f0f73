"""The loss-convergence trade-off: Theorem 6.1 of the paper and its Appendices D and E, step by step.

Without loss of generality the link that a step is about has rate 1 (that gives bytes their unit), so that solvers need
linear arithmetic only; in Step 4 β_s is 1 (that gives time its unit). Traces are those of models/cbr_delay.py, its laws
those of links. The theorems named are in proofs/loss_convergence.v, where the same is proved for traces of any length.
"""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations

import sympy

from ccmatic.buffer import Buffer
from ccmatic.formula import equal, every, implies, is_max, is_min, some
from ccmatic.models.cbr_delay import MODEL
from ccmatic.tradeoff import reproduce
from ccmatic.tradeoff.statements import Construction, Derivation, Hypothesis, Statement, times

#: Steps of a symbolic trace, and the most jitter in steps.
HORIZON, JITTER = 12, 2

#: Round trips that the whole of Step 4 is asked for, and sends in each.
ROUNDS, SENDS = 7, 2

TRACES = f"every trace of {HORIZON} steps, D = {JITTER} steps"
ANY = "all numbers"


class Link:
    """A link of rate C and buffer beta bytes, as models/cbr_delay.py reads an execution over it: arrivals A, service S,
    losses L, tokens K, rows of bytes."""

    horizon, D, buffer = HORIZON, JITTER, Buffer.parse("any")

    def __init__(self, C, beta, A, S, L, K):
        self.C, self.beta, self.A, self.S, self.L, self.K = C, beta, A, S, L, K
        self.Ld = [L[0], *L[:-1]]

    def admitted(self, t):
        """Bytes sent and not lost."""
        return self.A[t] - self.L[t]

    def laws(self):
        """That it is one, and that bytes are sent, served and lost for ever, counted from when it starts."""
        yield from (formula for _, _, formula in MODEL.network(self))
        yield every(equal(self.S[0], 0), self.K[0] >= 0, self.L[0] >= 0, self.beta >= 0, self.C > 0)
        for t in range(1, HORIZON):
            yield every(*(row[t] >= row[t - 1] for row in (self.A, self.S, self.L)))
            yield self.admitted(t) >= self.admitted(t - 1)


def rows(x, names):
    """The columns of a trace, by their names."""
    return [x.row(name, HORIZON) for name in names.split()]


def intervals():
    """(first, last) step of each."""
    return combinations_with_replacement(range(HORIZON), 2)


# Step 1. The same is sent over link I, of rate 1, and link II.


def link_I(x):
    A, S, K = rows(x, "A S K_I")
    return Link(Fraction(1), x("beta_s"), A, S, [Fraction(0)] * HORIZON, K)


def link_II(x):
    """With a buffer of β_I = β_s bytes, so all the more with one of C_II·β_s."""
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
    """What was sent D ago is delivered, unless it is queued still."""
    one = link_I(x)
    return every([some(one.S[t] >= one.A[t - JITTER], one.S[t] >= one.K[t]) for t in range(JITTER, HORIZON)])


SHALLOW = Hypothesis("shallow buffer", "β ≤ C·D", lambda x: x("beta_s") <= JITTER)
NO_LOSS = Hypothesis("no loss", "nothing that was sent is lost", no_loss_on_I)

REPRODUCES = Statement(
    name="step 1: link II reproduces link I",
    says="what a link of rate C_I shows without loss, each of rate C_II ≥ C_I shows, its jitter within 0 and D, "
    "and loses nothing",
    equation="Appendix D.1, Step 1",
    theorem="step_1_reproduces",
    covers=TRACES,
    laws=step_1_laws,
    hypotheses=(
        SHALLOW,
        NO_LOSS,
        Hypothesis("jitter of link I", "its delay box adds between 0 and D", lambda x: every(list(jitter_of_I(x)))),
        Hypothesis("no needless jitter", "its delay box holds nothing beyond R_m + D", holds_back_queue_alone),
        Hypothesis("faster link", "C_II ≥ C_I", lambda x: x("C_II") >= 1),
    ),
    conclusion=lambda x: every(list(link_II(x).laws())),
)

REPRODUCED = Construction(
    name="step 1: executions",
    says="link II, told to release each packet when link I did, can: its jitter is within 0 and D, and the sender sends "
    "the same",
    equation="Appendix D.1, Step 1",
    theorem="step_1_reproduces",
    covers=reproduce.COVERS,
    examine=reproduce.examine,
    breaks=reproduce.BREAKS,
)

MUST_LOSE = Statement(
    name="step 1: without loss the link may be idle",
    says="the same deliveries are at most a share u of what link II could do, once C_II ≥ C_I/u",
    equation="Appendix D.1, Step 1",
    theorem="step_1_must_lose",
    covers=TRACES,
    laws=lambda x: [*link_I(x).laws(), x("beta_s") > 0, x("C_II") > 0, x("u") > 0],
    hypotheses=(Hypothesis("link II is fast", "u·C_II ≥ C_I", lambda x: times(x("u"), x("C_II")) >= 1),),
    conclusion=lambda x: every(
        [link_I(x).S[t] <= times(x("u"), x("C_II")) * (t + JITTER) for t in range(HORIZON)]
    ),
)


# Step 2. C_Llambda = max over intervals of (what was sent) / (its length + β_s).


def explained(link, beta_s):
    """Eq. D.1: C_Llambda is at most the link's rate, 1."""
    return every([link.A[t] - link.A[s] <= (t - s) + beta_s for s, t in intervals()])


def link(x):
    """A link of any rate and buffer."""
    return Link(x("C"), x("beta"), *rows(x, "A S L K"))


def known_rate(x):
    return equal(x("C"), 1)


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
        Hypothesis("buffer", "β = C·β_s", lambda x: equal(x("beta"), x("beta_s")),
                   ("β is a packet more", lambda x: every(x("packet") > 0, equal(x("beta"), x("beta_s") + x("packet"))))),
    ),
    conclusion=lambda x: explained(link(x), x("beta_s")),
)


def slowest_link(x):
    """Of rate C_Llambda = 1, that lost nothing."""
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
    """Some bytes take less."""
    seen = slowest_link(x)
    due = [seen.A[t - JITTER] if t >= JITTER else 0 for t in range(HORIZON)]
    return every([every(seen.S[t] >= due[t], seen.S[t] <= seen.A[t]) for t in range(HORIZON)])


TIGHT = Statement(
    name="step 2: C_Llambda is tight",
    says="the link of rate C_Llambda, which loses nothing, explains what was seen: 0 ≤ jitter ≤ D",
    equation="Eq. D.1",
    theorem="step_2_tight",
    covers=TRACES,
    laws=step_2_laws,
    hypotheses=(
        Hypothesis("Eq. D.1", "no interval contains more than C_Llambda·(its length + β_s)",
                   lambda x: explained(slowest_link(x), x("beta_s"))),
        SHALLOW,
        Hypothesis("delays tell nothing", "every RTT is R_m + D", latest, ("some RTTs are shorter", sooner)),
        Hypothesis("starts empty", "nothing was sent before", lambda x: equal(x.row("A", 1)[0], 0)),
    ),
    conclusion=lambda x: every(list(slowest_link(x).laws())),
)


# Step 3. The loss that is risked, on the link of rate C_Llambda = 1.

RISKED = Statement(
    name="step 3: the loss risked",
    says="the link of rate C_Llambda loses ΔL = (what an interval contains) - C_Llambda·(its length + β_s), or more",
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
        exact = [
            equal(seen.L[t] - seen.L[s], seen.A[t] - seen.A[s] - (t - s) - x("beta_s")) for s in range(t)
        ]
        yield implies(seen.L[t] > seen.L[t - 1], some(exact))


EXACT = Statement(
    name="step 3: and no more",
    says="whenever it loses, its loss since some instant is ΔL",
    equation="Appendix D, Step 3",
    theorem="step_3_exact",
    covers=TRACES,
    laws=lambda x: [*link(x).laws(), x("beta_s") > 0],
    hypotheses=(
        Hypothesis("rate", "the link's rate is C_Llambda", known_rate),
        Hypothesis("buffer", "its buffer is C_Llambda·β_s", lambda x: equal(x("beta"), x("beta_s"))),
        Hypothesis("starts empty", "nothing is queued at first",
                   lambda x: equal(link(x).admitted(0), link(x).K[0])),
    ),
    conclusion=lambda x: every(list(lost_exactly(x))),
)


# Step 4. c: C_Llambda in a round trip; f: what may be lost at c; β_s = 1. An interval is as long as you like.


def risks(x, more=0):
    """ΔL is at most the allowance and `more`, on an interval of that length that contains `sent` bytes."""
    return x("sent") - times(x("c"), x("length") + 1) <= x("f") + more


ALLOWED = Hypothesis(
    "allowance",
    "an interval risks at most f(C_Llambda)",
    risks,
    ("it risks a packet more", lambda x: every(equal(x("packet"), 1), risks(x, x("packet")))),
)
NOT_NEGATIVE = Hypothesis("f ≥ 0", "what may be lost is not negative", lambda x: every(x("f") >= 0, x("phi") >= 0))
NO_SHORTCUT = Hypothesis(
    "no shortcut",
    "C + f(C)/β_s does not fall, so that who has the lower rate does not get ahead",
    lambda x: implies(x("c") <= x("F"), x("c") + x("f") <= x("F") + x("phi")),
)
BEHIND = Hypothesis("F so far", "C_Llambda ≤ F(k) in round trip k", lambda x: x("c") <= x("F"))


def step_4_laws(x):
    yield every(x("length") >= 0, x("sent") >= 0, x("c") > 0, x("F") > 0)
    yield equal(x("F_next"), x("F") + x("phi"))


def measured(x):
    """Eq. D.1: C_Llambda stays, or is what the interval contains over its length + β_s."""
    return some(equal(x("c_next"), x("c")), equal(times(x("c_next"), x("length") + 1), x("sent")))


GROWTH = Statement(
    name="step 4: growth in a round trip",
    says="C_Llambda grows by f(C_Llambda)/β_s at most",
    equation="Appendix D, Step 4",
    theorem="step_4_growth",
    covers=ANY,
    laws=lambda x: [*step_4_laws(x), measured(x)],
    hypotheses=(ALLOWED, NOT_NEGATIVE),
    conclusion=lambda x: x("c_next") <= x("c") + x("f"),
)

BASE = Statement(
    name="step 4: induction, base",
    says="C_Llambda ≤ F(0) in round trip 0",
    equation="Appendix D, Step 4",
    theorem="step_4_no_faster",
    covers=ANY,
    laws=lambda x: [equal(x("F"), x("start")), x("start") > 0],
    hypotheses=(Hypothesis("start", "it is at most C_0 at first", lambda x: x("c") <= x("start")),),
    conclusion=lambda x: x("c") <= x("F"),
)

INDUCTION = Statement(
    name="step 4: induction, step",
    says="C_Llambda ≤ F(k) in round trip k makes it ≤ F(k+1) in round trip k+1, for each k and f",
    equation="Appendix D, Step 4",
    theorem="step_4_no_faster",
    covers=ANY,
    laws=lambda x: [*step_4_laws(x), measured(x)],
    hypotheses=(BEHIND, ALLOWED, NOT_NEGATIVE, NO_SHORTCUT),
    conclusion=lambda x: x("c_next") <= x("F_next"),
)

OVERFLOW = Statement(
    name="step 4: no loss before",
    says="in round trip k a link of rate C loses only if F(k+1) > C, so who sees a loss has waited F⁻¹(C) round trips",
    equation="Eqs. D.2, D.3",
    theorem="loss_convergence",
    covers=ANY,
    laws=lambda x: [*step_4_laws(x), x("C") > 0],
    hypotheses=(
        Hypothesis("Eq. D.2", "the link's buffer overflows", lambda x: x("sent") > times(x("C"), x("length") + 1)),
        BEHIND,
        ALLOWED,
        NOT_NEGATIVE,
        NO_SHORTCUT,
    ),
    conclusion=lambda x: x("F_next") > x("C"),
)


# Step 4 as a whole: SENDS bursts a round trip, f known by its values at C_Llambda and F in each.


def ending_in(k):
    """The intervals that end in round trip k, as (first burst, last burst)."""
    for last in range(k * SENDS, (k + 1) * SENDS):
        yield from ((first, last) for first in range(last + 1))


def contained(x, interval):
    """(bytes, length) of an interval."""
    first, last = interval
    return sum(x.row("sent", ROUNDS * SENDS)[first : last + 1]), last - first


def points(x):
    """(C, f(C)) where f is asked."""
    c, f, F, phi = x.row("c", ROUNDS + 1), x.row("f", ROUNDS), x.row("F", ROUNDS + 1), x.row("phi", ROUNDS)
    return [*zip(c, f), *zip(F, phi)]


def ramp_laws(x):
    c, F, phi = x.row("c", ROUNDS + 1), x.row("F", ROUNDS + 1), x.row("phi", ROUNDS)
    yield from (each >= 0 for each in x.row("sent", ROUNDS * SENDS))
    yield from (f >= 0 for _, f in points(x))
    yield every(x("start") > 0, equal(F[0], x("start")), equal(c[0], x("start")))
    for k in range(ROUNDS):
        yield equal(F[k + 1], F[k] + phi[k])
        seen = [contained(x, interval) for interval in ending_in(k)]
        yield every(c[k + 1] >= c[k], [sent <= c[k + 1] * (length + 1) for sent, length in seen])
        yield some(equal(c[k + 1], c[k]), [equal(sent, c[k + 1] * (length + 1)) for sent, length in seen])
    for (a, f), (b, g) in combinations(points(x), 2):
        yield implies(equal(a, b), equal(f, g))


def risks_little(x, more=0):
    """On every interval, f of C_Llambda in the round trip in which it ends, and `more`."""
    c, f = x.row("c", ROUNDS + 1), x.row("f", ROUNDS)
    for k in range(ROUNDS):
        for sent, length in (contained(x, interval) for interval in ending_in(k)):
            yield sent - c[k] * (length + 1) <= f[k] + more


def reaches(x, k):
    """By round trip k, C_Llambda is C, or a loss on a link of rate C is seen."""
    before = [contained(x, interval) for j in range(k) for interval in ending_in(j)]
    return some(x.row("c", ROUNDS + 1)[k] >= x("C"), [sent > x("C") * (length + 1) for sent, length in before])


NO_FASTER = Statement(
    name=f"step 4: {ROUNDS} round trips as a whole",
    says="no rates that risk at most f at each step reach C, or see a loss, before round trip F⁻¹(C), whatever f is",
    equation="Theorem 6.1, generalised",
    theorem="loss_convergence",
    covers=f"all bursts at {SENDS * ROUNDS} instants, β_s apart, in {ROUNDS} round trips",
    laws=lambda x: [*ramp_laws(x), x("C") > x("start")],
    hypotheses=(
        Hypothesis("allowance", "each interval risks at most f(C_Llambda)", lambda x: every(list(risks_little(x))),
                   ("each may risk a packet more",
                    lambda x: every(equal(x("packet"), 1), list(risks_little(x, x("packet")))))),
        Hypothesis("no shortcut", "C + f(C)/β_s does not fall",
                   lambda x: every([implies(a <= b, a + f <= b + g) for (a, f), (b, g) in permutations(points(x), 2)])),
    ),
    conclusion=lambda x: every(
        [implies(reaches(x, k), x.row("F", ROUNDS + 1)[k] >= x("C")) for k in range(ROUNDS + 1)]
    ),
)


# Appendix E. Probes: intervals that raise C_Llambda, here over D as in Eq. 6.2.

loss, sent, queue, C, beta, D, past, future, epsilon, c, t, excess = sympy.symbols(
    "loss sent queue C beta D T_past T_future epsilon C_Llambda t excess", positive=True
)
c_past = sympy.Symbol("C_past", positive=True)

E_2 = Derivation(
    name="appendix E: Eq. E.2",
    says="a probe of length T^f, after one of T^p, risks ΔL = (CD - β)(T^p - T^f)/(T^p + D) + ε(T^f + D)",
    equation="Eq. E.2 from E.1",
    theorem=None,
    covers="an identity",
    start=sent - (C * future + beta),
    substitutions=(
        ("future probe", sent, (c_past + epsilon) * (future + D)),
        ("past probe", c_past, (C * past + beta) / (past + D)),
    ),
    result=(C * D - beta) * (past - future) / (past + D) + epsilon * (future + D),
)

E_5 = Derivation(
    name="appendix E: Eq. E.5",
    says="a probe that begins behind a queue risks ΔL = (the queue) + (what it sends beyond C_Llambda·(t + D))",
    equation="Eq. E.5 from E.1",
    theorem=None,
    covers="an identity",
    start=queue + sent - (C * t + beta),
    substitutions=(
        ("the slowest link's rate", C, c),
        ("its buffer", beta, c * D),
        ("Eq. E.4", sent, c * (t + D) + excess),
    ),
    result=queue + excess,
)


def probe_laws(x):
    """D = 1. Links 1 and 2, of a buffer of β_s, let the past probe just through."""
    yield every(*(number > 0 for number in x("C_1 C_2 beta_s T_past T_future epsilon")))
    for link in "12":
        yield equal(times(x(f"past_{link}"), x("T_past") + 1), times(x(f"C_{link}"), x("T_past") + x("beta_s")))


def probe_loss(x, link):
    """Eq. E.1, of the probe that raises C_Llambda by epsilon."""
    sent = times(x(f"past_{link}") + x("epsilon"), x("T_future") + 1)
    return sent - times(x(f"C_{link}"), x("T_future") + x("beta_s"))


SHORTER = Statement(
    name="appendix E: shorter probes",
    says="the loss that a shorter probe risks grows with C: it is below no constant",
    equation="Eq. E.2",
    theorem=None,
    covers=ANY,
    laws=probe_laws,
    hypotheses=(
        Hypothesis("shorter", "T^f < T^p", lambda x: x("T_future") < x("T_past")),
        Hypothesis("shallow buffer", "β < C·D", lambda x: x("beta_s") < 1),
        Hypothesis("faster link", "C_2 > C_1", lambda x: x("C_2") > x("C_1")),
    ),
    conclusion=lambda x: probe_loss(x, "2") > probe_loss(x, "1"),
)


def believed(x):
    """The links of Figure 8, that explain a past probe of length T_past, which set C_Llambda = 1; D is any."""
    return every(x("C") >= 1, times(x("C"), x("T_past")) + x("beta") >= x("T_past") + x("D"))


def slow_probe_laws(x):
    """C_Llambda = 1; what the probe sends beyond what the link serves and its buffer holds is lost."""
    T, queue, loss = x("T_future queue loss")
    yield every(*(number > 0 for number in x("T_past T_future D alpha C")))
    yield every(queue >= 0, queue <= x("beta"))
    overflow = queue + T + x("D") + x("alpha") - times(x("C"), T) - x("beta")
    yield is_max(loss, (True, Fraction(0)), (True, overflow))


LONG_ENOUGH = Statement(
    name="appendix E: probes as long",
    says="cc_probe_slow's probe, C_Llambda·(T + D) + α over T ≥ T*, loses at most 2α on every link of the belief set",
    equation="section 6.2.1",
    theorem=None,
    covers=ANY,
    laws=slow_probe_laws,
    hypotheses=(
        Hypothesis("belief set", "C ≥ C_Llambda and C·T* + β ≥ C_Llambda·(T* + D)", believed),
        Hypothesis("as long", "T^f ≥ T^p", lambda x: x("T_future") >= x("T_past")),
        Hypothesis("drained queue", "at most α is queued when it begins", lambda x: x("queue") <= x("alpha")),
    ),
    conclusion=lambda x: x("loss") <= 2 * x("alpha"),
)


def before_probe(x):
    """What is queued when the interval begins, on the link of rate C_Llambda = 1 and β = C_Llambda·D."""
    return link(x).admitted(0) - link(x).K[0]


DRAINED = Statement(
    name="appendix E: probes behind a queue",
    says="an interval that raises C_Llambda loses more than what was queued when it began",
    equation="Eqs. E.4, E.5",
    theorem=None,
    covers=TRACES,
    laws=lambda x: link(x).laws(),
    hypotheses=(
        Hypothesis("Eq. E.4", "the interval contains more than C_Llambda·(its length + D)",
                   lambda x: link(x).A[-1] - link(x).A[0] > HORIZON - 1 + JITTER),
        Hypothesis("rate", "the link's rate is C_Llambda", known_rate),
        Hypothesis("buffer", "its buffer is C_Llambda·D", lambda x: equal(x("beta"), JITTER)),
    ),
    conclusion=lambda x: link(x).L[-1] - link(x).L[0] > before_probe(x),
)

STEPS = (
    REPRODUCES, REPRODUCED, MUST_LOSE, SOUND, TIGHT, RISKED, EXACT, GROWTH, BASE, INDUCTION, OVERFLOW, NO_FASTER,
    E_2, SHORTER, LONG_ENOUGH, E_5, DRAINED,
)
