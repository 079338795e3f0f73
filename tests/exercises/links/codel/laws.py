"""CoDel (RFC 8289): a link of constant rate that drops the head of its queue, behind it jitter.

The laws admit every execution of packets.h, and more (an over-approximation): they leave open how many bytes CoDel
drops. So a property that holds of these laws holds of the packets.
"""

from ccmatic.models.beliefs.link_rate import link_rate
from ccmatic.models.beliefs.queueing_delay import QUEUEING_DELAY
from ccmatic.models.ccac import served_within_jitter

from ccmatic.contracts import Model
from ccmatic.logic import either, every, implies, is_min, some


class CoDel(Model):
    """K counts a packet when its service begins."""

    name = "codel"
    loses_waiting = True

    def __init__(self):
        self.beliefs = (*link_rate(self), *QUEUEING_DELAY)

    def network(self, x):
        """The link serves at rate C whenever anything waits, and drops bytes that wait or do not fit."""
        yield from served_within_jitter(x)
        yield "no_token_is_kept", 0, x.K[0] <= x.admitted(0)
        for t in range(1, x.horizon):
            served = is_min(x.K[t], (True, x.K[t - 1] + x.C), (True, x.admitted(t)))
            paused = every(
                x.K[t] <= x.admitted(t),
                x.K[t] <= x.K[t - 1] + x.C,
                some(x.K[t] >= x.K[t - 1] + x.C, x.K[t] >= x.A[t - 1] - x.L[t]),
            )
            yield "serves_at_link_rate", t, either(x.limited[t], paused, served)
        yield from self._losses(x)

    def _losses(self, x):
        """CoDel drops a byte only after bytes have waited throughout the last R_m; a full buffer drops what comes."""
        for t in range(x.horizon):
            if x.buffer.finite:
                yield "fits_in_buffer", t, x.admitted(t) <= x.K[t] + x.beta
            if t:
                cause = x.admitted(t - 1) > x.K[t - 1]
                if x.buffer.finite:
                    cause = some(cause, x.A[t] - x.L[t - 1] > x.K[t - 1] + x.beta)
                yield "lost_from_a_queue", t, implies(x.L[t] > x.L[t - 1], cause)


MODEL = CoDel()
