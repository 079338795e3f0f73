"""CCAC on a link that also loses bytes by chance (docs/reference/encoding.md, section 2)."""

from fractions import Fraction
from typing import ClassVar

from ccmatic.models.beliefs.link_rate import BY_DELAY, link_rate
from ccmatic.models.beliefs.queueing_delay import QUEUEING_DELAY
from ccmatic.models.ccac import CCAC

from ccmatic.base import exact
from ccmatic.contracts import APPLICATION, BYTES, Column, Parameter, whole
from ccmatic.logic import every, implies, no

CHANCE = Column("chance", BYTES, "bytes lost by chance")

#: The largest denominator of a loss rate: links count in integers.
_FINEST = 10**9


def _share(text):
    rate = exact(text)
    if not 0 < rate < 1 or rate.denominator > _FINEST:
        raise ValueError(text)
    return rate


#: The parameters of networks that lose bytes by chance.
LOSS = {
    "loss_rate": Parameter("loss_rate", _share, "a share above 0 and below 1, such as 1/100"),
    "loss_burst": whole("loss_burst", least=1),
}


class Chance:
    """The bound on losses by chance. Models of rate senders and of window senders share this bound.

    Attributes:
        loss_rate: The share p: the largest share of the bytes sent that chance loses in the long run.
        loss_burst: The packets that chance may lose in addition in any interval.
    """

    loss_rate: Fraction
    loss_burst: int

    def link_numbers(self, packet):
        """Return the numerator and the denominator of the share p, and the bytes of a burst."""
        return (*self.loss_rate.as_integer_ratio(), self.loss_burst * packet)


class Lossy(Chance, CCAC):
    """The network of docs/reference/encoding.md, section 2, with losses by chance.

    Args:
        loss_rate: The share p; 1/100 by default.
        loss_burst: The packets of a burst; 1 by default.
        pauses: Whether applications may pause.
    """

    parameters: ClassVar = {**LOSS, **APPLICATION}
    loses_by_chance = True
    columns = (*CCAC.columns, CHANCE)

    def __init__(self, loss_rate=Fraction(1, 100), loss_burst=1, pauses=False):
        self.loss_rate, self.loss_burst, self.pauses = Fraction(loss_rate), loss_burst, pauses
        self.beliefs = (*link_rate(self, program=BY_DELAY), *QUEUEING_DELAY)

    @property
    def name(self):
        """The name with all parameters that differ from the defaults, so that records state these parameters."""
        given = [f"loss_rate={self.loss_rate}"] if self.loss_rate != Fraction(1, 100) else []
        given += [f"loss_burst={self.loss_burst}"] if self.loss_burst != 1 else []
        return f"lossy{':' if given else ''}{','.join(given)}"

    def network(self, x):
        """Yield the laws of CCAC, and the law that a link wastes tokens only after the bytes that waited.

        If chance loses bytes, the link may be idle for a part of a step and still have a queue at the end of the step.
        """
        yield from super().network(x)
        for t in range(1, x.horizon):
            wasted = x.K[t] - x.K[t - 1] < x.C
            yield "no_waste_while_queued", t, implies(wasted, x.admitted(t - 1) <= x.K[t])

    def thinned(self, x, t):
        """Return the bytes of a step that chance has lost."""
        return x.chance[t] - x.chance[t - 1]

    def losses(self, x):
        """Yield the laws of a buffer behind a link that loses by chance.

        Chance loses bytes as they arrive. So a buffer that was full within a step may lack these bytes at the end of
        the step.
        """
        yield from lost_by_chance(self, x)
        full = [x.K[t] + x.beta for t in range(x.horizon)]
        burst = self.loss_burst * x.alpha + self.loss_rate * x.r[0]
        recent = every(x.L[0] - x.Ld[0] > burst, no(x.limited[0]))
        yield "recent_loss_means_full", 0, implies(recent, x.admitted(0) >= full[0] - burst)
        for t in range(x.horizon):
            yield "fits_in_buffer", t, x.admitted(t) <= full[t]
            if t:
                chance = x.chance[t] - x.chance[t - 1]
                filled = implies(no(x.limited[t]), x.admitted(t) >= full[t] - chance)
                overflowed = every(x.admitted(t) >= full[t - 1], filled)
                yield "overflows_when_full", t, implies(x.L[t] - x.L[t - 1] > chance, overflowed)


def lost_by_chance(model, x):
    """Yield the laws of losses by chance: in any interval, at most a share p of the bytes sent, plus a burst.

    If the execution repeats, chance loses at most the share p in a period.
    """
    burst = model.loss_burst * x.alpha
    for t in range(1, x.horizon):
        chance = x.chance[t] - x.chance[t - 1]
        yield "chance_loses_some", t, every(chance >= 0, chance <= x.L[t] - x.L[t - 1])
        for s in range(t):
            most = model.loss_rate * (x.A[t] - x.A[s]) + burst
            yield "chance_is_bounded", t, x.chance[t] - x.chance[s] <= most
    if x.period:
        most = model.loss_rate * (x.A[x.period] - x.A[0])
        yield "chance_is_bounded_for_ever", 0, x.chance[x.period] - x.chance[0] <= most


MODEL = Lossy()
