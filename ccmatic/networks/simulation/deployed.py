"""A deployed controller: a sender for the simulator that computes its model's beliefs from its observations.

The sender works in windows of `period` steps. At the end of a window, the model's timeouts change the beliefs. The next
window begins with these beliefs. The module names no particular belief. Samples move the beliefs that are bounds, and
programs compute the other beliefs.
"""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import InputError, blamed
from ccmatic.contracts import BEFORE_TIMEOUT, ObservationWindow, is_bound


@dataclass(frozen=True)
class Window:
    """A finished window of a deployed controller.

    Attributes:
        start: The number of the step at whose end the window began.
        beliefs: One column per belief, by name, in bytes and steps. The last value of a column is the value after the
            timeouts.
        before_timeout: The last value before the timeouts of each belief that carries over to the next window, by name.
    """

    start: int
    beliefs: dict
    before_timeout: dict

    def trace(self, run, units, alpha=None, timed=True):
        """Return this window of a run as a Trace with the beliefs, in units of C·R_m, with C of this window.

        `timed` applies the timeouts at the window's end, as a deployed controller does. `alpha` is as in `Run.trace`.
        """
        horizon = len(next(iter(self.beliefs.values())))
        trace = run.trace(self.start, horizon, alpha)
        path = run.path_within(self.start, self.start + horizon - 1)
        bdp = path.rate * path.propagation
        before = {name: (*self.beliefs[name][:-1], last) for name, last in self.before_timeout.items()}
        columns = self.beliefs | ({n + BEFORE_TIMEOUT: c for n, c in before.items()} if timed else before)
        powers = {name: units[name.removesuffix(BEFORE_TIMEOUT)].bytes_power for name in columns}
        return trace.with_columns(**{n: tuple(v / bdp ** powers[n] for v in c) for n, c in columns.items()})


class DeployedController:
    """A sender for `simulate`: a function from the Observation of each step to the rate of the next step.

    Attributes:
        windows: The finished windows. The first window begins at the end of step 1, because step 1 is the first step
            with a rate.
    """

    def __init__(
        self, model, controller, path, period, start, alpha=None, kept=lambda belief, value: value, choose=None
    ):
        """Make a sender.

        The sender reads only the values of the path that a real sender knows: R_m, D and the packet size. `period` is
        T-1 steps, the length of a window. `start` has the first value of each bound, in bytes and steps. `alpha` is the
        lowest rate in bytes per step, by default one packet. `kept(name, value)` is what is stored of a belief, such as
        a rounded value. For envelopes, `choose` takes the allowed Rates and the Observation, and returns a rate.
        """
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
    def __call__(self, observation):
        if observation.step <= 1:
            self._begin(observation, self._start)
        else:
            self._record(observation)
            self._move()
            if len(self._x.A) == self._x.horizon:
                self._end(observation)
        beliefs = {name: column[-1] for name, column in self._x.beliefs.items()}
        values = {"MSS": self.alpha, "R_m": 1, "D": self.path.jitter, **beliefs}
        if self._choose:
            rate = self._choose(self.controller.allowed(values), observation)
        else:
            rate = max(self.alpha, self.controller.rate(values))
        return rate / self.path.propagation

    def _begin(self, observation, first):
        self._x = ObservationWindow(self.model, self.period + 1, self.path.jitter, self.alpha)
        self._begun = observation.step
        self._record(observation)
        for belief in self.model.beliefs:
            is_given = belief.name in first
            value = first[belief.name] if is_given else Fraction(belief.value(self._x, 0))
            self._x.beliefs[belief.name].append(value)

    def _record(self, observation):
        self._x.append(
            A=observation.sent,
            S=observation.delivered,
            L=observation.dropped,
            Ld=observation.lost,
            r=observation.rate * self.path.propagation,
            Q=observation.last,
            F=observation.first,
            timely=observation.timely,
            excess=observation.excess,
            limited=observation.limited,
        )

    def _move(self):
        """Update the beliefs at the latest step: the bounds, then the states."""
        x, t = self._x, len(self._x.A) - 1
        for bound in self.model.bounds():
            x.beliefs[bound.name].append(self._kept(bound, bound.moved(x, t)))
        for state in self.model.beliefs:
            if not is_bound(state):
                x.beliefs[state.name].append(Fraction(state.value(x, t)))

    def _end(self, observation):
        x = self._x
        before_timeout = {belief.name: x.beliefs[belief.name][-1] for belief in self.model.carried_over()}
        after = dict(self.model.timeouts(x))
        for belief in self.model.carried_over():
            if belief.name in after:
                x.beliefs[belief.name][-1] = self._kept(belief, Fraction(after[belief.name]))
        beliefs = {name: tuple(column) for name, column in x.beliefs.items()}
        self.windows.append(Window(self._begun, beliefs, before_timeout))
        self._begin(observation, {name: column[-1] for name, column in beliefs.items()})
