"""A link that marks bytes above a threshold, for window senders (docs/reference/encoding.md, section 4)."""

from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Start, Timer, Waste
from ccmatic.models.marking import MODEL as BY_RATE
from ccmatic.models.marking import THRESHOLD, marks
from ccmatic.models.window_sender import carried_marks, echoed_marks


@dataclass(frozen=True)
class MarkingWindows(CCAC2021):
    """CBR-delay for window senders, which marks each byte that arrives while more than `threshold` bytes wait.

    With `waste=composing`, the link may hide tokens, like CCAC's link.

    Attributes:
        threshold: The threshold θ, in C·step.
    """

    name = "marking_windows"
    parameters = MappingProxyType({**THRESHOLD, **CCAC2021.parameters})
    begins: Start = Start.ANYWHERE
    delay: DelayMeasurement = DelayMeasurement.OPEN_AT_FIRST
    timer: Timer = Timer.UNDETECTED_LOSS
    waste: Waste = Waste.CONSTANT_RATE
    threshold: Fraction = BY_RATE.threshold

    @property
    def columns(self):
        """The columns of the base class, and the marked bytes of each flow."""
        numbers = range(1, self.flows + 1)
        return (*super().columns, *(kind(self.flows, number) for number in numbers for kind in _MARKS))

    def network(self, x):
        """Yield the laws of the base class, and the laws of the marks."""
        yield from super().network(x)
        columns = [tuple(x.own[kind(self.flows, flow.number).name] for kind in _MARKS) for flow in x.flows]
        yield from marks(x, x.flows, columns, [self.tokens(x, t) for t in range(x.horizon)], self.threshold * x.C)


_MARKS = (echoed_marks, carried_marks)

MODEL = MarkingWindows()
