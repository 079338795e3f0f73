"""Links in the steps of loss_convergence, and the symbolic traces over them.

Without loss of generality, the link of a step has rate 1, which defines the unit of bytes. So solvers need only linear
arithmetic. The laws are those of models/cbr_delay.py.
"""

from itertools import combinations_with_replacement

from ccmatic.models.cbr_delay import MODEL

from ccmatic.contracts import Buffer, Execution, Flow
from ccmatic.logic import equal, every

#: The steps of a symbolic trace, and the largest jitter in steps.
HORIZON, JITTER = 12, 2

TRACES = f"every trace of {HORIZON} steps, D = {JITTER} steps"


class Link(Execution):
    """An execution over a link of rate C with a buffer of beta bytes, as models/cbr_delay.py reads it.

    The execution has rows of bytes: arrivals A, service S, losses L and tokens K. It has no controller, beliefs or
    delays.
    """

    def __init__(self, C, beta, A, S, L, K):
        columns = {"A": A, "S": S, "L": L, "Ld": [L[0], *L[:-1]], "limited": [False] * HORIZON}
        super().__init__(Flow(horizon=HORIZON, D=JITTER, **columns), C, Buffer.parse("any"), beta, K)

    def laws(self):
        """Yield the link's laws. Bytes are counted from the start, and the counts never fall."""
        yield from (formula for _, _, formula in MODEL.network(self))
        yield every(equal(self.S[0], 0), self.K[0] >= 0, self.L[0] >= 0, self.beta >= 0, self.C > 0)
        for t in range(1, HORIZON):
            yield every(*(row[t] >= row[t - 1] for row in (self.A, self.S, self.L)))
            yield self.admitted(t) >= self.admitted(t - 1)


def rows(x, names):
    """Return the columns of a trace, by their names."""
    return [x.row(name, HORIZON) for name in names.split()]


def intervals():
    """Return all pairs (first step, last step)."""
    return combinations_with_replacement(range(HORIZON), 2)


def link(x):
    """Return a link of any rate and buffer."""
    return Link(x("C"), x("beta"), *rows(x, "A S L K"))


def known_rate(x):
    return equal(x("C"), 1)
