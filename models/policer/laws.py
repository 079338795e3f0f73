"""A token-bucket policer: it passes bytes with tokens and drops others (docs/reference/encoding.md, section 4)."""

from dataclasses import replace

from ccmatic.models.beliefs.link_rate import link_rate
from ccmatic.models.beliefs.queueing_delay import QUEUEING_DELAY

from ccmatic.contracts import BYTES, LAST, TOKENS, Column, Model
from ccmatic.logic import either, equal, every, implies, is_min, no, some

BUCKET = Column("bucket", BYTES, "tokens in the bucket, in bytes", level=True)


class Policer(Model):
    """A token-bucket policer.

    A byte gets its token at once or is lost. So the bytes K that pass are A - L (sent, minus lost). The size of the
    bucket is β. The laws are exact for a sender that spreads the bytes of a step evenly. If the sender is
    application-limited, the laws allow more executions than a policer has.
    """

    name = "policer"
    store = "bucket"
    columns = (TOKENS, LAST, BUCKET)

    def __init__(self):
        lower, upper = link_rate(self, most_measured)
        upper = replace(upper, turns_false=_no_jitter)
        self.beliefs = (lower, upper, *QUEUEING_DELAY)

    def network(self, x):
        """Yield the laws: tokens come at rate C and fill the bucket up to β; each byte that passes takes a token."""
        yield from served_within_jitter(x)
        recent = every(x.L[0] > x.Ld[0], no(x.limited[0]))
        yield "recent_loss_means_empty", 0, implies(recent, equal(x.bucket[0], 0))
        for t in range(1, x.horizon):
            tokens = x.bucket[t - 1] + x.C
            passed = x.admitted(t) - x.admitted(t - 1)
            refilled = is_min(x.bucket[t], (True, x.beta), (True, tokens - passed))
            over = x.A[t] - x.L[t - 1] > x.admitted(t - 1) + tokens
            lost = either(over, equal(passed, tokens), equal(x.L[t], x.L[t - 1]))
            yield "refills_at_rate", t, either(x.limited[t], refills_at_any_time(x, t), refilled)
            yield "excess_is_lost", t, either(x.limited[t], lost_when_empty(x, t), lost)
        for t in range(x.horizon):
            yield "passes_at_once", t, equal(x.K[t], x.admitted(t))
            yield "no_byte_waits", t, no(x.Q.at_least(t, x.D + 1))


def most_measured(x):
    """Return the largest true lower bound C_L on the link's rate.

    A full bucket lets a burst pass, so the sender may measure a rate above C.
    """
    return x.C + x.beta / (1 + x.D)


def _no_jitter(flow, buffer):
    """Return the policers on which C_U can turn false: n lossy steps pass C·n bytes, but a further step may follow."""
    return "D is 0" if flow.D == 0 else None


def served_within_jitter(x):
    """Yield the laws that bytes leave at most D steps after they passed, and that the bucket holds 0 to β tokens.

    In the last n steps before the trace, at most β - bucket(0) + C·n bytes passed.
    """
    for t in range(x.horizon):
        yield "bucket_is_within_size", t, every(x.bucket[t] >= 0, x.bucket[t] <= x.beta)
        yield "served_after_passed", t, x.S[t] <= x.admitted(t)
        if t < x.D:
            recent = x.beta - x.bucket[0] + x.C * (x.D - t)
            yield "served_within_jitter", t, x.S[t] >= x.admitted(0) - recent
        else:
            yield "served_within_jitter", t, x.S[t] >= x.admitted(t - x.D)
        if t:
            yield "service_grows", t, x.S[t] >= x.S[t - 1]


def refills_at_any_time(x, t):
    """Return the condition on the tokens of a step in which bytes may arrive at any time.

    The policer wastes tokens only while the bucket is full. After the last waste in the step, the bucket loses at most
    one token for each byte that passes.
    """
    tokens = x.bucket[t - 1] + x.C
    passed = x.admitted(t) - x.admitted(t - 1)
    kept = some(x.bucket[t] >= tokens - passed, x.bucket[t] >= x.beta - passed)
    return every(x.bucket[t] <= tokens - passed, kept)


def lost_when_empty(x, t):
    """Return the condition on a step's losses: a loss implies that the bucket was empty at some time in the step."""
    passed = x.admitted(t) - x.admitted(t - 1)
    emptied = every(passed >= x.bucket[t - 1], x.bucket[t] <= x.C)
    return implies(x.L[t] > x.L[t - 1], emptied)


MODEL = Policer()
