"""Appendix E of the paper: conditions on probes, the intervals that raise C_Llambda.

A probe must not be shorter than earlier probes, and must not begin behind a queue. C_Llambda here divides by length +
D, as in Eq. 6.2.
"""

from fractions import Fraction

import sympy
from ccmatic.proofs.loss_convergence_link import HORIZON, JITTER, TRACES, known_rate, link

from ccmatic.logic import equal, every, is_max, times
from ccmatic.tradeoffs.statements import Derivation, Hypothesis, Statement

ANY = "all numbers"

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
    says="a probe that begins behind a queue risks ΔL = (the queue) + (bytes sent beyond C_Llambda·(t + D))",
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
    """Yield the laws of the probes, with D = 1.

    Links 1 and 2 have a buffer of β_s, and can just pass the past probe.
    """
    yield every(*(number > 0 for number in x("C_1 C_2 beta_s T_past T_future epsilon")))
    for i in "12":
        yield equal(times(x(f"past_{i}"), x("T_past") + 1), times(x(f"C_{i}"), x("T_past") + x("beta_s")))


def probe_loss(x, i):
    """Return the loss on link i of the probe that raises C_Llambda by epsilon (Eq. E.1)."""
    sent = times(x(f"past_{i}") + x("epsilon"), x("T_future") + 1)
    return sent - times(x(f"C_{i}"), x("T_future") + x("beta_s"))


SHORTER = Statement(
    name="appendix E: shorter probes",
    says="the loss that a shorter probe risks grows with C without bound",
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
    """The link is in the belief set of Figure 8: it explains a past probe of length T_past that set C_Llambda = 1."""
    return every(x("C") >= 1, times(x("C"), x("T_past")) + x("beta") >= x("T_past") + x("D"))


def slow_probe_laws(x):
    """Yield the laws of a probe, with C_Llambda = 1. Bytes beyond the service and the buffer are lost."""
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
    """Return the queue at the start of the interval, on the link of rate C_Llambda = 1 and β = C_Llambda·D."""
    return link(x).admitted(0) - link(x).K[0]


DRAINED = Statement(
    name="appendix E: probes behind a queue",
    says="an interval that raises C_Llambda loses more bytes than were queued at its start",
    equation="Eqs. E.4, E.5",
    theorem=None,
    covers=TRACES,
    laws=lambda x: link(x).laws(),
    hypotheses=(
        Hypothesis(
            "Eq. E.4",
            "the interval contains more than C_Llambda·(its length + D)",
            lambda x: link(x).A[-1] - link(x).A[0] > HORIZON - 1 + JITTER,
        ),
        Hypothesis("rate", "the link's rate is C_Llambda", known_rate),
        Hypothesis("buffer", "its buffer is C_Llambda·D", lambda x: equal(x("beta"), JITTER)),
    ),
    conclusion=lambda x: link(x).L[-1] - link(x).L[0] > before_probe(x),
)

STEPS = (E_2, SHORTER, LONG_ENOUGH, E_5, DRAINED)
