"""A controller as deployed: a sender for the simulator that computes its model's beliefs from what it sees.

It works in windows of `period` steps. The beliefs at the end of one, after the model's timeouts, are those that the
next begins with. It knows no belief by name: bounds move by their samples, states have a value (`Belief`).
"""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import InputError, blamed
from ccmatic.contracts import BEFORE_TIMEOUT, Watched, is_bound


@dataclass(frozen=True)
class Window:
    """A window that is over. start: the step at whose end it began.
    beliefs: a column each, by name, in bytes and steps; the last value is after the timeouts.
    before_timeout: the last value before them of each that carries over."""

    start: int
    beliefs: dict
    before_timeout: dict

    def trace(self, run, units, alpha=None, timed=True):
        """This window of a run as a Trace with the beliefs, in units of C·R_m at the rate that the link had then.

        units: of each belief, as in `Query.units`. alpha: as in `Run.trace`. timed: with the timeouts, as the execution
        of a deployed controller; else without. Raises InputError if the rate changes within it.
        """
        horizon = len(next(iter(self.beliefs.values())))
        trace = run.trace(self.start, horizon, alpha)
        path = run.path_within(self.start, self.start + horizon - 1)
        bdp = path.rate * path.propagation
        before = {name: (*self.beliefs[name][:-1], last) for name, last in self.before_timeout.items()}
        columns = self.beliefs | ({n + BEFORE_TIMEOUT: c for n, c in before.items()} if timed else before)
        powers = {name: units[name.removesuffix(BEFORE_TIMEOUT)].bytes_power for name in columns}
        return trace.with_columns(**{n: tuple(v / bdp ** powers[n] for v in c) for n, c in columns.items()})


class Deployed:
    """A sender for `simulate`: a function from Observations, one a step, to rates.

    model, controller: see `ccmatic.contracts.model` and `ccmatic.controllers`.
    path:    which is read for what a sender knows: R_m, D and the size of packets; not its rate nor its buffer.
    period:  steps of a window, T-1.
    start:   the first value of each bound, by name, in bytes and steps.
    alpha:   the least rate, bytes per step; a packet by default.
    kept:    of a belief and its value, what is kept of the value, as by a sender that rounds; all of it by default.
    choose:  of an envelope, a function from the Rates that are allowed and the Observation to one of them.

    `windows` are those that are over. The first begins at the end of step 1: before that nothing was sent at a rate.
    Raises InputError if a bound lacks a start.
    """

    def __init__(
        self, model, controller, path, period, start, alpha=None, kept=lambda belief, value: value, choose=None
    ):
        self.model, self.controller, self.path, self.period = model, controller, path, period
        self.alpha = Fraction(path.packet if alpha is None else alpha)
        for bound in model.bounds():
            if bound.name not in start:
                raise InputError(f"{bound.name} has no first value; expected one for each bound")
        self._start = {name: Fraction(value) for name, value in start.items()}
        self._kept, self._choose = kept, choose
        self.windows = []
        self._x = self._begun = None

    @blamed()
    def __call__(self, seen):
        """The rate of the coming step, bytes per unit of time."""
        if seen.step <= 1:
            self._begin(seen, self._start)
        else:
            self._look(seen)
            self._move()
            if len(self._x.A) == self._x.horizon:
                self._end(seen)
        beliefs = {name: column[-1] for name, column in self._x.beliefs.items()}
        values = {"MSS": self.alpha, "R_m": 1, "D": self.path.jitter, **beliefs}
        if self._choose:
            rate = self._choose(self.controller.allowed(values), seen)
        else:
            rate = max(self.alpha, self.controller.rate(values))
        return rate / self.path.propagation

    def _begin(self, seen, first):
        self._x = Watched(self.model, self.period + 1, self.path.jitter, self.alpha)
        self._begun = seen.step
        self._look(seen)
        for belief in self.model.beliefs:
            is_given = belief.name in first
            value = first[belief.name] if is_given else Fraction(belief.value(self._x, 0))
            self._x.beliefs[belief.name].append(value)

    def _look(self, seen):
        self._x.append(
            A=seen.sent,
            S=seen.delivered,
            L=seen.dropped,
            Ld=seen.lost,
            r=seen.rate * self.path.propagation,
            Q=seen.last,
            F=seen.first,
            timely=seen.timely,
            excess=seen.excess,
            limited=seen.limited,
        )

    def _move(self):
        """The beliefs at the step just seen: the bounds, then the states."""
        x, t = self._x, len(self._x.A) - 1
        for bound in self.model.bounds():
            x.beliefs[bound.name].append(self._kept(bound, bound.moved(x, t)))
        for state in self.model.beliefs:
            if not is_bound(state):
                x.beliefs[state.name].append(Fraction(state.value(x, t)))

    def _end(self, seen):
        """The timeouts, and the next window."""
        x = self._x
        before_timeout = {belief.name: x.beliefs[belief.name][-1] for belief in self.model.carried_over()}
        after = dict(self.model.timeouts(x))
        for belief in self.model.carried_over():
            if belief.name in after:
                x.beliefs[belief.name][-1] = self._kept(belief, Fraction(after[belief.name]))
        beliefs = {name: tuple(column) for name, column in x.beliefs.items()}
        self.windows.append(Window(self._begun, beliefs, before_timeout))
        self._begin(seen, {name: column[-1] for name, column in beliefs.items()})
