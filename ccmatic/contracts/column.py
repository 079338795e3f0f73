"""Columns: the quantities of an execution at each step, declared once; a model adds columns of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from ccmatic.base import BYTES, RATE, TIME, Unit
from ccmatic.logic import Truth


@dataclass(frozen=True)
class Column:
    """A number at each step, which laws and properties read as `x.NAME[t]`.

    Attributes:
        name: The name of the column.
        unit: Its unit of measurement, one of `ccmatic.base`.
        says: A short description for legends.
        with_service: Whether it counts bytes from the same origin as S, like A and K. The next window then subtracts
            the bytes served before. Other columns, such as L, carry over unchanged.
        level: Whether it is an amount at an instant, such as the tokens in a bucket, rather than a count. In an
            execution that repeats, it has the same value one period later.
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
        unit: One of `ccmatic.base`.
        says: A short description for legends.
        read: `read(flow, t)` returns a term or a condition, or None at a step by which the sender has not observed it
            yet.
        constant: Whether it is the same at each step, and known from the start.
        few: Whether it has few possible values, so that terms may be multiplied by it. `read` then gives (condition,
            number) pairs, and at most one of the conditions holds.
        dated: Whether it reveals where the trace begins, so that it differs between windows of one execution.
        beyond: `beyond(flow, t)` says, in an execution that repeats, that the observation exceeds `longest`.
        longest: The largest number that `read` distinguishes from larger ones.
        unbounded: `unbounded(flow)` is a number that also stands for every larger one; None without such a number.
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

    source: ClassVar[None] = None


@dataclass(frozen=True)
class SenderBelief:
    """A belief of a window sender about its path, computed from its observations.

    Controllers with state read it by name, as of the current step.

    Attributes:
        name: The name of the belief.
        unit: Its unit.
        says: A short description.
        source: Its program in the language of controllers with state: declarations of state, if any, and an `update`
            that sets the belief. A controller may not assign the other names in this program.
        holds: `holds(flow, t, value)` says that a value is true of the path of a `FlowView`. The initial value is true
            in this sense; without `holds` it only satisfies its declaration.
        upper: Whether it is an upper bound. A real sender then begins with the largest value, and rounds up.
    """

    name: str
    unit: Unit
    says: str
    source: str
    holds: Callable[[Any, int, Any], Truth] | None = None
    upper: bool = False


class Kept(Protocol):
    """A piece of a controller's state, which is a column of its own.

    A condition has the unit CONDITION. `flow` is the number of its flow, from 1, or None for every flow.
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
    """The time that the last or the first byte served by t was in the network beyond R_m, in whole steps.

    Laws read it as `x.NAME`, a `contracts.Delay`. All models share its laws.
    """

    name: str
    says: str
    unit: Unit = TIME


#: The columns of every execution.
SHARED = (
    Column("A", BYTES, "bytes sent", with_service=True),
    Column("S", BYTES, "bytes served", with_service=True),
    Column("L", BYTES, "bytes lost"),
    Column("Ld", BYTES, "bytes lost, as far as the sender knows"),
    Column("r", RATE, "sending rate"),
)

#: The column of a window sender whose application may pause; with several flows its name ends in the flow's number.
IDLE = Column("idle", TIME, "time in the step in which the application had nothing to send")

#: The columns that a model may declare in addition to its own. Without TOKENS, K equals S.
TOKENS = Column("K", BYTES, "tokens admitted", with_service=True)
LAST = MeasuredDelay("Q", "delay of the last byte served")
FIRST = MeasuredDelay("F", "delay of the first byte served")
OFFERED = (TOKENS, LAST, FIRST)

#: The suffix of a belief's column before its timeout, in traces and in certified formulas.
BEFORE_TIMEOUT = "_untimed"
