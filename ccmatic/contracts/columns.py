"""The columns of an execution: how a model declares them, and their values at each step."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, SupportsIndex, TypeVar, overload

from ccmatic.base import BYTES, RATE, TIME, InputError, Unit
from ccmatic.logic import Linear, Truth, boolean, every, no

#: Two types: an entry of a column; and laws about columns, each (law name, t, formula).
Number = Linear | Fraction
Laws = Iterable[tuple[str, int, Truth]]

T = TypeVar("T")


class Steps(list[T]):
    """The values at each t.

    Steps rejects negative indices: x.S[t - 1] at t = 0 raises InputError, whereas a list would return the last step.
    """

    @overload
    def __getitem__(self, t: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, t: slice) -> list[T]: ...

    def __getitem__(self, t: Any) -> Any:
        if isinstance(t, int) and not 0 <= t < len(self):
            raise InputError(
                f"step {t} is not in the trace; expected one from 0 to x.horizon - 1, which is {len(self) - 1}"
            )
        return super().__getitem__(t)


class _Unknowns(Sequence[Truth]):
    """The truth values of an unknown delay at one step.

    A truth value is created when it is first read. The number of all truth values grows with the square of the horizon,
    and a time limit can end an encoding before it has created them.
    """

    def __init__(self, name: str, longest: int) -> None:
        self._name, self._late = name, list[Truth | None]([None]) * longest

    def __len__(self) -> int:
        return len(self._late)

    def __getitem__(self, index: Any) -> Any:
        index = range(len(self._late))[index]
        if self._late[index] is None:
            self._late[index] = boolean(f"{self._name}_{index + 1}")
        return self._late[index]


class Delay:
    """The delay in whole steps of a byte served by t, for each t. The delays have an order encoding.

    For each t, there is a truth value for each statement "the delay is at least k steps", k = 1 … longest.
    """

    def __init__(self, late: Iterable[Sequence[Truth]], longest: int) -> None:
        self.longest = longest
        self._late, self._column = Steps(late), list[Fraction | int]()

    @staticmethod
    def unknown(name: str, horizon: int, longest: int) -> "Delay":
        """Return a delay of unknowns at each of `horizon` steps."""
        return Delay((_Unknowns(f"{name}_{t}", longest) for t in range(horizon)), longest)

    @staticmethod
    def measured(column: Iterable[Fraction | int], longest: int) -> "Delay":
        """Return the delays in a column of a trace. The column may be incomplete; `append` extends the delays."""
        delay = Delay([], longest)
        for steps in column:
            delay.append(steps)
        return delay

    def append(self, steps: Fraction | int) -> None:
        self._late.append([steps >= k for k in range(1, self.longest + 1)])
        self._column.append(steps)

    def steps(self, t: int) -> Fraction | int:
        """Return the delay measured at t, which may exceed `longest`. Unknown delays have no such value."""
        return self._column[t]

    @property
    def most_measured(self) -> int:
        """The longest measured delay, but at most `longest`; 0 for unknowns."""
        return min(self.longest, int(max(self._column, default=0)))

    def at_least(self, t: int, k: int) -> Truth:
        """Return the condition that the delay at t is at least k steps. A k above `longest` counts as `longest`."""
        return True if k <= 0 else self._late[t][min(k, self.longest) - 1]

    def exactly(self, t: int, k: int) -> Truth:
        """Return the condition that the delay at t is in [k, k+1) steps; k = longest includes all longer delays."""
        if k == self.longest:
            return self.at_least(t, k)
        return every(self.at_least(t, k), no(self.at_least(t, k + 1)))

    def last(self, steps: int) -> "Delay":
        """Return the delays of the last `steps` steps only."""
        return Delay(self._late[-steps:], self.longest)

    def then(self, other: "Delay") -> "Delay":
        """Return the delays of these steps, followed by the remaining steps of another Delay."""
        return Delay([*self._late, *other._late[len(self._late) :]], self.longest)

    def pairs(self, column: Sequence[Fraction | int]) -> Iterator[tuple[Truth, bool]]:
        """Yield pairs: a truth value of the order encoding, and its value according to the delays in `column`."""
        for t, row in enumerate(self._late):
            for k, late in enumerate(row, 1):
                yield late, column[t] >= k

    def delays(self, value: Callable[[Truth], bool]) -> tuple[Fraction, ...]:
        """Return the delays as exact numbers. `value` evaluates each truth value of the order encoding."""
        return tuple(Fraction(sum(value(late) for late in row)) for row in self._late)


@dataclass(frozen=True)
class Column:
    """A quantity with a number at each step, which laws and properties read as `x.NAME[t]`.

    Attributes:
        name: The name of the column.
        unit: The unit of the numbers, one of those in `ccmatic.base`.
        says: A short description for the legends of drawings.
        with_service: Whether the column counts bytes from the same origin as S (the bytes served), like A and K. The
            next window then subtracts the bytes served before the window. Other columns, such as L, pass to the next
            window unchanged.
        level: Whether the column is an amount at an instant, such as the tokens in a bucket, instead of a count. In an
            execution that repeats, such an amount has the same value one period later.
    """

    name: str
    unit: Unit
    says: str
    with_service: bool = False
    level: bool = False


@dataclass(frozen=True)
class Observation:
    """An observation of a window sender.

    Attributes:
        name: The name of the observation.
        unit: The unit of the observation, one of those in `ccmatic.base`.
        says: A short description for the legends of drawings.
        read: `read(flow, t)` returns a term or a condition, or None if the sender has not made the observation by step
            t.
        constant: Whether the observation is the same at each step and known from the start.
        few: Whether the observation has few possible values, so that a term may be multiplied by it. `read` then
            returns (condition, number) pairs, and at most one of the conditions holds.
        dated: Whether the observation reveals where the trace begins, so that it differs between windows of one
            execution.
        beyond: For executions that repeat: `beyond(flow, t)` is the condition that the observation exceeds `longest`.
        longest: The largest number that `read` distinguishes from larger ones.
        unbounded: `unbounded(flow)` is a number that also stands for every larger number; None if there is no such
            number.
        first: For observations of bytes that may be older than the trace: `first(flow)` is the count of older bytes.
        concerns: `concerns(flow, t, first)` is the condition that the observation at t may be of the first bytes, of
            which there are `first`. `read` of a dated condition is this condition, with `first(flow)`.
    """

    name: str
    unit: Unit | str
    says: str
    read: Callable[..., Any]
    constant: bool = False
    few: bool = False
    dated: bool = False
    beyond: Callable[..., Truth] | None = None
    longest: int | None = None
    unbounded: Callable[..., int | None] = lambda flow: None
    first: Callable[..., Any] | None = None
    concerns: Callable[..., Any] | None = None

    source: ClassVar[None] = None


@dataclass(frozen=True)
class SenderBelief:
    """A belief of a window sender about its path, which the sender computes from its observations.

    A controller with state reads the belief by its name, and gets the value at the current step.

    Attributes:
        name: The name of the belief.
        unit: The unit of the belief.
        says: A short description.
        source: The belief's program in the language of controllers with state: declarations of state, if any, and an
            `update` that sets the belief. A controller may not assign to any other name in this program.
        holds: `holds(flow, t, value)` is the condition that a value of the belief is true of the path of a `FlowView`.
            If `holds` is given, the initial value is true. Otherwise the initial value only satisfies its declaration.
        upper: Whether the belief is an upper bound. A deployed sender then begins with the largest value, and rounds
            up.
    """

    name: str
    unit: Unit
    says: str
    source: str
    holds: Callable[[Any, int, Any], Truth] | None = None
    upper: bool = False


class StateVariable(Protocol):
    """A variable of a controller's state. The execution has a separate column for each variable.

    A variable that is true or false has the unit CONDITION. `flow` is the number of the variable's flow, from 1, or
    None if every flow has such a variable.
    """

    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> Unit | str: ...

    @property
    def flow(self) -> int | None: ...

    def first(self, view: Any, t: int) -> Truth: ...


@dataclass(frozen=True)
class MeasuredDelay:
    """A measured delay: the time beyond R_m, in whole steps, that a byte spent in the network.

    The byte is the last or the first byte served by t. Laws read this delay as `x.NAME`, a `contracts.Delay`. All
    models share the laws of measured delays.
    """

    name: str
    says: str
    unit: Unit = TIME


#: The columns that every execution has.
SHARED = (
    Column("A", BYTES, "bytes sent", with_service=True),
    Column("S", BYTES, "bytes served", with_service=True),
    Column("L", BYTES, "bytes lost"),
    Column("Ld", BYTES, "bytes lost, as far as the sender knows"),
    Column("r", RATE, "sending rate"),
)

#: The column of a window sender whose application may pause. With several flows, the column's name ends in the flow's
#: number.
IDLE = Column("idle", TIME, "time in the step in which the application had nothing to send")

#: The columns that a model may declare in addition to its own. In a model without TOKENS, the tokens K equal the bytes
#: served S.
TOKENS = Column("K", BYTES, "tokens admitted", with_service=True)
LAST = MeasuredDelay("Q", "delay of the last byte served")
FIRST = MeasuredDelay("F", "delay of the first byte served")
OFFERED = (TOKENS, LAST, FIRST)

#: The suffix, in traces and in certified formulas, of the column with a belief's values before its timeout.
BEFORE_TIMEOUT = "_untimed"
