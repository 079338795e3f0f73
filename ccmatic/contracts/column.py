"""Columns: what an execution has at each step, declared once; a model adds those of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from ccmatic.base import BYTES, RATE, TIME, Unit
from ccmatic.logic import Truth


@dataclass(frozen=True)
class Column:
    """A number at each step, which laws and properties read as `x.NAME[t]`.

    unit: its unit of measurement, one of `ccmatic.base`. says: what it is, in a few words, for legends.
    with_service: bytes counted from where S counts them, as A and K do: a next window begins with them less the bytes
    served before. Other columns go on as they are, as L does.
    """

    name: str
    unit: Unit
    says: str
    with_service: bool = False


@dataclass(frozen=True)
class Observation:
    """What a sender that sends by a window has seen by a step: `read(flow, t)`, a term or a condition; None at a step
    by which it has not seen it yet.

    unit: one of `ccmatic.base`. constant: it is the same at each step, and known from the first. few: it is one of few
    numbers, so that terms may be multiplied by it: `read` gives (condition, number) pairs, of which one holds or none.
    dated: it tells where the trace begins, so that of one execution's windows each has another.
    unbounded(flow): the number that stands for every larger one as well; None: there is none.
    beyond(flow, t): in an execution that repeats itself, this is larger than any number that `read` tells apart, which
    is `longest`.
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
    """What a sender by a window believes of its path, as it works that out of what it observes: controllers with state
    read it by its name, as of the step at hand.

    source: declarations of state, if any, and an `update` that sets the belief, in the language of controllers with
    state; nothing in it but that is called like the belief may be assigned by a controller. holds(flow, t, value): that
    a value is true of the path of a `FlowView`, as it is at first; without, it is as declared. upper: it is an upper
    bound, so that a sender that runs begins with the most, and rounds up."""

    name: str
    unit: Unit
    says: str
    source: str
    holds: Callable[[Any, int, Any], Truth] | None = None
    upper: bool = False


class Kept(Protocol):
    """What a controller remembers: a column of its own, whose unit is CONDITION if it is one. flow: of which flow, from
    1; None: of each. first(view, t): that at a step of a `FlowView` it is such as it may be at first."""

    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> Unit | str: ...

    @property
    def flow(self) -> int | None: ...

    def first(self, view: Any, t: int) -> Truth: ...


@dataclass(frozen=True)
class MeasuredDelay:
    """Whole steps that the last or the first byte served by t was in the network, beyond R_m: read as `x.NAME`, a
    `contracts.Delay`, whose laws all models share."""

    name: str
    says: str
    unit: Unit = TIME


#: What every execution has.
SHARED = (
    Column("A", BYTES, "bytes sent", with_service=True),
    Column("S", BYTES, "bytes served", with_service=True),
    Column("L", BYTES, "bytes lost"),
    Column("Ld", BYTES, "bytes lost, as far as the sender knows"),
    Column("r", RATE, "sending rate"),
)

#: What a model may declare besides columns of its own. K is S where it declares no tokens.
TOKENS = Column("K", BYTES, "tokens admitted", with_service=True)
LAST = MeasuredDelay("Q", "delay of the last byte served")
FIRST = MeasuredDelay("F", "delay of the first byte served")
OFFERED = (TOKENS, LAST, FIRST)

#: What the name of a belief's column as it was before the timeout ends in, in traces and in what certificates are of.
BEFORE_TIMEOUT = "_untimed"
