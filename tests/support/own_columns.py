"""A network model with columns of its own: a mark on what passes a queue (ECN), and a second bottleneck."""

from ccmatic.models.ccac import CCAC

from ccmatic.base import BYTES
from ccmatic.contracts import Column, StateBelief
from ccmatic.logic import equal, every, implies, no

#: Bytes that wait, in C·R_m, above which what is served is marked.
THRESHOLD = 1


class Marking(CCAC):
    """CCAC, whose bottleneck marks, behind another that is slower for a while."""

    name = "marking"
    columns = (
        *CCAC.columns,
        Column("M", BYTES, "bytes marked"),
        Column("K2", BYTES, "bytes let through by the second bottleneck", with_service=True),
    )

    def __init__(self):
        super().__init__()
        self.beliefs += (StateBelief("marked", BYTES, laws=_marked, value=lambda x, t: x.M[t] - x.M[max(t - 1, 0)]),)

    def network(self, x):
        """Marks above the threshold, and only there; the second bottleneck serves what the first let through."""
        yield from super().network(x)
        yield "marks_are_counted", 0, equal(x.M[0], 0)
        for t in range(x.horizon):
            yield "second_after_first", t, every(x.K2[t] <= x.K[t], x.K2[t] >= x.S[t])
        for t in range(1, x.horizon):
            marked, served = x.M[t] - x.M[t - 1], x.S[t] - x.S[t - 1]
            full = x.queue(t) > THRESHOLD
            yield (
                "marks_where_queued",
                t,
                every(implies(full, equal(marked, served)), implies(no(full), equal(marked, 0))),
            )
            yield "second_grows", t, x.K2[t] >= x.K2[t - 1]


def _marked(x):
    yield "marked_seen", 0, equal(x.beliefs["marked"][0], 0)
    for t in range(1, x.horizon):
        yield "marked_seen", t, equal(x.beliefs["marked"][t], x.M[t] - x.M[t - 1])


MODEL = Marking()
