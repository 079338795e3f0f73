"""Random executions of a link with a buffer, a token bucket and jitter, from docs/reference/stateful.md only.

Senders send by windows, so bytes arrive in bursts within steps.
"""

from fractions import Fraction

from ccmatic.networks.traces import Trace
from ccmatic.questions import query as queries

#: Instants within a step.
WITHIN = 4


def execution(random, model, buffer, horizon, jitter=1):
    """A Trace of a model with windows that counts from anywhere. random: a `random.Random`."""
    link = _Link(random, Fraction(buffer), jitter, keeps_tokens=model == "ccac_windows")
    for t in range(horizon):
        link.step(t)
    alpha, columns = Fraction(1, random.choice((7, 20, 50))), link.columns
    columns |= _senders(columns, alpha)
    columns["Q"] = _delays(columns)
    thresholds = {"what": "S[0] < S[0]"}
    asked = queries.make(model, str(buffer), horizon, jitter=jitter, property="avoids", thresholds=thresholds)
    constants = {"C": Fraction(1), "R_m": Fraction(1), "D": Fraction(jitter), "MSS": alpha, "beta": Fraction(buffer)}
    constants["tokens_at_first"] = link.tokens_at_first
    columns = {name: tuple(map(Fraction, column)) for name, column in columns.items()}
    return Trace(horizon, constants, columns, asked.record())


class _Link:
    def __init__(self, random, buffer, jitter, keeps_tokens):
        self.random, self.buffer, self.jitter, self.keeps_tokens = random, buffer, jitter, keeps_tokens
        self.served = self.some(-2, 2)
        self.tokens = self.served + self.some(0, jitter)
        self.kept = self.served + self.some(0, 1) * (self.tokens + buffer - self.served)
        if not keeps_tokens:
            self.kept = max(self.kept, self.tokens)
        self.lost = self.some(0, 1)
        self.tokens_at_first = self.tokens + self.some(0, 2)
        self.columns = {name: [] for name in "WASL"}

    def some(self, least, most):
        """A number between two, often one of them."""
        return least + (most - least) * self.random.choice((0, 1, Fraction(self.random.randint(1, 7), 8)))

    def step(self, t):
        """One step. Before a token has waited for longer than the jitter something comes that takes it."""
        came, quiet = self.tokens_by(), self.random.random() < 0.3
        for _ in range(WITHIN if t else 0):
            self.tokens += Fraction(1, WITHIN)
            self.burst(0 if quiet else self.some(0, self.random.choice((0, 1, 3))))
        due = came[t - self.jitter] if t >= self.jitter else (came or [self.tokens])[0] - (self.jitter - t)
        self.burst(max(Fraction(0), due - self.kept))
        if t and self.kept < self.tokens:
            unused = self.tokens - max(self.kept, came[-1])
            self.tokens -= self.some(Fraction(0), unused) if self.keeps_tokens else unused
        if t:
            self.served = self.some(max(self.served, due), min(self.tokens, self.kept))
        row = (self.tokens_at_first + t - self.tokens, self.kept + self.lost, self.served, self.lost)
        for column, value in zip(self.columns.values(), row, strict=True):
            column.append(value)

    def tokens_by(self):
        """The tokens that came by each step and were not wasted."""
        return [self.tokens_at_first + t - wasted for t, wasted in enumerate(self.columns["W"])]

    def burst(self, size):
        """Bytes that come at an instant; those that do not fit are lost."""
        fits = min(size, self.tokens + self.buffer - self.kept)
        self.kept, self.lost = self.kept + fits, self.lost + size - fits


def _senders(columns, alpha):
    """Return the losses that a sender detects, and a window that permits the bytes it sent."""
    A, S, L = (columns[name] for name in "ASL")
    kept = [sent - lost for sent, lost in zip(A, L, strict=True)]
    found, detected = [Fraction(0)], [Fraction(0)]
    for t in range(1, len(A)):
        told = [L[u] for u in range(t) if kept[u] + 3 * alpha <= S[t - 1]]
        found.append(max([found[-1], *told]))
        silent = S[t - 1] == kept[t - 1] and detected[-1] < L[t - 1] and found[-1] < L[t - 1]
        detected.append(L[t - 1] if silent else max(detected[-1], found[-1]))
    window = [Fraction(1)]
    window += [max(Fraction(1, 100), A[t] - S[t - 1] - detected[t]) for t in range(1, len(A))]
    rates = [Fraction(1), *(A[t] - A[t - 1] for t in range(1, len(A)))]
    return {"Ld": detected, "found": found, "cwnd": window, "r": rates}


def _delays(columns):
    A, S, L = (columns[name] for name in "ASL")
    found = [len(A)]
    for t in range(1, len(A)):
        waited = next((k for k in range(t) if S[t] > A[t - k - 1] - L[t - k - 1]), len(A))
        found.append(waited if S[t] > S[t - 1] else found[-1])
    return found
