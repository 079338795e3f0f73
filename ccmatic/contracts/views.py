"""The views of an execution that laws, beliefs, properties and controllers may read.

The values of an execution are a solver's unknowns, the numbers of a trace, or the observations of a running sender.
Time is in steps of R_m, and bytes are in C·R_m, so that C = 1. A running sender does not know C, so its byte counts are
plain bytes. A column has a value for each t = 0 … horizon-1: a term (`ccmatic.logic.Linear`) of unknowns, or a
Fraction.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol, runtime_checkable

from ccmatic.contracts.columns import Delay, Laws, Number, StateVariable
from ccmatic.contracts.query import Buffer
from ccmatic.logic import Truth


class Bounds(Enum):
    """The assumption of a query about the running bounds in its window."""

    MOVE = "true at first, and moved by what is seen"
    STAY = "true at first, and moved by nothing that is seen: frozen"
    HOLD = "moved by what is seen, and true all the while"
    DEPLOYED = "of a controller as deployed: may be false at first, and time out at the end"


@runtime_checkable
class FlowView(Protocol):
    """A view of one flow: the actions of its sender, the outcome of these actions, and the sender's beliefs.

    Attributes:
        horizon: The number of steps.
        D: The jitter, in steps.
        alpha: MSS, in bytes.
        numeric: True if all values are numbers, None if some are, False if none are.
        A: Cumulative bytes sent.
        S: Cumulative bytes served.
        L: Cumulative bytes lost.
        Ld: Cumulative bytes whose loss the sender has detected.
        r: The sending rate in (t-1, t].
        Q: The delay beyond R_m of the last byte served by t, in whole steps; None if the model does not measure this
            delay.
        F: The delay beyond R_m of the first byte served, in whole steps; None if the model does not measure this delay.
        limited: Whether the sender was application-limited at some time in (t-1, t], so that it sent less than its
            rate. A window sender may have caught up by t. At the first step, True means that the sender may have been
            limited.
        timely: The part of Ld that reveals a full buffer: the buffer is full throughout a step.
        excess: The part of Ld that reveals an excess: the bytes by which the arrivals of a step exceeded the free
            space.
        beliefs: The columns of the beliefs by name, each in its unit.
        before_timeout: The values of beliefs before the timeout at the end of a window of a deployed controller, by
            name.
        state: The columns of the controller's state by name. A condition is 1 where it holds, else 0.
        kept: The declarations of the controller's state.
        R: R_m, in steps.
        number: The number of the flow in its network, from 1.
        cwnd: The largest number of bytes that a window sender may have in flight.
        unlimited: A rate so large that it never limits the sender.
        period: The period, in steps, of an execution that repeats for ever; None for any other execution.
        history: The number of steps before the start. Up to the start, a window sender sends anything, and its state is
            any declared state. Conditions on executions count steps from the start on.
    """

    horizon: int
    D: int
    alpha: Number
    numeric: bool | None
    A: Sequence[Number]
    S: Sequence[Number]
    L: Sequence[Number]
    Ld: Sequence[Number]
    r: Sequence[Number]
    Q: Delay | None
    F: Delay | None
    limited: Sequence[Truth]
    timely: Sequence[Number]
    excess: Sequence[Number]
    beliefs: Mapping[str, Sequence[Number]]
    before_timeout: Mapping[str, Sequence[Number]]
    state: Mapping[str, Sequence[Number]]
    kept: Sequence[StateVariable]
    R: int
    number: int
    cwnd: Sequence[Number]
    unlimited: Number
    period: int | None
    history: int

    @property
    def network(self) -> "NetworkView | None": ...

    def sent(self, t: int) -> Number:
        """Return the bytes sent in (t-1, t]."""

    def admitted(self, t: int) -> Number:
        """Return the bytes that were sent by t and are not lost: A - L."""

    def inflight(self, t: int) -> Number:
        """Return the bytes in flight that do not propagate: A - L - S (sent, minus lost, minus served)."""


class Sender(Protocol):
    """The part of a flow that decides when to send: a controller, or any other source of laws about sending.

    Attributes:
        name: The name of the sender in reports and traces.
        source: The text of the controller in reports and traces; None if the sender is no controller.
        parameters: The beliefs that the sender reads.
    """

    name: str
    source: str | None
    parameters: Sequence[str]

    def laws(self, view: FlowView) -> Laws:
        """Return the laws, each (law name, t, formula), of the rates and the state of a flow."""


@runtime_checkable
class NetworkView(FlowView, Protocol):
    """A view of a network with all its flows.

    Byte counts are sums over all flows. Attributes that only a flow has, such as a rate, are those of the first flow.
    These attributes are meant for networks with a single flow.

    Attributes:
        flows: A view of each flow.
        C: The link rate.
        buffer: The buffer, as the query states it.
        beta: The buffer's size in bytes; None if it is infinite.
        K: Cumulative tokens: the bytes that the bottleneck admitted. K equals S if the model has no tokens.
        own: The columns that only this model has, by name. Each of them is also `x.NAME`.
        constants: The numbers that the model leaves open, by name.
        bounds: The assumption about the running bounds.
    """

    flows: Sequence[FlowView]
    C: Number
    buffer: Buffer
    beta: Number | None
    K: Sequence[Number]
    own: Mapping[str, Sequence[Number]]
    bounds: Bounds
    constants: Mapping[str, Number]

    def queue(self, t: int) -> Number:
        """Return the bytes that wait at the bottleneck: A - L - K (sent, minus lost, minus tokens)."""

    def columns(self) -> Mapping[str, Sequence[Number]]:
        """Return every column of a trace except the delays, by name."""
