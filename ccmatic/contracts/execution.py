"""Executions, as laws read them: of unknowns, for solvers; or of a trace's numbers, on which laws are true or false.

Without loss of generality C = 1 and R_m = 1 step, and no byte is served at t = 0 (docs/encoding.md, notation).
"""

from fractions import Fraction

from ccmatic.base import InputError
from ccmatic.contracts.belief import unknowns
from ccmatic.contracts.column import TOKENS
from ccmatic.logic import boolean, every, linear, no, real


class Steps(list):
    """What an execution has at each t. Unlike a list's, its steps do not count from the end: x.S[t - 1] at t = 0 is
    refused, with InputError, and is not the last step."""

    def __getitem__(self, t):
        if isinstance(t, int) and not 0 <= t < len(self):
            raise InputError(
                f"step {t} is not in the trace; expected one from 0 to x.horizon - 1, which is {len(self) - 1}"
            )
        return super().__getitem__(t)


class Delay:
    """Whole steps of delay of a byte served by t, at each t, in order encoding: `late[t]` has one truth value for
    each of "at least k steps", k = 1 … horizon."""

    def __init__(self, late, horizon, column=None):
        self.horizon = horizon
        self._late, self._column = Steps(late), column

    @staticmethod
    def unknown(name, horizon):
        """A delay of unknowns."""
        late = [[boolean(f"{name}_{t}_{k}") for k in range(1, horizon + 1)] for t in range(horizon)]
        return Delay(late, horizon)

    @staticmethod
    def measured(column, horizon):
        """The delays in a trace's column, or in as much of one as there is yet; `append` adds to it."""
        delay = Delay([], horizon, [])
        for steps in column:
            delay.append(steps)
        return delay

    def append(self, steps):
        """A delay measured at the next t."""
        self._late.append([steps >= k for k in range(1, self.horizon + 1)])
        self._column.append(steps)

    def steps(self, t):
        """The delay measured at t, which may be longer than the horizon; of numbers only."""
        return self._column[t]

    def at_least(self, t, k):
        """The delay measured at t is k steps or more. Beyond the horizon delays are not told apart."""
        return True if k <= 0 else self._late[t][min(k, self.horizon) - 1]

    def exactly(self, t, k):
        """The delay measured at t is in [k, k+1) steps; k = horizon stands for all that is longer."""
        if k == self.horizon:
            return self.at_least(t, k)
        return every(self.at_least(t, k), no(self.at_least(t, k + 1)))

    def at_end(self):
        """The delay measured at the last step, alone."""
        return Delay(self._late[-1:], self.horizon)

    def then(self, other):
        """This one step, and then what another has after its first."""
        return Delay([*self._late, *other._late[1:]], self.horizon)

    def pairs(self, column):
        """Each truth value with what it is for the measured delays in `column`."""
        for t, row in enumerate(self._late):
            for k, late in enumerate(row, 1):
                yield late, column[t] >= k

    def read(self, value):
        """The measured delays, `value` giving each truth value."""
        return tuple(sum(value(late) for late in row) for row in self._late)


class Execution:
    """The unknowns of one trace of a model (docs/encoding.md, section 1): lists over t = 0 … horizon-1.

    A, S, L, Ld, K: cumulative bytes sent, served, lost, detected as lost, and tokens admitted; r: sending
    rate over (t-1, t]; Q, F: delay of the last and first byte served, where the model measures it; alpha:
    MSS/R_m; beta: the buffer or None; D: jitter in steps; beliefs: a list of terms each, by name. deployed: beliefs
    may be false at first, and time out at the end; untimed: they as they were before that. limited: whether, in
    (t-1, t], the sender was application-limited: it sent less than its rate, at any time; with `pauses` it may be, in
    any step. own: the columns that the model declares beyond these, by name, each also `x.NAME`. timely: of Ld, what
    tells of a buffer that is full throughout a step. known: all are numbers.
    """

    C, _zero = linear(1), linear(0)
    known = False

    def __init__(self, model, horizon, buffer, jitter, frozen=False, deployed=False, pauses=False):
        self.horizon, self.buffer, self.D, self.frozen = horizon, buffer, jitter, frozen
        self.deployed = deployed
        self.alpha, self.beta = self._alpha(), self._beta()
        self.A, self.S, self.r = (Steps(self._column(name)) for name in "ASr")
        self.L = Steps(self._column("L") if buffer.finite else [self._zero] * horizon)
        self.Ld = Steps([self._first("Ld") if buffer.finite else self._zero, *self.L[:-1]])
        self.timely = self.Ld
        self.K = Steps(self._column("K")) if TOKENS in model.columns else self.S
        self.own = {column.name: Steps(self._column(column.name)) for column in model.own_columns}
        self.limited = Steps([boolean(f"limited_{t}") if pauses else False for t in range(horizon)])
        self.Q, self.F = (self._delay(name) if name in model.measures else None for name in "QF")
        self.beliefs = {belief.name: Steps(self._belief(belief)) for belief in self._read(model)}
        ends = {b.name: self._untimed(b.name) for b in model.lasting() if deployed and b.name in self.beliefs}
        self.untimed = {
            name: Steps([*column[:-1], ends.get(name, column[horizon - 1])]) for name, column in self.beliefs.items()
        }

    def __getattr__(self, name):
        own = self.__dict__.get("own", {})
        if name not in own:
            declared = ", ".join(own) or "none"
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'; its own columns are {declared}")
        return own[name]

    def sent(self, t):
        """Bytes sent in (t-1, t]: r but where the sender is limited."""
        return self.r[t] if self.limited[t] is False else self.A[t] - self.A[t - 1]

    def inflight(self, t):
        """Bytes in the network beyond propagation, q = A - L - S."""
        return self.A[t] - self.L[t] - self.S[t]

    def queue(self, t):
        """Bytes that wait at the bottleneck, A - L - K."""
        return self.A[t] - self.L[t] - self.K[t]

    def admitted(self, t):
        """Bytes sent and not lost, A - L."""
        return self.A[t] - self.L[t]

    def columns(self):
        """The terms of each column of a trace but for the delays, by name."""
        names = ("A", "S", "L", "Ld", "K", "r")
        columns = {**{name: getattr(self, name) for name in names}, **self.own, **self.beliefs}
        end = self.horizon - 1
        return columns | {f"{n}_untimed": c for n, c in self.untimed.items() if c[end] is not self.beliefs[n][end]}

    def _alpha(self):
        return real("alpha")

    def _beta(self):
        return self.buffer.term()

    def _column(self, name):
        return [real(f"{name}_{t}") for t in range(self.horizon)]

    def _first(self, name):
        return real(f"{name}_0")

    def _delay(self, name):
        return Delay.unknown(name, self.horizon)

    def _untimed(self, name):
        return real(f"{name}_untimed")

    def _read(self, model):
        return model.beliefs

    def _belief(self, belief):
        return unknowns(belief, self.horizon, self.frozen)


class Ending(Execution):
    """The last step of an execution, as all that there is of the next window: its first step."""

    def __init__(self, model, x):
        e = x.horizon - 1
        self.horizon, self.buffer, self.D, self.alpha, self.beta = 1, x.buffer, x.D, x.alpha, x.beta
        self.known = x.known
        self.A, self.K = Steps([x.A[e] - x.S[e]]), Steps([x.K[e] - x.S[e]])
        self.S, self.L, self.Ld, self.r = (Steps([first]) for first in (self._zero, x.L[e], x.Ld[e], x.r[e]))
        self.timely, self.limited = self.Ld, Steps([x.limited[e]])
        with_service = {column.name: column.with_service for column in model.own_columns}
        self.own = {n: Steps([c[e] - x.S[e] if with_service[n] else c[e]]) for n, c in x.own.items()}
        self.Q, self.F = (delay and delay.at_end() for delay in (x.Q, x.F))


class Following(Execution):
    """The window after an execution's own: its first step is that one's last, its other steps are other unknowns."""

    def __init__(self, model, x):
        self._before, self._end = x, Ending(model, x)
        self._lasting = {belief.name for belief in model.lasting()}
        super().__init__(model, x.horizon, x.buffer, x.D, x.frozen, x.deployed)

    def _alpha(self):
        return self._before.alpha

    def _beta(self):
        return self._before.beta

    def _column(self, name):
        return [getattr(self._end, name)[0], *self._own(name)[1:]]

    def _first(self, name):
        return getattr(self._end, name)[0]

    def _delay(self, name):
        return getattr(self._end, name).then(Delay.unknown(f"next_{name}", self.horizon))

    def _untimed(self, name):
        return real(f"next_{name}_untimed")

    def _belief(self, belief):
        first, *others = self._own(belief.name)
        return [self._before.beliefs[belief.name][self.horizon - 1] if belief.name in self._lasting else first, *others]

    def _own(self, name):
        return [real(f"next_{name}_{t}") for t in range(self.horizon)]


class Observed(Execution):
    """The same of a trace's numbers. `reads`: names of the beliefs to be read. What follows from other columns is
    not read, such as Ld but for its first value. Raises KeyError for a column or a constant that the trace lacks."""

    C, _zero = Fraction(1), Fraction(0)
    known = True

    def __init__(self, model, buffer, jitter, trace, reads, deployed=False):
        self._trace, self._reads = trace, reads
        super().__init__(model, trace.horizon, buffer, jitter, deployed=deployed)

    def _alpha(self):
        return Fraction(self._trace.constants["MSS"])

    def _beta(self):
        return Fraction(self._trace.constants["beta"]) if self.buffer.finite else None

    def _column(self, name):
        return [Fraction(value) for value in self._trace.columns[name]]

    def _first(self, name):
        return Fraction(self._trace.columns[name][0])

    def _delay(self, name):
        return Delay.measured(self._trace.columns[name], self.horizon)

    def _read(self, model):
        return [belief for belief in model.beliefs if belief.name in self._reads]

    def _untimed(self, name):
        return self._column(f"{name}_untimed")[-1]

    def _belief(self, belief):
        return self._column(belief.name)


class Watched(Observed):
    """What a sender sees of a window of `horizon` steps, so far: columns grow by `append`. It knows neither the link
    nor the buffer; bytes are its own, counted from anywhere, and alpha is in bytes per step."""

    C = buffer = beta = K = None

    def __init__(self, model, horizon, jitter, alpha):
        self._model, self.horizon, self.D, self.alpha = model, horizon, jitter, alpha
        self.A, self.S, self.L, self.Ld, self.r, self.timely, self.limited = [], [], [], [], [], [], []
        self.Q, self.F, self.own = Delay.measured((), horizon), Delay.measured((), horizon), {}
        self.beliefs = self.untimed = {belief.name: [] for belief in model.beliefs}

    def append(self, Q, F, limited, **row):
        """The next step: bytes, the rate in bytes per step, measured delays in whole steps, whether it was limited."""
        for name, value in row.items():
            getattr(self, name).append(Fraction(value))
        self.limited.append(limited)
        self.Q.append(Q)
        self.F.append(F)

    def _read(self, model):
        return model.beliefs
