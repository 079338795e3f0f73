"""Beliefs: what the sender can infer of the path, declared once (section 5.1 of the paper).

A `RunningMax` or `RunningMin` names the samples that may move it; its two encodings follow. *Moving*: one
unknown a step. *Frozen*: one unknown in all, and every sample on the side that leaves it where it is; since the
bound moves one way only, that is exactly the set of traces over which it ends where it began (docs/encoding.md,
section 8, point 1).
A `State` is a function of the trace so far, and has one encoding.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any, ClassVar, Self, TypeGuard

from ccmatic.base import InputError, Unit
from ccmatic.contracts.buffer import Buffer
from ccmatic.contracts.program import START, Program
from ccmatic.contracts.reason import Compared
from ccmatic.contracts.steps import Delay, Laws, Number
from ccmatic.contracts.views import Bounds, FlowView, NetworkView
from ccmatic.logic import Truth, equal, every, implies, is_max, is_min, no, some


@dataclass(frozen=True)
class Sample:
    """The value amount/over (a term over a positive number), observed when `when` holds."""

    amount: Number
    over: Number | int = 1
    when: Truth = True

    @property
    def value(self) -> Number:
        """The value."""
        return self.amount / self.over


@dataclass(frozen=True)
class StateBelief:
    """A belief that follows from the trace: `laws(x)` yields (law name, t, formula) that define it.
    `value(x, t)`: what a sender takes it to be, by what it has seen and its beliefs; at 0 before it has any.
    `reads`: the beliefs that these read. `holds_at(x, t)`: the truth is where the belief says, for one that can
    be false; `start(x, t)`: what is known of such a one's value even then. Raises InputError if only one is given.
    `most(x)`: the largest value that a window tells; a larger one counts as this. upper: it is an upper bound, so that
    it is rounded up. program: that which defines it in every world; None of one that is for solvers alone."""

    #: A value as a whole number.
    whole = staticmethod(floor)

    name: str
    unit: Unit
    laws: Callable[[NetworkView], Laws]
    value: Callable[[FlowView, int], Number | int]
    reads: tuple[str, ...] = ()
    holds_at: Callable[[NetworkView, int], Truth] | None = None
    start: Callable[[NetworkView, int], Truth] | None = None
    most: Callable[[FlowView], Fraction | int] | None = None
    upper: bool = False
    program: Program | None = None

    @classmethod
    def of(
        cls,
        program: Program,
        name: str,
        upper: bool = False,
        holds_at: Callable[[NetworkView, int], Truth] | None = None,
        start: Callable[[NetworkView, int], Truth] | None = None,
    ) -> "StateBelief":
        """The belief that a program's function of this name defines. Other arguments: as of the class.

        Raises InputError if the function reads values before, and the program does not say what the belief is at first.
        """
        program.require_start(name)
        reads = program.reads(name)
        measured = "delay" in reads
        return cls(
            name,
            program.beliefs[name],
            laws=lambda x: (_measured if measured else _moves)(program, name, upper, x),
            value=lambda x, t: _value(program, name, upper, x, t),
            reads=tuple(sorted(reads & program.beliefs.keys() - {name})),
            holds_at=holds_at,
            start=start,
            most=(lambda x: _of_longest(program, name, x)) if measured and not upper else None,
            upper=upper,
            program=program,
        )

    def __post_init__(self) -> None:
        if bool(self.holds_at) != bool(self.start):
            given, lacks = ("holds_at", "start") if self.holds_at else ("start", "holds_at")
            raise InputError(f"{self.name} has {given}; expected {lacks} as well, as of any belief that can be false")

    def initial(self, x: NetworkView) -> Laws:
        """Laws of the value at 0."""
        if self.holds_at and self.start:
            begins = self.start if x.bounds is Bounds.DEPLOYED else self.holds_at
            yield f"{self.name}_starts", 0, begins(x, 0)


def _of_longest(program: Program, name: str, x: FlowView) -> Any:
    """What a belief is of the longest delay that a window tells apart."""
    return program.at(x, 0, delay=x.horizon).value(name)


def _measured(program: Program, name: str, upper: bool, x: NetworkView) -> Laws:
    """The belief by whole steps of delay. Delays of a horizon or more are not told apart: a lower bound takes one
    horizon; an upper bound, which grows with the delay, is at least that of one step less."""
    for t in range(x.horizon):
        bound = x.before_timeout[name][t]
        for k in range(x.horizon + 1):
            longest = upper and k == x.horizon
            value = program.at(x, t, delay=k - longest).value(name)
            law = bound >= value if longest else equal(bound, value)
            yield f"{name}_measured", t, implies(_last_delay(x).exactly(t, k), law)


def _last_delay(x: FlowView) -> Delay:
    if x.Q is None:
        raise InputError("a belief reads `delay`, which the model does not measure; expected LAST among its columns")
    return x.Q


def _moves(program: Program, name: str, upper: bool, x: NetworkView) -> Laws:
    """The belief at each step by what was before."""
    for t in range(int(name + START in program.definitions), x.horizon):
        yield f"{name}_moves", t, program.at(x, t).bounded_by(name, x.before_timeout[name][t])


def _value(program: Program, name: str, upper: bool, x: FlowView, t: int) -> Any:
    """The belief of a sender that sees numbers."""
    if t == 0 and name + START in program.definitions:
        return program.at(x, t).value(name + START)
    delay = min(int(_last_delay(x).steps(t)), x.horizon) if "delay" in program.reads(name) and not upper else None
    return program.at(x, t, delay=delay).value(name)


@dataclass(frozen=True)
class RunningBound:
    """A bound that samples move one way. `samples(x, t)` yields what is observed at t ≥ 1;
    `start(x, t)`: what is known of its value at t, where a trace begins, true or not; `true_start(x)`: such a value
    that is true, as a term;
    `holds(x, value)`: a bound of this value is true of the path. symbol: how mathematics writes it, in TeX, by default
    its name; says: what more a legend tells of it. turns_false(flow, buffer): on which networks a true bound can turn
    false, in words; None if this is none of them. program: that which defines the samples in every world; None of a
    bound that is for solvers alone."""

    name: str
    unit: Unit
    samples: Callable[[FlowView, int], Iterable[Sample]]
    start: Callable[[NetworkView, int], Truth]
    true_start: Callable[[NetworkView], Number]
    holds: Callable[[NetworkView, Number], Truth]
    symbol: str = ""
    says: str = ""
    turns_false: Callable[[FlowView, Buffer], str | None] = lambda flow, buffer: None
    program: Program | None = None

    @classmethod
    def of(cls, program: Program, name: str, **more: Any) -> Self:
        """The bound whose samples a program's function of this name returns. more: as of the class."""

        def samples(x: FlowView, t: int) -> Iterable[Sample]:
            return (Sample(*sample) for sample in program.at(x, t).samples(name))

        return cls(name, program.beliefs[name], samples=samples, program=program, **more)

    #: In words: at least, at most. What a test begins with, as shares of what the link has.
    IS: ClassVar[str]
    SHARES: ClassVar[tuple[Fraction | int, ...]]

    #: A value as a whole number that is as true.
    whole: ClassVar[Any]

    #: The condition that a bound is the extreme of what was seen; that one; how one that says more compares.
    _extreme: ClassVar[Any]
    _pick: ClassVar[Any]
    _tighter: ClassVar[str]

    @staticmethod
    def _within(sample: Sample, bound: Number) -> Truth:
        """The sample leaves the bound where it is."""
        raise NotImplementedError

    def legend(self, value: str = "") -> str:
        """What a drawing calls it: "at least $C_L$"."""
        more = f", {self.says}" if self.says else ""
        return f"{self.IS} ${self.symbol or self.name}${value}{more}"

    def initial(self, x: NetworkView) -> Laws:
        """Laws of the value at 0."""
        yield f"{self.name}_starts", 0, self.start(x, 0)
        if x.bounds is not Bounds.DEPLOYED:
            yield f"{self.name}_holds_at_first", 0, self.holds(x, x.beliefs[self.name][0])

    def moving(self, x: NetworkView) -> Laws:
        """Yield the laws, (law name, t, formula), that give the bound at each step from the one before and the
        samples."""
        bound = x.before_timeout[self.name]
        for t in range(1, x.horizon):
            samples = [(sample.when, sample.value) for sample in self.samples(x, t)]
            yield f"{self.name}_moves", t, self._extreme(bound[t], (True, bound[t - 1]), *samples)

    def frozen(self, x: NetworkView) -> Laws:
        """Yield the laws that say: no sample moves the bound."""
        bound = x.beliefs[self.name][0]
        for t in range(1, x.horizon):
            for sample in self.samples(x, t):
                yield f"{self.name}_stays", t, implies(sample.when, self._within(sample, bound))

    def follow(self, x: NetworkView) -> tuple[Number, ...]:
        """The bound at each step of an observed execution, a tuple of numbers in the belief's unit, from a true
        start on."""
        column = [self.true_start(x)]
        for t in range(1, x.horizon):
            column.append(self._pick([column[-1], *self._seen(x, t)]))
        return tuple(column)

    def moved(self, x: FlowView, t: int) -> Any:
        """The bound at t ≥ 1 of an observed execution, from its value the step before."""
        return self._pick([x.beliefs[self.name][t - 1], *self._seen(x, t)])

    def _seen(self, x: FlowView, t: int) -> list[Number]:
        return [sample.value for sample in self.samples(x, t) if sample.when is True]

    def tightens(self, x: FlowView) -> Compared:
        """The bound says more at the end than at first, as a Compared."""
        bound = x.beliefs[self.name]
        return Compared(self.name, bound[x.horizon - 1], self._tighter, bound[0], str(self.unit), since=0)

    def tighter(self, x: FlowView) -> Truth:
        """The bound says more at the end than at first."""
        return self.tightens(x).condition

    def false_sample(self, x: NetworkView) -> Truth:
        """Some sample contradicts the path: the bound, true at 0, is not at the end."""
        return some(
            [
                every(sample.when, no(self.holds(x, sample.value)))
                for t in range(1, x.horizon)
                for sample in self.samples(x, t)
            ]
        )


class RunningMax(RunningBound):
    """A lower bound: the largest sample so far."""

    IS = "at least"
    SHARES = (Fraction(0), Fraction(1, 3), Fraction(1))

    whole = staticmethod(floor)
    _extreme = staticmethod(is_max)
    _pick = staticmethod(max)

    @staticmethod
    def _within(sample: Sample, bound: Number) -> Truth:
        return sample.amount <= bound * sample.over

    _tighter = ">"


class RunningMin(RunningBound):
    """An upper bound: the smallest sample so far."""

    IS = "at most"
    SHARES = (1, 2, 4)

    whole = staticmethod(ceil)
    _extreme = staticmethod(is_min)
    _pick = staticmethod(min)

    @staticmethod
    def _within(sample: Sample, bound: Number) -> Truth:
        return sample.amount >= bound * sample.over

    _tighter = "<"


#: What a model declares.
Belief = StateBelief | RunningBound


def is_bound(belief: object) -> TypeGuard[RunningBound]:
    """Whether the belief is a running bound, which can be frozen."""
    return isinstance(belief, RunningBound)
