"""Beliefs: a sender's inferences about its path. Each belief is declared once (section 5.1 of the paper).

A `RunningMax` or `RunningMin` is a bound that samples of the network move. The samples determine two encodings of the
bound. The *moving* encoding has one unknown per step. The *frozen* encoding has a single unknown, and no sample may
move the bound. A bound moves in one direction only. Therefore, the frozen encoding allows exactly the traces in which
the bound has the same value at the end as at the start (docs/reference/encoding.md, section 8, point 1). A
`StateBelief` is a function of the trace so far, and has one encoding.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any, ClassVar, Self, TypeGuard

from ccmatic.base import InputError, Unit
from ccmatic.contracts.columns import Delay, Laws, Number
from ccmatic.contracts.program import START, Program
from ccmatic.contracts.query import Buffer
from ccmatic.contracts.reason import Compared
from ccmatic.contracts.views import Bounds, FlowView, NetworkView
from ccmatic.logic import Truth, equal, every, implies, is_max, is_min, no, some


@dataclass(frozen=True)
class Sample:
    """A sample: the value amount/over, where `over` is a positive number.

    The sender observes the value if `when` holds.
    """

    amount: Number
    over: Number | int = 1
    when: Truth = True

    @property
    def value(self) -> Number:
        return self.amount / self.over


@dataclass(frozen=True)
class StateBelief:
    """A belief whose value is a function of the trace so far.

    Attributes:
        name: The name of the belief.
        unit: The unit of its value.
        laws: `laws(x)` yields the laws (law name, t, formula) that define the value.
        value: `value(x, t)` is the value that the sender computes from its observations and beliefs. At t = 0, the
            sender has no observations and beliefs yet.
        reads: The beliefs that `laws` and `value` read.
        holds_at: `holds_at(x, t)` is the condition that the belief is true of the path. Only a belief that can be false
            has `holds_at`.
        start: `start(x, t)` is a condition on the value of a belief that can be false. The condition holds even while
            the belief is false.
        most: `most(x)` is the largest value that a window distinguishes from others. This value also stands for all
            larger values.
        upper: Whether the belief is an upper bound, so that its value is rounded up.
        program: The program that computes the belief for solvers, simulators and exported code; None for a belief that
            exists only in solvers' queries.

    Raises:
        InputError: If only one of `holds_at` and `start` is given.
    """

    #: A function that rounds the value to an integer.
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
        """Return the belief that a program's function `name` defines; the other arguments are as in the class.

        Raises:
            InputError: If the function reads earlier values, and the program does not define the belief at the start.
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
            most=(lambda x: program.at(x, 0, delay=x.horizon).value(name)) if measured and not upper else None,
            upper=upper,
            program=program,
        )

    def __post_init__(self) -> None:
        if bool(self.holds_at) != bool(self.start):
            given, lacks = ("holds_at", "start") if self.holds_at else ("start", "holds_at")
            raise InputError(
                f"{self.name} has {given}; expected {lacks} as well, since a belief that can be false needs both"
            )

    def initial(self, x: NetworkView) -> Laws:
        """Yield the laws that define the belief's value at t = 0."""
        if self.holds_at and self.start:
            begins = self.start if x.bounds is Bounds.DEPLOYED else self.holds_at
            yield f"{self.name}_starts", 0, begins(x, 0)

    def consequences(self, x: NetworkView) -> Laws:
        """Yield consequences of the laws for long delays: the value is at least that of each shorter delay.

        There are none if the value does not depend on a measured delay, or may fall as the delay grows.
        """
        if self.program is None or "delay" not in self.program.reads(self.name) or x.Q is None:
            return
        values = [self.program.at(x, 0, delay=k).value(self.name) for k in range(x.horizon + 1)]
        if values != sorted(values):
            return
        for t in range(x.horizon):
            for k, value in enumerate(values[: -1 if self.upper else None]):
                bound = x.before_timeout[self.name][t]
                yield f"{self.name}_grows_with_delay", t, implies(x.Q.at_least(t, k), bound >= value)


def _measured(program: Program, name: str, upper: bool, x: NetworkView) -> Laws:
    """Yield the laws of a belief for each possible measured delay in whole steps.

    A window does not distinguish delays of one horizon or more. For these delays, the laws compute a lower bound as if
    the delay were one horizon. An upper bound grows with the delay. So the laws only require that it is at least
    the upper bound for a delay of one step less than the horizon.
    """
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
    for t in range(int(name + START in program.definitions), x.horizon):
        yield f"{name}_moves", t, program.at(x, t).bounded_by(name, x.before_timeout[name][t])


def _value(program: Program, name: str, upper: bool, x: FlowView, t: int) -> Any:
    """The sender's observations must be numbers."""
    if t == 0 and name + START in program.definitions:
        return program.at(x, t).value(name + START)
    delay = min(int(_last_delay(x).steps(t)), x.horizon) if "delay" in program.reads(name) and not upper else None
    return program.at(x, t, delay=delay).value(name)


@dataclass(frozen=True)
class RunningBound:
    """A bound that samples can move in one direction only.

    Attributes:
        name: The name of the belief.
        unit: The unit of the bound.
        samples: `samples(x, t)` yields the samples that the sender observes at step t ≥ 1.
        start: `start(x, t)` is a condition on the bound's value at the beginning t of a trace. The condition holds even
            if the bound is false of the path.
        true_start: `true_start(x)` is a term for a value that satisfies `start` and is true of the path.
        holds: `holds(x, value)` is the condition that a bound of this value is true of the path.
        symbol: The mathematical symbol in TeX; by default the name.
        says: Additional text for legends.
        turns_false: `turns_false(flow, buffer)` describes networks like the given one on which a true bound can turn
            false. The result is None if the bound stays true on the given network.
        program: The program that computes the samples for solvers, simulators and exported code; None for a bound that
            exists only in solvers' queries.
        reads: The beliefs that the samples read.
        averages: Whether the samples at a step are the amounts of the last 1, 2, … steps, each over the number of these
            steps and a constant.
    """

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
    reads: tuple[str, ...] = ()
    averages: bool = False

    @classmethod
    def of(cls, program: Program, name: str, **more: Any) -> Self:
        """Return the bound whose samples a function of the program returns.

        `more` sets further attributes of the class.
        """

        def samples(x: FlowView, t: int) -> Iterable[Sample]:
            return (Sample(*sample) for sample in program.at(x, t).samples(name))

        reads = tuple(sorted(program.reads(name) & program.beliefs.keys() - {name}))
        return cls(name, program.beliefs[name], samples=samples, program=program, reads=reads, **more)

    #: `IS` is the relation between the quantity and the bound, in words: at least, or at most. `SHARES` are the initial
    #: values that tests try, as multiples of the true value on the link.
    IS: ClassVar[str]
    SHARES: ClassVar[tuple[Fraction | int, ...]]

    #: A function that rounds a value to an integer, in the direction that keeps the bound true.
    whole: ClassVar[Any]

    #: Three functions. The first returns the condition that a bound is the extreme (largest or smallest) of its
    #: samples. The second returns the extreme of numbers. The third compares a tighter bound with a looser one.
    _extreme: ClassVar[Any]
    _pick: ClassVar[Any]
    _tighter: ClassVar[str]

    @staticmethod
    def _within(sample: Sample, bound: Number) -> Truth:
        """Return the condition that the sample does not move the bound."""
        raise NotImplementedError

    def legend(self, value: str = "") -> str:
        """Return the label of the bound in drawings, such as "at least $C_L$"."""
        more = f", {self.says}" if self.says else ""
        return f"{self.IS} ${self.symbol or self.name}${value}{more}"

    def initial(self, x: NetworkView) -> Laws:
        """Yield the laws that define the bound's value at t = 0."""
        yield f"{self.name}_starts", 0, self.start(x, 0)
        if x.bounds is not Bounds.DEPLOYED:
            yield f"{self.name}_holds_at_first", 0, self.holds(x, x.beliefs[self.name][0])

    def moving(self, x: NetworkView) -> Laws:
        """Yield the laws that define the bound at each step by its previous value and the samples."""
        bound = x.before_timeout[self.name]
        for t in range(1, x.horizon):
            samples = [(sample.when, sample.value) for sample in self.samples(x, t)]
            yield f"{self.name}_moves", t, self._extreme(bound[t], (True, bound[t - 1]), *samples)

    def frozen(self, x: NetworkView) -> Laws:
        """Yield the laws of the frozen encoding: no sample moves the bound."""
        bound = x.beliefs[self.name][0]
        for t in range(1, x.horizon):
            for sample in self.samples(x, t):
                yield f"{self.name}_stays", t, implies(sample.when, self._within(sample, bound))

    def stays_for_ever(self, x: NetworkView, period: int) -> Truth:
        """Return the condition that no sample moves the bound in an execution that repeats its steps for ever.

        The trace has the short samples. A longer sample has the amount and the time of any number of periods more, so
        their quotient alone must not move the bound either.
        """
        samples = {sample.over: sample for sample in self.samples(x, x.horizon - 1)} if self.averages else {}
        pairs = [(each, samples[over - period]) for over, each in samples.items() if over - period in samples]
        growths = [Sample(longer.amount - shorter.amount, period, longer.when) for longer, shorter in pairs]
        bound = x.beliefs[self.name][0]
        return every([implies(growth.when, self._within(growth, bound)) for growth in growths])

    def consequences(self, x: NetworkView) -> Laws:
        """Yield consequences of the moving encoding. Each consequence reads few steps.

        The bound moves in one direction, each sample is within the bound, and a bound that cannot turn false is true.
        """
        bound = x.before_timeout[self.name]
        stays_true = not any(self.turns_false(flow, x.buffer) for flow in x.flows)
        for t in range(1, x.horizon):
            yield f"{self.name}_moves_one_way", t, self._within(Sample(bound[t - 1]), bound[t])
            for sample in self.samples(x, t):
                yield f"{self.name}_is_moved", t, implies(sample.when, self._within(sample, bound[t]))
            if stays_true:
                yield f"{self.name}_holds", t, self.holds(x, bound[t])

    def follow(self, x: NetworkView) -> tuple[Number, ...]:
        """Return the bound at each step of an observed execution, in the belief's unit.

        The initial value is a true value.
        """
        column = [self.true_start(x)]
        for t in range(1, x.horizon):
            column.append(self._pick([column[-1], *self._observed_values(x, t)]))
        return tuple(column)

    def moved(self, x: FlowView, t: int) -> Any:
        """Return the bound at t ≥ 1 of an observed execution, computed from its value one step before."""
        return self._pick([x.beliefs[self.name][t - 1], *self._observed_values(x, t)])

    def _observed_values(self, x: FlowView, t: int) -> list[Number]:
        return [sample.value for sample in self.samples(x, t) if sample.when is True]

    def tightens(self, x: FlowView) -> Compared:
        """Return the Compared which states that the bound is tighter at the end than at the start."""
        bound = x.beliefs[self.name]
        return Compared(self.name, bound[x.horizon - 1], self._tighter, bound[0], str(self.unit), since=0)

    def tighter(self, x: FlowView) -> Truth:
        return self.tightens(x).condition

    def false_sample(self, x: NetworkView) -> Truth:
        """Return the condition that some sample contradicts the path.

        In this case, a true bound turns false by the end.
        """
        return some(
            [
                every(sample.when, no(self.holds(x, sample.value)))
                for t in range(1, x.horizon)
                for sample in self.samples(x, t)
            ]
        )


class RunningMax(RunningBound):
    """A lower bound, whose value is the largest sample so far."""

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
    """An upper bound, whose value is the smallest sample so far."""

    IS = "at most"
    SHARES = (1, 2, 4)

    whole = staticmethod(ceil)
    _extreme = staticmethod(is_min)
    _pick = staticmethod(min)

    @staticmethod
    def _within(sample: Sample, bound: Number) -> Truth:
        return sample.amount >= bound * sample.over

    _tighter = "<"


#: The type of a belief that a model declares.
Belief = StateBelief | RunningBound


def is_bound(belief: object) -> TypeGuard[RunningBound]:
    return isinstance(belief, RunningBound)
