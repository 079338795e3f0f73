"""An ideal link under senders by a window whose rate changes from step to step, within a budget (docs/encoding.md).

The budget is CCLab's Eq. 8: the mean of |change| over the last so many steps ("CCLab: Adversarial Testing of Learning-
and Non-Learning-Based Congestion Controllers").
"""

from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Loss, Start, Timer

from ccmatic.base import InputError
from ccmatic.contracts import BYTES, RATE, Column, number, whole
from ccmatic.logic import every, is_min

#: The fields of its base that its laws do not read: it has no jitter, and counts no tokens.
_FIXED = ("default_jitter", "jitter", "waste", "slack")


@dataclass(frozen=True)
class Smooth(CCAC2021):
    """C is the most that the link serves in a step. Its rate is the same all through a step.

    least: its least rate, in C. budget: δ, in C a step: the mean of |change| over the last `window` steps is at most
    that. By default CCLab's range, 1 to 96 Mbit/s, with a budget of 2 Mbit/s over 10 steps.
    """

    name = "smooth_windows"
    parameters = MappingProxyType(
        {name: parameter for name, parameter in CCAC2021.parameters.items() if parameter.field not in _FIXED}
        | {"least": number("least"), "budget": number("budget"), "window": whole("window")}
    )
    begins: Start = Start.ANYWHERE
    delay: DelayMeasurement = DelayMeasurement.OPEN_AT_FIRST
    timer: Timer = Timer.UNDETECTED_LOSS
    loss: Loss = Loss.DETERMINISTIC
    default_jitter: int = 0
    least: Fraction = Fraction(1, 96)
    budget: Fraction = Fraction(2, 96)
    window: int = 10

    def __post_init__(self):
        super().__post_init__()
        if not 0 < self.least <= 1:
            raise InputError(f"least is {self.least}; expected a rate above 0, at most 1, in C")
        if self.budget < 0:
            raise InputError(f"budget is {self.budget}; expected a change in a step, at least 0, in C")
        if type(self.window) is not int or self.window < 1:
            raise InputError(f"window is {self.window!r}; expected a whole number of steps, at least 1")

    @property
    def observations(self):
        """As its base, without the belief that C is at most what is served while bytes wait, which is false here."""
        return {name: each for name, each in super().observations.items() if name != "C_U"}

    @property
    def columns(self):
        """What the link could serve, and how its rate changed, in place of tokens wasted."""
        return (_OFFERED, _CHANGED, *super().columns[1:])

    @property
    def constants(self):
        """As its base, but that tokens are not counted."""
        return tuple(name for name in super().constants if name != "tokens_at_first")

    def constants_from(self, x, t):
        """The same at each step."""
        return x.constants

    @property
    def looks_back(self):
        """The budget speaks of as many steps."""
        return self.window

    def tokens(self, x, t):
        """What is let through, all of which is served at once."""
        return x.S[t]

    def offered(self, x, t):
        """What the link could have served by t."""
        return x.G[t]

    def _service(self, x):
        """The link serves at its rate whenever anything waits."""
        for t in range(1, x.horizon):
            rate = x.G[t] - x.G[t - 1]
            yield "rate_is_in_range", t, every(rate >= self.least * x.C, rate <= x.C)
            served = is_min(x.S[t], (True, x.S[t - 1] + rate), (True, x.A[t] - x.L[t - 1]))
            yield "serves_at_link_rate", t, served

    def _waste(self, x):
        """Of the budget: V grows by |change| at least, and in so many steps by no more than they have."""
        for t in range(1, x.horizon):
            grown = x.V[t] - x.V[t - 1]
            yield "changes_are_counted", t, grown >= 0
            if t >= 2:
                change = x.G[t] - 2 * x.G[t - 1] + x.G[t - 2]
                yield "changes_are_counted", t, every(grown >= change, grown >= -change)
            spent = x.V[t] - x.V[max(0, t - self.window)]
            yield "budget_is_kept", t, spent <= self.window * self.budget * x.C


_OFFERED = Column("G", BYTES, "bytes that the link could have served")
_CHANGED = Column("V", RATE, "by how much the link's rate has changed so far, at least")

MODEL = Smooth()
