"""Columns: the quantities of an execution at each step. Each column is declared once, and models may add columns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from ccmatic.base import BYTES, RATE, TIME, Unit
from ccmatic.logic import Truth


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
