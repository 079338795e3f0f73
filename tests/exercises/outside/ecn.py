"""CCAC whose bottleneck marks bytes that leave it while its queue is long, as RFC 3168 has it."""

from ccmatic.models.ccac import CCAC

from ccmatic.base import BYTES
from ccmatic.contracts import Column, StateBelief
from ccmatic.logic import equal, every, implies

#: The queue from which on bytes are marked, in C·R_m.
LONG = 2


class ECN(CCAC):
    """M: the bytes marked among those served. marks: of the last step, as acknowledgements tell the sender."""

    name = "ecn"

    def __init__(self):
        super().__init__()
        self.columns = (*self.columns, Column("M", BYTES, "bytes marked"))
        marks = StateBelief("marks", BYTES, laws=_marks_seen, value=_marked)
        self.beliefs = (*self.beliefs, marks)

    def network(self, x):
        """Bytes served in a step left the queue within it or in the D steps before; a step takes at most C of them."""
        yield from super().network(x)
        for t in range(1, x.horizon):
            yield "marks_are_of_bytes_served", t, every(_marked(x, t) >= 0, _marked(x, t) <= x.S[t] - x.S[t - 1])
            left = range(t - x.D - 1, t)
            if left[0] >= 0:
                long = every([x.queue(s) > (LONG + 1) * x.C for s in left])
                short = every([x.queue(s) + x.sent(s + 1) <= LONG * x.C for s in left])
                yield "all_marked_while_long", t, implies(long, equal(_marked(x, t), x.S[t] - x.S[t - 1]))
                yield "none_marked_while_short", t, implies(short, equal(_marked(x, t), 0))


def _marked(x, t):
    return x.M[t] - x.M[t - 1] if t else 0


def _marks_seen(x):
    for t in range(x.horizon):
        yield "marks_seen", t, equal(x.beliefs["marks"][t], _marked(x, t))


MODEL = ECN()
