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
    """The CBR-delay network, which here marks each byte that arrives while more than `threshold` bytes wait.

    Controllers with a window read the marks. No belief does.

    Attributes:
        threshold: The threshold θ, in C·step.
    """

    columns = (*CBRDelay.columns, echoed_marks(1, 1), carried_marks(1, 1))
    parameters = MappingProxyType({**THRESHOLD, **CBRDelay.parameters})

    def __init__(self, threshold=DEFAULT, pauses=False):
        self.threshold = threshold
        super().__init__(pauses)

    @property
    def name(self):
        """The name, which states the threshold θ unless θ is the default, so that records contain θ."""
        return "marking" if self.threshold == DEFAULT else f"marking:threshold={self.threshold}"

    def network(self, x):
        """Yield the laws of CBR-delay, and the laws of the marks."""
        yield from super().network(x)
        yield from marks(x, [x], [(x.echoed, x.carried)], x.K, self.threshold * x.C)
        yield from _marks_of_even_bytes(x, self.threshold * x.C)


def _marks_of_even_bytes(x, threshold):
    """Yield two further laws for a sender that spreads the bytes of a step evenly.

    Then the queue only grows or only shrinks within a step. So if it is above the threshold at both ends of a step, it
    is above the threshold throughout the step.
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

    Number the bytes that are not lost. When byte number X arrives, X - K bytes wait, and K only grows. So the values of
    K at the ends of a step decide most marks: the bytes up to number K[t-1] + threshold are not marked, and the bytes
    beyond number K[t] + threshold are marked.

    Args:
        x: The execution.
        flows: The flows of the execution. If it has only one flow, the execution itself.
        columns: For each flow, the bytes delivered with a mark, and the bytes in the network with a mark, at each t.
        tokens: The bytes that have left the bottleneck, at each t.
        threshold: The threshold in bytes.
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
