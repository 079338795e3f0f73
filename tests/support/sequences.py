"""Random sequences of observations, and what a controller with state makes of them, by formula, Python and C."""

from copy import copy
from fractions import Fraction
from itertools import accumulate, pairwise

from ccmatic.contracts import Flow
from ccmatic.contracts.columns import Delay, Steps
from ccmatic.contracts.query import Buffer
from ccmatic.contracts.views import Windows
from ccmatic.worlds.exact import ObservedNumber, ObservedTruth, UnknownNumber
from ccmatic.worlds.runtime.library import StepObservations

PACKET, HORIZON = 1500, 12
#: The first step by which it is observed.
FROM = {"acked": 1, "marked": 1, "served": 1, "sent": 1, "delay": 1, "waited": 1, "measured": 2, "ack_rate": 2}
CONSTANTS = {
    **dict.fromkeys(("R_m", "D", "step", "second"), Fraction(1)),
    "MSS": Fraction(PACKET),
    "line_rate": Flow.unlimited,
}
TRUTHS = ("timeout", "measured", "before_trace", "app_limited")
MORE = (0, 0, 1, PACKET, PACKET, 2 * PACKET, 20 * PACKET)


class Sequence:
    """Random observations of a sender from its beginning on, consistent or not. R_m is a step.

    They are A, S, L, Ld, marks and delays, where HORIZON stands for no delay. Byte counts grow.
    """

    def __init__(self, rng):
        self.rng = rng
        self.A, self.S, self.L, self.Ld = (
            list(accumulate([0, *(rng.choice(MORE) for _ in range(HORIZON - 1))])) for _ in range(4)
        )
        before = rng.choice((0, 2**24 + 1, 2**40 + 1))  # sent and acknowledged long ago
        self.A, self.S = ([before + bytes_ for bytes_ in column] for column in (self.A, self.S))
        if rng.random() < 0.3:  # so that timeouts fire
            self.S = list(accumulate((a - lost for a, lost in zip(self.A, self.L, strict=True)), max))
        served = [after - before for before, after in pairwise(self.S)]
        self.echoed = list(accumulate((rng.choice((0, rng.choice(MORE), most)) for most in served), initial=0))
        self.Q = [rng.choice((HORIZON, *range(t))) for t in range(HORIZON)]
        self.apart = [rng.randrange(-4095, 4096) for _ in range(HORIZON)]
        self.seen = [self._seen(t) for t in range(HORIZON)]
        self._known = {}

    def _seen(self, t):
        """Return the input of an exported sender at the end of step t."""
        then = max(0, t - 1)
        return StepObservations(
            acked=self.S[then],
            lost=self.Ld[t],
            sent=self.A[then],
            admitted=self.A[t] - self.L[t],
            time=t,
            delay=-1 if self.Q[then] == HORIZON else self.Q[then],
            timeout=self.S[then] < self.A[then] and self.S[then] == self.A[then] - self.L[then],
            measured=then > 0 and self.S[then] > self.S[then - 1],
            marked=self.echoed[then],
            waited=0 if self.Q[then] == HORIZON else max(0, 4096 * self.Q[then] + self.apart[then]),
        )

    def arguments(self, t, names):
        """Return the inputs of the controller's own Python for these names."""
        return {name: CONSTANTS[name] if name in CONSTANTS else self._observed(name, t) for name in names}

    def _observed(self, name, t):
        if (name, t) not in self._known:
            self._known[name, t] = self._read(name, t)
        return self._known[name, t]

    def _read(self, name, t):
        def before(back):
            return self._observed(name, t - int(back))

        if name == "before_trace":
            return ObservedTruth(False, before)
        if t < FROM.get(name, 0) or (name in ("delay", "waited") and self.seen[t].delay < 0):
            return UnknownNumber(before)
        if name == "ack_rate":
            return ObservedNumber(self.seen[t].acked - self.seen[t - 1].acked, before)
        if name == "waited":
            return ObservedNumber(Fraction(self.seen[t].waited, 4096), before)
        value = getattr(self.seen[t], "acked" if name == "served" else name)
        if name in TRUTHS:
            return ObservedTruth(bool(value), before)
        return ObservedNumber(value, before)

    def measured(self):
        """The same where every delay is known."""
        made = copy(self)
        made.Q = [0 if delay == HORIZON else delay for delay in self.Q]
        made.seen, made._known = [made._seen(t) for t in range(HORIZON)], {}
        return made

    def number(self, name, t):
        """An observation as a number or a truth; 0 or False before the beginning."""
        found = self._observed(name, t) if t >= 0 else None
        if name in TRUTHS:
            return isinstance(found, ObservedTruth) and bool(found)
        return Fraction(found) if isinstance(found, ObservedNumber) else 0

    def view(self, controller):
        """The same as an execution that laws are read from."""
        columns = {name: Steps(map(Fraction, getattr(self, name))) for name in ("A", "S", "L", "Ld")}
        nothing = Steps([Fraction(0)] * HORIZON)
        made = Flow(
            horizon=HORIZON,
            D=1,
            alpha=Fraction(PACKET),
            numeric=True,
            **columns,
            r=nothing,
            cwnd=nothing,
            Q=Delay.measured(self.Q, HORIZON),
            limited=Steps([False] * HORIZON),
            state={memory.name: Steps(nothing) for memory in controller.state},
        )
        echoed = Steps(map(Fraction, self.echoed))
        Windows([made], Fraction(1), Buffer.parse("infinite"), None, {"echoed": echoed}, {})
        return made
