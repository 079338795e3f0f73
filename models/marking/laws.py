"""CBR-delay that marks bytes which arrive above a threshold (docs/reference/encoding.md, section 4)."""

from fractions import Fraction
from types import MappingProxyType

from ccmatic.models.cbr_delay.laws import CBRDelay
from ccmatic.models.window_sender import carried_marks, echoed_marks

from ccmatic.contracts import number
from ccmatic.logic import either, every, no, some

#: The parameter of networks with marks, and its default: half of C·R_m.
THRESHOLD = MappingProxyType({"threshold": number("threshold", least=0)})
DEFAULT = Fraction(1, 2)


class Marking(CBRDelay):
    """CBR-delay that marks each byte which arrives while more than `threshold` bytes wait.

    No belief reads the marks: controllers with a window do.

    Attributes:
        threshold: θ, in C·step.
    """

    columns = (*CBRDelay.columns, echoed_marks(1, 1), carried_marks(1, 1))
    parameters = MappingProxyType({**THRESHOLD, **CBRDelay.parameters})

    def __init__(self, threshold=DEFAULT, pauses=False):
        self.threshold = threshold
        super().__init__(pauses)

    @property
    def name(self):
        """The name, with θ unless it is the default, so that records state θ."""
        return "marking" if self.threshold == DEFAULT else f"marking:threshold={self.threshold}"

    def network(self, x):
        """Yield the laws of CBR-delay, and those of the marks."""
        yield from super().network(x)
        yield from marks(x, [x], [(x.echoed, x.carried)], x.K, self.threshold * x.C)
        yield from _marks_of_even_bytes(x, self.threshold * x.C)


def _marks_of_even_bytes(x, threshold):
    """Yield two more laws of a sender that spreads the bytes of a step evenly.

    The queue then grows or shrinks all the time, so between two ends above the threshold it is above.
    """
    for t in range(1, x.horizon):
        now = x.echoed[t] + x.carried[t] - x.echoed[t - 1] - x.carried[t - 1]
        long = [x.queue(s) > threshold for s in (t - 1, t)]
        none = some(x.limited[t], *long, now <= 0)
        yield "not_marked_while_short", t, none
        every_one = some(x.limited[t], *map(no, long), now >= x.admitted(t) - x.admitted(t - 1))
        yield "all_marked_while_long", t, every_one


def marks(x, flows, columns, tokens, threshold):
    """Yield the laws of marks: a byte is marked if it arrives while more than `threshold` bytes wait.

    Of the bytes that are not lost, byte number X finds X - K bytes waiting when it arrives, and K only grows. So by the
    ends of a step, the bytes up to number K[t-1] + threshold are not marked, and those beyond K[t] + threshold are.

    Args:
        x: The execution.
        flows: Its flows, or the execution itself in place of its only flow.
        columns: For each flow, the bytes delivered with a mark, and the bytes in the network with a mark, at each t.
        tokens: The bytes that have left the bottleneck, at each t.
        threshold: In bytes.
    """
    marked = [sum(echoed[t] + carried[t] for echoed, carried in columns) for t in range(x.horizon)]
    found = sum(carried[0] for _, carried in columns)
    yield "marked_at_first", 0, found >= x.admitted(0) - tokens[0] - threshold
    for t in range(1, x.horizon):
        now, arrived = marked[t] - marked[t - 1], x.admitted(t) - x.admitted(t - 1)
        yield "not_marked_early", t, some(now <= 0, now <= x.admitted(t) - tokens[t - 1] - threshold)
        yield "not_marked_late", t, some(now >= arrived, now >= x.admitted(t) - tokens[t] - threshold)
    for flow, (echoed, carried) in zip(flows, columns, strict=True):
        yield from _in_order(flow, echoed, [echoed[t] + carried[t] for t in range(x.horizon)])


def _in_order(flow, echoed, marked):
    """Yield the laws that a flow's bytes keep their marks, and are delivered in the order of their arrival."""
    yield "marks_are_counted", 0, echoed[0] >= 0
    for t in range(flow.horizon):
        if t:
            now, delivered = marked[t] - marked[t - 1], echoed[t] - echoed[t - 1]
            yield "marks_are_of_new_bytes", t, every(now >= 0, now <= flow.admitted(t) - flow.admitted(t - 1))
            yield "marks_are_of_delivered_bytes", t, every(delivered >= 0, delivered <= flow.S[t] - flow.S[t - 1])
        for u in range(t + 1):
            waiting, carried = flow.admitted(u) - flow.S[t], marked[u] - echoed[t]
            before, after = every(carried >= 0, carried <= waiting), every(carried <= 0, carried >= waiting)
            yield "marks_are_delivered_in_order", t, either(waiting >= 0, before, after)


MODEL = Marking()
