"""CCAC: a token bucket that may hide congestion, followed by a box that delays bytes by at most D (section 3)."""

from typing import ClassVar

from ccmatic.models.beliefs.link_rate import link_rate
from ccmatic.models.beliefs.queueing_delay import QUEUEING_DELAY

from ccmatic.contracts import APPLICATION, Model, overflow
from ccmatic.logic import either, every, implies, some


class CCAC(Model):
    """The CCAC network of docs/reference/encoding.md, section 2."""

    name = "ccac"
    parameters: ClassVar = APPLICATION

    def __init__(self, pauses=False):
        self.pauses = pauses
        self.beliefs = (*link_rate(self), *QUEUEING_DELAY)

    def network(self, x):
        """Yield the laws: tokens come at rate C, and the link wastes tokens only if no bytes wait.

        Bytes with a token leave at most D after the token came.
        """
        yield from served_within_jitter(x, self.variation)
        for t in range(1, x.horizon):
            admitted = x.K[t] - x.K[t - 1]
            yield "tokens_come_at_link_rate", t, every(admitted >= 0, admitted <= self.variation * x.C)
            no_waste = implies(admitted < x.C - self.thinned(x, t), x.admitted(t) <= x.K[t])
            # If the sender was application-limited, all its bytes may have arrived after the tokens were wasted.
            waited = implies(admitted < x.C, x.admitted(t - 1) <= x.K[t])
            yield "no_waste_while_queued", t, either(x.limited[t], waited, no_waste)
        yield from self.losses(x)

    def thinned(self, x, t):
        """Return the bytes of step t that are lost before the link. Models with losses by chance override this."""
        return 0

    def losses(self, x):
        """Yield the laws of a drop-tail buffer."""
        return overflow(x, x.K)


def served_what_waited(x, t, tokens, variation=1):
    """Return the condition on the tokens of a step in which the sender was application-limited.

    The link wastes no token in the step, or its tokens cover all bytes that were admitted before the step.
    """
    return every(
        tokens[t] <= x.admitted(t),
        tokens[t] <= tokens[t - 1] + variation * x.C,
        some(tokens[t] >= tokens[t - 1] + x.C, tokens[t] >= x.admitted(t - 1)),
    )


def served_within_jitter(x, variation=1):
    """Yield the laws that the link serves admitted bytes at most D steps after their admission."""
    for t in range(x.horizon):
        yield "served_after_sent", t, x.S[t] <= x.admitted(t)
        yield "served_after_admitted", t, x.S[t] <= x.K[t]
        if t < x.D:
            yield "served_within_jitter", t, x.S[t] >= x.K[0] - variation * x.C * (x.D - t)
        else:
            yield "served_within_jitter", t, x.S[t] >= x.K[t - x.D]
        if t:
            yield "service_grows", t, x.S[t] >= x.S[t - 1]


MODEL = CCAC()
