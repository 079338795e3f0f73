"""CBR-delay: a constant bit rate box, behind it a box that delays by at most D (section 3)."""

from fractions import Fraction

from ccmatic.models.ccac import served_what_waited, served_within_jitter
from ccmatic.models.link_rate import link_rate, timeouts

from ccmatic.base import BYTES, RATE
from ccmatic.contracts import FIRST, LAST, TOKENS, Model, RunningMax, Sample, overflow
from ccmatic.contracts import StateBelief as State
from ccmatic.logic import choice, either, every, is_min, largest, no, some

#: T*, the interval over which C_Llambda is measured, in steps of R_m (section 6.2.1).
MEASUREMENT = 1


class CBRDelay(Model):
    """docs/encoding.md, section 3."""

    name = "cbr_delay"
    bottleneck = "fixed rate"
    runtime = ("link_rate.h", "cbr_delay.h")
    columns = (TOKENS, LAST, FIRST)

    def __init__(self):
        sent_rate = RunningMax(
            "C_Llambda",
            RATE,
            samples=_sent_without_congestion,
            start=lambda x, t: x.beliefs["C_Llambda"][t] >= x.alpha,
            true_start=lambda x: x.alpha,
            holds=explains_probe,
            symbol=r"C_{L\lambda}",
            says="by probing",
        )
        queue = State(
            "q_U",
            BYTES,
            laws=_queue_laws,
            value=_queue_seen,
            reads=("C_Llambda",),
            holds_at=_queue_holds,
            start=_queue_unacknowledged,
        )
        self.beliefs = (*link_rate(self), sent_rate, queue)

    def network(self, x):
        """The box serves at rate C whenever it holds anything."""
        yield from served_within_jitter(x)
        yield "no_token_is_kept", 0, x.K[0] <= x.admitted(0)
        for t in range(1, x.horizon):
            served = is_min(x.K[t], (True, x.K[t - 1] + x.C), (True, x.admitted(t)))
            yield "serves_at_link_rate", t, either(x.limited[t], served_what_waited(x, t, x.K), served)
        yield from overflow(x, x.K)

    def timeouts(self, x):
        """The paper gives no rule for C_Llambda and q_U. Here they time out where no link that they allow explains
        what was seen, so never while they are true: C_Llambda is halved, and the queue may be all that is out."""
        if "C_L" in x.beliefs:
            yield from timeouts(x)
        e = x.horizon - 1
        refuted = some(list(_refutations(x)))
        C_Llambda, q_U = x.before_timeout["C_Llambda"][e], x.before_timeout["q_U"][e]
        yield "C_Llambda", choice(refuted, largest(x.alpha, C_Llambda / 2), C_Llambda)
        yield "q_U", choice(refuted, _unacknowledged(x, e), q_U)


def quiet(x, k):
    """In step k the sender saw neither a loss nor a delay that jitter cannot explain."""
    congested = every(x.F.at_least(k + 1, x.D + 2), x.S[k + 1] > x.S[k])
    return no(some(congested, x.Ld[k + 1] > x.Ld[k]))


def _sent_without_congestion(x, t):
    """Eq. 6.2 over intervals of T* = R_m; a step longer, as delay is measured to a step. In a limited step a loss may
    leave no queue that tells of it, so it has to be known that there was none."""
    for e in range(1, t + 1):
        acknowledged = either(x.limited[e], x.A[e] - x.Ld[t] <= x.S[t], x.admitted(e) <= x.S[t])
        calm = every([quiet(x, k) for k in range(e - 1, t)])
        yield Sample(x.A[e] - x.A[e - 1], MEASUREMENT + x.D + 1, every(acknowledged, calm))


def explains_probe(x, bound):
    """The two lines of Figure 8: the rate is at least `bound`, or nearly, and then the buffer is large."""
    fits = True
    if x.buffer.finite:
        fits = x.C * MEASUREMENT + x.beta >= bound * (MEASUREMENT + x.D + 1)
    return every(bound <= x.C, fits)


def _queue_laws(x):
    """Section 6.2.1: bytes already queued, and those sent, less those that the slowest link serves."""
    q_U = x.before_timeout["q_U"]
    for t in range(1, x.horizon):
        unacknowledged, least = _unacknowledged(x, t), _queue_least(x, t)
        grown = q_U[t - 1] + x.sent(t) - x.before_timeout["C_Llambda"][t]
        yield (
            "q_U_moves",
            t,
            every(
                q_U[t] <= unacknowledged,
                some(q_U[t] <= least, q_U[t] <= grown),
                some(q_U[t] >= unacknowledged, every(q_U[t] >= least, q_U[t] >= grown)),
            ),
        )


def _queue_least(x, t):
    """What may queue at t at least: all that was sent in a step in which the sender was limited may come at its end."""
    return choice(x.limited[t], x.sent(t), Fraction(0))


def _unacknowledged(x, t):
    return x.A[t] - x.Ld[t] - x.S[t]


def _queue_unacknowledged(x, t):
    return every(x.beliefs["q_U"][t] >= 0, x.beliefs["q_U"][t] <= _unacknowledged(x, t))


def _refutations(x):
    """What no link does on which C_Llambda and q_U are true."""
    C_Llambda, q_U = x.before_timeout["C_Llambda"], x.before_timeout["q_U"]
    for t in range(1, x.horizon):
        served = x.S[t] > x.S[t - 1]
        for d in range(x.D + 2, t + 1):
            # The first byte served was sent by t-d, and waited longer than those before it did at the least rate.
            explained = q_U[t - d] > (d - 1 - x.D) * C_Llambda[t]
            yield every(served, x.F.at_least(t, d), no(explained))
        if t >= 2:
            # Rate and buffer let C_Llambda·(T* + D + 1) through in a step.
            lost = x.excess[t] - x.excess[t - 1]
            most = q_U[t - 2] + x.sent(t - 1) - (MEASUREMENT + x.D + 1) * C_Llambda[t]
            yield every(lost > 0, lost > most, no(x.limited[t - 1]))


def _queue_seen(x, t):
    if t == 0:
        return _unacknowledged(x, 0)
    grown = x.beliefs["q_U"][t - 1] + x.sent(t) - x.beliefs["C_Llambda"][t]
    return min(_unacknowledged(x, t), max(_queue_least(x, t), grown))


def _queue_holds(x, t):
    return every(x.beliefs["q_U"][t] >= 0, x.beliefs["q_U"][t] >= x.queue(t))


MODEL = CBRDelay()
