"""The laws of docs/reference/encoding.md, sections 2 to 5, as plain Python on a trace's columns, apart from the
engine's own."""

from fractions import Fraction


class Columns:
    """A trace's columns and constants as attributes, and A - L as X."""

    def __init__(self, trace):
        self.__dict__.update(trace.constants, **trace.columns)
        self.T, self.kind = trace.horizon, trace.query["model"]
        self.beta = trace.constants.get("beta")
        self.X = [a - lost for a, lost in zip(self.A, self.L, strict=True)]


def sender_laws(x):
    yield "packet size", 0, 0 < x.MSS < Fraction(1, 5) and (x.beta is None or x.beta > x.MSS)
    yield "origin", 0, x.S[0] == 0 <= x.A[0] and x.r[0] > 0 and 0 <= x.Ld[0] <= x.L[0]
    for t in range(1, x.T):
        yield "rate", t, x.A[t] == x.A[t - 1] + x.r[t] and x.r[t] >= x.MSS
        yield "monotone", t, x.S[t] >= x.S[t - 1] and x.L[t] >= x.L[t - 1] and x.X[t] >= x.X[t - 1]
        yield "detected", t, x.Ld[t] == x.L[t - 1]


def token_laws(x):
    """Section 2; the last law is CBR-delay's, section 3."""
    D = int(x.D)
    if x.kind == "cbr_delay":
        yield "tokens start", 0, x.K[0] <= x.X[0]
    for t in range(x.T):
        yield "served", t, x.S[t] <= x.X[t] and x.S[t] <= x.K[t]
        yield "jitter", t, x.S[t] >= (x.K[t - D] if t >= D else x.K[0] - (D - t))
    for t in range(1, x.T):
        yield "token rate", t, 0 <= x.K[t] - x.K[t - 1] <= 1
        yield "waste", t, x.K[t] == x.K[t - 1] + 1 or x.X[t] <= x.K[t]
        if x.kind == "cbr_delay":
            yield "cbr", t, x.K[t] == min(x.K[t - 1] + 1, x.X[t])


def ideal_laws(x):
    """Section 4."""
    for t in range(x.T):
        yield "no tokens", t, x.K[t] == x.S[t] <= x.X[t]
    for t in range(1, x.T):
        yield "ideal", t, x.S[t] == min(x.S[t - 1] + 1, x.A[t] - x.L[t - 1])


def loss_laws(x):
    if x.beta is None:
        yield "no loss", 0, set(x.L + x.Ld) == {x.L[0]}
        return
    yield "fits", 0, x.X[0] <= x.K[0] + x.beta
    yield "just lost", 0, x.L[0] == x.Ld[0] or x.X[0] == x.K[0] + x.beta
    for t in range(1, x.T):
        full = x.K[t] + x.beta
        yield "loss", t, x.X[t] == full if x.A[t] - x.L[t - 1] > full else x.L[t] == x.L[t - 1]


def delay_laws(x):
    """Section 5, for the last (Q) and the first (F) byte served.

    Two bounds are looser than those in the document, because executions break them; see the two tests about delays.
    """
    for name, column, slack in (("Q", x.Q, 0), ("F", x.F, 1)):
        for t in range(x.T):
            yield name, t, 0 <= column[t] <= x.T and column[t].denominator == 1
            if x.beta is not None:
                yield f"{name} fits", t, column[t] <= x.beta + x.D + slack
        idle = 0
        for t in range(1, x.T):
            if x.S[t] == x.S[t - 1]:
                idle += 1
                yield f"{name} stays", t, column[t] == column[t - 1]
                continue
            for d in range(t):
                if name == "Q":
                    seen = x.X[t - d - 1] < x.S[t] <= x.X[t - d]
                else:
                    seen = x.X[t - d - 1] <= x.S[t - 1] < x.X[t - d]
                yield name, t, (column[t] == d) == seen
            if idle < t - 1:
                yield f"{name} grows", t, column[t] <= column[t - 1] + 1 + idle
            idle = 0


def broken(trace):
    """The laws that the trace breaks: (name, t)."""
    x = Columns(trace)
    own = ideal_laws if x.kind == "ideal" else token_laws
    laws = (law for part in (sender_laws, own, loss_laws, delay_laws) for law in part(x))
    return [(name, t) for name, t, holds in laws if not holds]
