"""CBR-delay: a box of constant bit rate, followed by a box that delays bytes by at most D (section 3)."""

from typing import ClassVar

from ccmatic.models.beliefs.link_rate import link_rate
from ccmatic.models.beliefs.probing import PROBING
from ccmatic.models.beliefs.queueing_delay import QUEUEING_DELAY
from ccmatic.models.ccac import served_what_waited, served_within_jitter

from ccmatic.contracts import APPLICATION, FIRST, LAST, TOKENS, Model, overflow
from ccmatic.logic import either, is_min


class CBRDelay(Model):
    """The CBR-delay network of docs/reference/encoding.md, section 3."""

    name = "cbr_delay"
    columns = (TOKENS, LAST, FIRST)
    parameters: ClassVar = APPLICATION

    def __init__(self, pauses=False):
        self.pauses = pauses
        self.beliefs = (*link_rate(self), *QUEUEING_DELAY, *PROBING)

    def network(self, x):
        """Yield the laws of a box that serves at rate C whenever it holds any bytes."""
        yield from served_within_jitter(x)
        yield "no_token_is_kept", 0, x.K[0] <= x.admitted(0)
        for t in range(1, x.horizon):
            served = is_min(x.K[t], (True, x.K[t - 1] + x.C), (True, x.admitted(t)))
            yield "serves_at_link_rate", t, either(x.limited[t], served_what_waited(x, t, x.K), served)
        yield from overflow(x, x.K)


MODEL = CBRDelay()
