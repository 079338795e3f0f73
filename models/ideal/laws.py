"""The ideal link: a first-in first-out queue without jitter (section 3)."""

from typing import ClassVar

from ccmatic.models.beliefs.link_rate import link_rate
from ccmatic.models.beliefs.queueing_delay import QUEUEING_DELAY
from ccmatic.models.ccac import served_what_waited

from ccmatic.contracts import APPLICATION, LAST, Model, overflow
from ccmatic.logic import either, is_min


class Ideal(Model):
    """The ideal link of docs/reference/encoding.md, section 4.

    The link has no tokens: the admitted bytes K equal the bytes served S.
    """

    name = "ideal"
    default_jitter = 0
    sees_losses_at_once = True
    columns = (LAST,)
    parameters: ClassVar = APPLICATION

    def __init__(self, pauses=False):
        self.pauses = pauses
        self.beliefs = (*link_rate(self), *QUEUEING_DELAY)

    def network(self, x):
        """Yield the laws of a link that serves at rate C whenever bytes wait."""
        yield "served_after_sent", 0, x.S[0] <= x.admitted(0)
        for t in range(1, x.horizon):
            waiting = x.A[t] - x.L[t - 1]
            served = is_min(x.S[t], (True, x.S[t - 1] + x.C), (True, waiting))
            yield "serves_at_link_rate", t, either(x.limited[t], served_what_waited(x, t, x.S), served)
        yield from overflow(x, x.S)


MODEL = Ideal()
