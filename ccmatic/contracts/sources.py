"""Sources of the columns of an execution: unknowns, the numbers of a trace, or the previous window.

All sources have the same methods. `column` has one value per step. `first` is the first value of a column whose other
values follow from it. `delay` is a measured delay (Q or F), with `longest` as in a Delay. In a column of `state`, a
condition is 1 where it holds, else 0. A `constant` is a number that the model leaves open. `limited` states for each
step whether the sender was application-limited. `beliefs` has the columns of those beliefs that the source contains,
and `before_timeout` the last value of a belief before it timed out. `zero` is the number 0, and the other attributes
are as in an Execution.
"""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Protocol, TypeAlias

from ccmatic.base import CONDITION, Unit
from ccmatic.contracts.columns import BEFORE_TIMEOUT, Column, Delay, Number
from ccmatic.contracts.model import Model
from ccmatic.contracts.query import Buffer
from ccmatic.contracts.views import Bounds, Execution
from ccmatic.logic import Truth, boolean, choice, linear, real, unit


class TraceData(Protocol):
    """The data that `Numbers` reads, such as a `ccmatic.networks.traces.Trace`."""

    @property
    def horizon(self) -> int: ...

    @property
    def constants(self) -> Mapping[str, Fraction]:
        """The values of C, R_m, D and MSS, and of beta for a finite buffer, by name."""

    @property
    def columns(self) -> Mapping[str, Sequence[Fraction]]: ...


class Unknowns:
    """Unknowns, each named after its column and step, with a prefix. A frozen bound has a single unknown."""

    C, zero = linear(1), linear(0)
    numeric: bool | None = False

    def __init__(self, horizon: int, buffer: Buffer, bounds: Bounds, pauses: bool = False, prefix: str = "") -> None:
        self._horizon, self._bounds, self._pauses, self._prefix = horizon, bounds, pauses, prefix
        self.alpha, self.beta = real("alpha"), buffer.term()

    def column(self, name: str) -> Sequence[Number]:
        return [real(f"{self._prefix}{name}_{t}") for t in range(self._horizon)]

    def first(self, name: str) -> Number:
        return real(f"{self._prefix}{name}_0")

    def delay(self, name: str, longest: int) -> Delay:
        return Delay.unknown(f"{self._prefix}{name}", self._horizon, longest)

    def state(self, name: str, unit: Unit | str) -> Sequence[Number]:
        if unit != CONDITION:
            return self.column(name)
        return [linear(choice(boolean(f"{self._prefix}{name}_{t}"), 1, 0)) for t in range(self._horizon)]

    def constant(self, name: str) -> Number:
        return real(name)

    def limited(self) -> Sequence[Truth]:
        return [boolean(f"limited_{t}") if self._pauses else False for t in range(self._horizon)]

    def beliefs(self, model: Model) -> Mapping[str, Sequence[Number]]:
        stay = {bound.name for bound in model.bounds() if self._bounds is Bounds.STAY}
        names = [belief.name for belief in model.beliefs]
        return {name: [real(name)] * self._horizon if name in stay else self.column(name) for name in names}

    def before_timeout(self, name: str) -> Number:
        return real(f"{self._prefix}{name}{BEFORE_TIMEOUT}")


class StepsByName(Unknowns):
    """Unknowns at steps with names. Two executions with a step of the same name have the same unknowns at this step."""

    def __init__(self, names: Sequence[str], buffer: Buffer) -> None:
        super().__init__(len(names), buffer, Bounds.MOVE)
        self._names = names

    def column(self, name: str) -> Sequence[Number]:
        return [real(f"{name}@{step}") for step in self._names]

    def first(self, name: str) -> Number:
        return self.column(name)[0]

    def state(self, name: str, unit: Unit | str) -> Sequence[Number]:
        return self.column(name)

    def constant(self, name: str) -> Number:
        return real(f"{name}@{self._names[0]}")  # numbers that a model leaves open depend on a window's first step


class Numbers:
    """The numbers of a trace."""

    C, zero, numeric = Fraction(1), Fraction(0), True

    def __init__(self, trace: TraceData, buffer: Buffer, reads: Collection[str]) -> None:
        self._trace, self._reads = trace, reads
        self.alpha = Fraction(trace.constants["MSS"])
        self.beta = Fraction(trace.constants["beta"]) if buffer.finite else None

    def column(self, name: str) -> Sequence[Number]:
        return [Fraction(value) for value in self._trace.columns[name]]

    def first(self, name: str) -> Number:
        return Fraction(self._trace.columns[name][0])

    def delay(self, name: str, longest: int) -> Delay:
        return Delay.measured(self._trace.columns[name], longest)

    def state(self, name: str, unit: Unit | str) -> Sequence[Number]:
        return self.column(name)

    def constant(self, name: str) -> Number:
        return Fraction(self._trace.constants[name])

    def limited(self) -> Sequence[Truth]:
        return [False] * self._trace.horizon

    def beliefs(self, model: Model) -> Mapping[str, Sequence[Number]]:
        return {belief.name: self.column(belief.name) for belief in model.beliefs if belief.name in self._reads}

    def before_timeout(self, name: str) -> Number:
        return self.column(f"{name}{BEFORE_TIMEOUT}")[-1]


class ObservedTrace(Unknowns):
    """The observations of a trace's sender after the first `horizon` steps. All other values are unknowns.

    The size of the sender's unit of bytes is also unknown: byte counts are multiples of `ccmatic.logic.unit`, which is
    in C·R_m.
    """

    numeric = None

    def __init__(self, model: Model, trace: TraceData, buffer: Buffer, horizon: int) -> None:
        super().__init__(horizon, buffer, Bounds.MOVE)
        self._trace, self._sees_late = trace, not model.sees_losses_at_once
        self.alpha = unit() * trace.constants["MSS"]

    def column(self, name: str) -> Sequence[Number]:
        if name == "L" and self._sees_late:
            return [*self._observed_column("Ld")[1:], real(f"L_{self._horizon - 1}")]
        return self._observed_column(name) if name in ("A", "S", "L", "r") else super().column(name)

    def _observed_column(self, name: str) -> list[Number]:
        return [unit() * Fraction(value) for value in self._trace.columns[name][: self._horizon]]

    def first(self, name: str) -> Number:
        return self._observed_column(name)[0]

    def delay(self, name: str, longest: int) -> Delay:
        measured = self._trace.columns[name][: self._horizon]
        # The sender may also know a delay that is longer than the observed window.
        return Delay.measured(measured, max(longest, int(max(measured))))

    def beliefs(self, model: Model) -> Mapping[str, Sequence[Number]]:
        return {}


class LastSteps:
    """The last steps of an execution, without beliefs.

    Bytes are counted from the bytes served S at the first of these steps. Window senders keep the original counts,
    because the state of a sender may be a position in these counts.
    """

    def __init__(self, model: Model, x: Execution, steps: int) -> None:
        self.C, self.zero, self.numeric, self.alpha, self.beta = x.C, x.C * 0, x.numeric, x.alpha, x.beta
        self._model, self._x, self._declared = model, x, model.declared()
        self._begin, self._steps = x.horizon - steps, range(x.horizon - steps, x.horizon)

    def column(self, name: str) -> Sequence[Number]:
        return [self._counted(name, t) for t in self._steps]

    def state(self, name: str, unit: Unit | str) -> Sequence[Number]:
        return self.column(name)

    def constant(self, name: str) -> Number:
        return self._model.constants_from(self._x, self._begin)[name]

    def first(self, name: str) -> Number:
        return self._counted(name, self._begin)

    def _counted(self, name: str, t: int) -> Number:
        value: Number = self._x.columns()[name][t]
        if self._model.windows:
            return value
        if name == "S" and t == self._begin:
            return self.zero
        column = self._declared[name]
        return value - self._x.S[self._begin] if isinstance(column, Column) and column.with_service else value

    def delay(self, name: str, longest: int) -> Delay:
        measured: Delay = getattr(self._x, name)
        return measured.last(len(self._steps))

    def limited(self) -> Sequence[Truth]:
        return [self._x.limited[t] for t in self._steps]

    def beliefs(self, model: Model) -> Mapping[str, Sequence[Number]]:
        return {}

    def before_timeout(self, name: str) -> Number:
        return self._x.before_timeout[name][self._x.horizon - 1]


class NextWindow:
    """The last steps of an execution, followed by unknowns with another prefix."""

    def __init__(self, model: Model, x: Execution, steps: int) -> None:
        self._x, self._end, self._common = x, LastSteps(model, x, steps), steps
        self._after = Unknowns(x.horizon, x.buffer, x.bounds, prefix="next_")
        self.C, self.zero, self.numeric = self._after.C, self._after.zero, self._after.numeric
        self.alpha, self.beta = x.alpha, x.beta

    def column(self, name: str) -> Sequence[Number]:
        return [*self._end.column(name), *self._after.column(name)[self._common :]]

    def state(self, name: str, unit: Unit | str) -> Sequence[Number]:
        return [*self._end.state(name, unit), *self._after.state(name, unit)[self._common :]]

    def constant(self, name: str) -> Number:
        return self._end.constant(name)

    def first(self, name: str) -> Number:
        return self._end.first(name)

    def delay(self, name: str, longest: int) -> Delay:
        return self._end.delay(name, longest).then(self._after.delay(name, longest))

    def limited(self) -> Sequence[Truth]:
        return self._after.limited()

    def beliefs(self, model: Model) -> Mapping[str, Sequence[Number]]:
        end = self._x.horizon - 1
        columns = {belief.name: self._after.column(belief.name) for belief in model.beliefs}
        return columns | {b.name: [self._x.beliefs[b.name][end], *columns[b.name][1:]] for b in model.carried_over()}

    def before_timeout(self, name: str) -> Number:
        return self._after.before_timeout(name)


Source: TypeAlias = Unknowns | Numbers | LastSteps | NextWindow
