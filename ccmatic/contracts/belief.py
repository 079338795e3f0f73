"""Beliefs: what the sender can infer of the path, declared once (section 5.1 of the paper).

A `RunningMax` or `RunningMin` names the samples that may move it; its two encodings follow. *Moving*: one
unknown a step. *Frozen*: one unknown in all, and every sample on the side that leaves it where it is; since the
bound moves one way only, that is exactly the set of traces over which it ends where it began (docs/encoding.md,
section 8, point 1).
A `State` is a function of the trace so far, and has one encoding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import ceil, floor

from ccmatic.base import Unit
from ccmatic.contracts.reason import Compared
from ccmatic.logic import every, implies, is_max, is_min, no, some


class Bounds(Enum):
    """What is known of the beliefs in a window that is asked about."""

    MOVE = "true at first, and moved by what is seen"
    STAY = "true at first, and moved by nothing that is seen: frozen"
    HOLD = "moved by what is seen, and true all the while"
    DEPLOYED = "of a controller as deployed: may be false at first, and time out at the end"


@dataclass(frozen=True)
class Sample:
    """The value amount/over (a term over a positive number), observed when `when` holds."""

    amount: object
    over: object = 1
    when: object = True

    @property
    def value(self):
        return self.amount / self.over


@dataclass(frozen=True)
class StateBelief:
    """A belief that follows from the trace: `laws(x)` yields (law name, t, formula) that define it.
    `value(x, t)`: what a sender takes it to be, by what it has seen and its beliefs; at 0 before it has any.
    `reads`: the beliefs that these read. `holds_at(x, t)`: the truth is where the belief says, for one that can
    be false; `start(x, t)`: what is known of such a one's value even then."""

    #: A value as a whole number.
    whole = staticmethod(floor)

    name: str
    unit: Unit
    laws: Callable
    value: Callable
    reads: tuple = ()
    holds_at: Callable = None
    start: Callable = None

    def initial(self, x):
        """Laws of the value at 0."""
        if self.holds_at:
            start = self.start if x.bounds is Bounds.DEPLOYED else self.holds_at
            yield f"{self.name}_starts", 0, start(x, 0)


@dataclass(frozen=True)
class _Running:
    """A bound that samples move one way. `samples(x, t)` yields what is observed at t ≥ 1;
    `start(x, t)`: what is known of its value at t, where a trace begins, true or not; `true_start(x)`: such a value
    that is true, as a term;
    `holds(x, value)`: a bound of this value is true of the path. symbol: how mathematics writes it, in TeX, by default
    its name; says: what more a legend tells of it."""

    name: str
    unit: Unit
    samples: Callable
    start: Callable
    true_start: Callable
    holds: Callable
    symbol: str = ""
    says: str = ""

    def legend(self, value=""):
        """What a drawing calls it: "at least $C_L$"."""
        more = f", {self.says}" if self.says else ""
        return f"{self.IS} ${self.symbol or self.name}${value}{more}"

    def initial(self, x):
        """Laws of the value at 0."""
        yield f"{self.name}_starts", 0, self.start(x, 0)
        if x.bounds is not Bounds.DEPLOYED:
            yield f"{self.name}_holds_at_first", 0, self.holds(x, x.beliefs[self.name][0])

    def moving(self, x):
        """Laws that give the bound at each step from the one before and the samples."""
        bound = x.before_timeout[self.name]
        for t in range(1, x.horizon):
            samples = [(sample.when, sample.value) for sample in self.samples(x, t)]
            yield f"{self.name}_moves", t, self._extreme(bound[t], (True, bound[t - 1]), *samples)

    def frozen(self, x):
        """Laws that say: no sample moves the bound."""
        bound = x.beliefs[self.name][0]
        for t in range(1, x.horizon):
            for sample in self.samples(x, t):
                yield f"{self.name}_stays", t, implies(sample.when, self._within(sample, bound))

    def follow(self, x):
        """The bound at each step of an observed execution, from a true start on."""
        column = [self.true_start(x)]
        for t in range(1, x.horizon):
            column.append(self._pick([column[-1], *self._seen(x, t)]))
        return tuple(column)

    def moved(self, x, t):
        """The bound at t ≥ 1 of an observed execution, from its value the step before."""
        return self._pick([x.beliefs[self.name][t - 1], *self._seen(x, t)])

    def _seen(self, x, t):
        return [sample.value for sample in self.samples(x, t) if sample.when is True]

    def tightens(self, x):
        """The bound says more at the end than at first, as a Compared."""
        bound = x.beliefs[self.name]
        return Compared(self.name, bound[x.horizon - 1], self._tighter, bound[0], str(self.unit), since=0)

    def tighter(self, x):
        """The bound says more at the end than at first."""
        return self.tightens(x).condition

    def false_sample(self, x):
        """Some sample contradicts the path: the bound, true at 0, is not at the end."""
        return some(
            [
                every(sample.when, no(self.holds(x, sample.value)))
                for t in range(1, x.horizon)
                for sample in self.samples(x, t)
            ]
        )


class RunningMax(_Running):
    """A lower bound: the largest sample so far."""

    IS = "at least"

    #: What a test begins with, as shares of what the link has.
    SHARES = (Fraction(0), Fraction(1, 3), Fraction(1))

    #: A value as a whole number that is as true.
    whole = staticmethod(floor)
    _extreme = staticmethod(is_max)
    _pick = staticmethod(max)

    @staticmethod
    def _within(sample, bound):
        return sample.amount <= bound * sample.over

    _tighter = ">"


class RunningMin(_Running):
    """An upper bound: the smallest sample so far."""

    IS = "at most"
    SHARES = (1, 2, 4)

    whole = staticmethod(ceil)
    _extreme = staticmethod(is_min)
    _pick = staticmethod(min)

    @staticmethod
    def _within(sample, bound):
        return sample.amount >= bound * sample.over

    _tighter = "<"


def is_bound(belief):
    """Whether the belief is a running bound, which can be frozen."""
    return isinstance(belief, _Running)
