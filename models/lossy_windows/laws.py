"""A link that also loses bytes by chance, for window senders (docs/reference/encoding.md, section 2)."""

from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from ccmatic.models.beliefs.link_rate import BY_DELAY, sender_link_rate
from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Start, Timer
from ccmatic.models.lossy import CHANCE, LOSS, Chance, lost_by_chance

from ccmatic.logic import implies

#: The fields of the base class that these laws do not read. The losses of a full buffer may be any part of the bytes.
_FIXED = ("jitter", "waste", "slack", "loss", "most_queue")


@dataclass(frozen=True)
class LossyWindows(Chance, CCAC2021):
    """CCAC2021 with laws that are true of executions, on a link that also loses bytes by chance.

    The bounds on losses apply to all flows together.
    """

    name = "lossy_windows"
    parameters = MappingProxyType(
        {name: parameter for name, parameter in CCAC2021.parameters.items() if parameter.field not in _FIXED} | LOSS
    )
    loses_by_chance = True
    begins: Start = Start.ANYWHERE
    delay: DelayMeasurement = DelayMeasurement.OPEN_AT_FIRST
    timer: Timer = Timer.UNDETECTED_LOSS
    loss_rate: Fraction = Fraction(1, 100)
    loss_burst: int = 1

    @property
    def observations(self):
        """The observations of the base class, but losses do not lower C_U, the upper bound on the link's rate."""
        _, upper = sender_link_rate(pauses=self.pauses, program=BY_DELAY)
        known = super().observations
        return {**known, upper.name: upper} if upper.name in known else known

    @property
    def columns(self):
        """The columns of the base class, and the bytes lost by chance."""
        return (*super().columns, CHANCE)

    def _waste(self, x):
        """Yield the base class's laws of waste, and the law that tokens are wasted only after the bytes that waited."""
        yield from super()._waste(x)
        for t in range(1, x.horizon):
            waited = x.admitted(t - 1) <= self.tokens(x, t)
            yield "no_waste_while_queued", t, implies(x.W[t] > x.W[t - 1], waited)

    def thinned(self, x, t):
        """Return the bytes of a step that chance has lost."""
        return x.chance[t] - x.chance[t - 1]

    def _losses(self, x):
        """Yield the laws of losses: all losses except those by chance happen while the buffer is full."""
        yield from lost_by_chance(self, x)
        if x.buffer.kind in ("any", "at least"):
            yield "buffer", 0, x.beta >= (x.buffer.size or 0)
        for t in range(x.horizon):
            yield "fits_in_buffer", t, x.admitted(t) <= self.tokens(x, t) + x.beta
            if t:
                chance = x.chance[t] - x.chance[t - 1]
                full = x.admitted(t) >= self.tokens(x, t - 1) + x.beta
                yield "overflows_when_full", t, implies(x.L[t] - x.L[t - 1] > chance, full)


MODEL = LossyWindows()
