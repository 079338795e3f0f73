"""The views of an execution that laws, beliefs, properties and controllers may read.

An execution may consist of a solver's unknowns, of a trace's numbers, or of a running sender's observations. Time is in
steps of R_m and bytes are in C·R_m, so that C = 1. A running sender does not know C, so there bytes are plain bytes. A
column has a value for each t = 0 … horizon-1: a term (`ccmatic.logic.Linear`) of unknowns, or a Fraction.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol, runtime_checkable

from ccmatic.contracts.buffer import Buffer
from ccmatic.contracts.column import Kept
from ccmatic.contracts.steps import Delay, Laws, Number
from ccmatic.logic import Truth


class Bounds(Enum):
    """The knowledge about the beliefs in the window of a question."""

    MOVE = "true at first, and moved by what is seen"
    STAY = "true at first, and moved by nothing that is seen: frozen"
    HOLD = "moved by what is seen, and true all the while"
    DEPLOYED = "of a controller as deployed: may be false at first, and time out at the end"


@runtime_checkable
class FlowView(Protocol):
    """One flow: its sender's actions, their outcome, and the sender's beliefs.

    Attributes:
        horizon: The number of steps.
        D: The jitter, in steps.
        alpha: MSS, in bytes.
        numeric: True if all values are numbers, None if some are, False if none are.
        A: Cumulative bytes sent.
        S: Cumulative bytes served.
        L: Cumulative bytes lost.
        Ld: Cumulative bytes lost whose loss the sender has detected.
        r: The sending rate over (t-1, t].
        Q: The delay of the last byte served by t beyond R_m, in whole steps; None if the model does not measure it.
        F: The same for the first byte served.
        limited: Whether the sender was application-limited at some time in (t-1, t]: it sent less than its rate. A
            window sender may have caught up by t. At the first step, True means that it may have been.
        timely: The part of Ld that shows a buffer which is full throughout a step.
        excess: The part of Ld that shows by how much the arrivals of a step exceeded the space.
        beliefs: Columns by name, each in its unit.
        before_timeout: The same before the timeout at the end of a window of a deployed controller.
        state: The controller's state, columns by name; a condition is 1 where it holds, else 0.
        kept: The declarations of the state.
        R: R_m, in steps.
        number: The number of the flow in its network, from 1.
        cwnd: For a window sender, the largest number of bytes that it may have in flight.
        unlimited: A rate so large that it limits nothing.
        period: The period in steps of an execution that repeats for ever; otherwise None.
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
    kept: Sequence[Kept]
    R: int
    number: int
    cwnd: Sequence[Number]
    unlimited: Number
    period: int | None

    @property
    def network(self) -> "NetworkView | None": ...

    def sent(self, t: int) -> Number:
        """Return the bytes sent in (t-1, t]."""
        ...

    def admitted(self, t: int) -> Number:
        """Return the bytes sent by t and not lost: A - L."""
        ...

    def inflight(self, t: int) -> Number:
        """Return the bytes in flight beyond propagation: A - L - S."""
        ...


class Sender(Protocol):
    """The decision maker of a flow: a controller, or any other source of laws about sending.

    Attributes:
        name: The name for reports and traces.
        source: The text for reports and traces; None if it is no controller.
        parameters: The beliefs that it reads.
    """

    name: str
    source: str | None
    parameters: Sequence[str]

    def laws(self, view: FlowView) -> Laws:
        """Return the laws (law name, t, formula) of a flow's rates and state."""
        ...


@runtime_checkable
class NetworkView(FlowView, Protocol):
    """A network with all its flows.

    Bytes are sums over all flows. Attributes that only a flow has, such as a rate, are those of the first flow, and are
    meant for networks with a single flow.

    Attributes:
        flows: A view of each flow.
        C: The link rate.
        buffer: The query's statement about the buffer.
        beta: The buffer's size in bytes; None if it is infinite.
        K: Cumulative tokens, the bytes that the bottleneck admitted; S if the model has no tokens.
        own: The model's own columns by name; each is also `x.NAME`.
        constants: Numbers that the model leaves open, by name.
        bounds: The knowledge about the beliefs.
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
        """Return the bytes waiting at the bottleneck: A - L - K."""
        ...

    def columns(self) -> Mapping[str, Sequence[Number]]:
        """Return every column of a trace except the delays, by name."""
        ...
