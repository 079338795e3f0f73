"""C_Llambda and q_U: a rate at which the sender saw no congestion, and an upper bound on the queue (section 6.2.1)."""

from ccmatic.base import BYTES, RATE
from ccmatic.contracts import Program, RunningMax, StateBelief
from ccmatic.logic import every

#: The length T* of the interval in which the sender measures C_Llambda, in R_m (section 6.2.1). A step lasts R_m.
MEASUREMENT = 1

#: C_Llambda (Eq. 6.2): the bytes sent in T* = R_m, divided by T* plus one step, because delay is measured in whole
#: steps. A step is quiet if the sender saw neither a loss nor a delay that jitter cannot explain. In an
#: application-limited step, a loss may leave no queue behind. So the sender must know that no loss happened in the
#: step.
#:
#: q_U: the bytes queued before the step, plus the bytes sent, minus the bytes that the slowest link serves. In an
#: application-limited step all bytes may arrive at the end of the step.
#:
#: The paper gives no rule for the timeouts of C_Llambda and q_U. Here both beliefs time out when no link that they
#: allow explains the window, so they never time out while they are true. C_Llambda is then halved, and q_U becomes the
#: bytes in flight. A delay is too long if the first byte served waited longer than the slowest link needs for the bytes
#: ahead of that byte. Losses are too many if rate and buffer admit C_Llambda·(T* + D + 1) bytes in a step.
PROGRAM = Program(
    """\
def quiet(first_delay, acked, lost, D, step):
    return not (first_delay >= D + 2 * step and acked > acked[step] or lost > lost[step])

def unacknowledged(sent, lost, acked):
    return sent - lost - acked

def C_Llambda(sent, admitted, lost, acked, limited, doubtful, quiet, D, step):
    return max(
        (sent[k - step] - sent[k]) / (2 * step + D)
        for k in past
        if (sent[k - step] - lost <= acked if limited[k - step] else admitted[k - step] <= acked)
        and not doubtful
        and all(quiet[j] for j in since(k))
    )

def q_U(q_U, C_Llambda, unacknowledged, sending, limited, step):
    return min(unacknowledged, max(sending if limited else 0, q_U[step] + sending - C_Llambda * step))

def q_U_start(unacknowledged):
    return unacknowledged

def too_long(q_U, C_Llambda, first_delay, acked, D, step):
    return any(
        acked > acked[step] and first_delay >= k and not q_U[k] > (k - step - D) * C_Llambda
        for k in past
        if k >= D + 2 * step
    )

def too_many_lost(q_U, C_Llambda, excess, sending, limited, time, D, step):
    dropped = excess - excess[step]
    most = q_U[2 * step] + sending[step] - (2 * step + D) * C_Llambda
    return time >= 2 * step and dropped > 0 and dropped > most and not limited[step]

def refuted(too_long, too_many_lost, time):
    return any(too_long[j] or too_many_lost[j] for j in since(time))

def C_Llambda_timeout(C_Llambda, refuted, MSS, R_m):
    return max(MSS / R_m, C_Llambda / 2) if refuted else C_Llambda

def q_U_timeout(q_U, refuted, unacknowledged):
    return unacknowledged if refuted else q_U
""",
    {"C_Llambda": RATE, "q_U": BYTES},
    __file__,
)


def explains_probe(x, bound):
    """Return the two conditions of Figure 8. Together they state that a link can pass a probe at the rate `bound`.

    First, the link rate is at least `bound`. Second, rate and buffer together admit the probe's bytes.
    """
    fits = True
    if x.buffer.finite:
        fits = x.C * MEASUREMENT + x.beta >= bound * (MEASUREMENT + x.D + 1)
    return every(bound <= x.C, fits)


def _within_flight(x, t):
    flight = x.A[t] - x.Ld[t] - x.S[t]
    return every(x.beliefs["q_U"][t] >= 0, x.beliefs["q_U"][t] <= flight)


PROBING = (
    RunningMax.of(
        PROGRAM,
        "C_Llambda",
        start=lambda x, t: x.beliefs["C_Llambda"][t] >= x.alpha,
        true_start=lambda x: x.alpha,
        holds=explains_probe,
        symbol=r"C_{L\lambda}",
        says="by probing",
    ),
    StateBelief.of(
        PROGRAM,
        "q_U",
        upper=True,
        holds_at=lambda x, t: every(x.beliefs["q_U"][t] >= 0, x.beliefs["q_U"][t] >= x.queue(t)),
        start=_within_flight,
    ),
)
