"""An ideal link for window senders. The link's rate changes from step to step within a budget.

docs/reference/encoding.md describes this link. The budget is Eq. 8 of the CCLab paper: a bound on the mean |change| of
the rate in the last steps ("CCLab: Adversarial Testing of Learning- and Non-Learning-Based Congestion Controllers").
"""

from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Loss, Start, Timer

from ccmatic.base import InputError
from ccmatic.contracts import BYTES, RATE, Column, number, whole
from ccmatic.logic import every, is_min

#: The fields of the base class that these laws do not read: the link has no jitter, counts no tokens, and serves
#: bytes evenly within a step.
_FIXED = ("default_jitter", "jitter", "waste", "slack", "pauses")


@dataclass(frozen=True)
class Smooth(CCAC2021):
    """A link whose rate is constant within each step; C is the largest of these rates.

    The default range and budget are CCLab's: 1 to 96 Mbit/s, and 2 Mbit/s over 10 steps.

    Attributes:
        least: The smallest rate as a share of C.
        budget: The bound δ on the mean |change| of the rate in the last `window` steps, as a share of C per step.
        window: The number of steps that the budget covers.
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
        """The observations of CCAC2021, without C_U (the upper bound on the link's rate).

        C_U assumes that the link serves at rate C while bytes wait, which is false for this link.
        """
        return {name: each for name, each in super().observations.items() if name != "C_U"}

    @property
    def columns(self):
        """The columns: the bytes that the link could have served, and changes of its rate, instead of wasted tokens."""
        return (_OFFERED, _CHANGED, *super().columns[1:])

    @property
    def constants(self):
        """The constants of CCAC2021, without the count of tokens."""
        return tuple(name for name in super().constants if name != "tokens_at_first")

    def constants_from(self, x, t):
        """Return the constants, which are the same at each step."""
        return x.constants

    @property
    def looks_back(self):
        """The number of earlier steps that the laws read: those of the budget."""
        return self.window

    def tokens(self, x, t):
        """Return the bytes released by t. The link serves these bytes at once."""
        return x.S[t]

    def offered(self, x, t):
        """Return the bytes that the link could have served by t."""
        return x.G[t]

    def _service(self, x):
        """Yield the laws of a link that serves at its rate whenever bytes wait."""
        for t in range(1, x.horizon):
            rate = x.G[t] - x.G[t - 1]
            yield "rate_is_in_range", t, every(rate >= self.least * x.C, rate <= x.C)
            served = is_min(x.S[t], (True, x.S[t - 1] + rate), (True, x.A[t] - x.L[t - 1]))
            yield "serves_at_link_rate", t, served

    def _waste(self, x):
        """Yield the laws of the budget.

        The column V sums up the changes of the rate: per step, V grows by at least the size of the change. Within a
        window of the budget, V grows by at most the budget.
        """
        for t in range(1, x.horizon):
            grown = x.V[t] - x.V[t - 1]
            yield "changes_are_counted", t, grown >= 0
            if t >= 2:
                change = x.G[t] - 2 * x.G[t - 1] + x.G[t - 2]
                yield "changes_are_counted", t, every(grown >= change, grown >= -change)
            spent = x.V[t] - x.V[max(0, t - self.window)]
            yield "budget_is_kept", t, spent <= self.window * self.budget * x.C


_OFFERED = Column("G", BYTES, "bytes that the link could have served")
_CHANGED = Column("V", RATE, "a lower bound of the total change of the link's rate so far")

MODEL = Smooth()
