"""What laws, beliefs, properties and controllers may read of an execution, whatever it is made of: the unknowns of a
solver, the numbers of a trace, or what a sender sees as it runs.

Time is in steps of R_m and bytes are in C·R_m, so that C = 1, except in what a sender sees, who knows no C: its bytes
are bytes. A column has a value for each t = 0 … horizon-1: a term (`ccmatic.logic.Linear`) of unknowns, or a Fraction.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol, runtime_checkable

from ccmatic.contracts.buffer import Buffer
from ccmatic.contracts.column import Kept
from ccmatic.contracts.steps import Delay, Laws, Number
from ccmatic.logic import Truth


class Bounds(Enum):
    """What is known of the beliefs in a window that is asked about."""

    MOVE = "true at first, and moved by what is seen"
    STAY = "true at first, and moved by nothing that is seen: frozen"
    HOLD = "moved by what is seen, and true all the while"
    DEPLOYED = "of a controller as deployed: may be false at first, and time out at the end"


@runtime_checkable
class FlowView(Protocol):
    """One flow: what its sender did, what came of it, and what the sender believes.

    horizon: how many steps. D: the jitter, in steps. alpha: MSS, in bytes. numeric: all
    are numbers, none unknown; None: some are.

    A, S, L, Ld: cumulative bytes sent, served, lost, and lost as far as the sender knows. r: the sending rate over
    (t-1, t]. Q, F: whole steps that the last and the first byte served by t had been in the network beyond R_m; None
    where the model does not measure it. limited: whether in (t-1, t] the sender was application-limited: it sent less
    than its rate, at any time. timely: of Ld, what tells of a buffer that is full throughout a step. excess: of Ld,
    what tells by how much more came in a step than fits.

    beliefs: columns by name, each in its unit. before_timeout: the same before the timeout, which is at the end
    of a window of a deployed controller. state: what the controller keeps from step to step, columns by name;
    a condition is 1 where it holds, else 0. kept: the same, as declared.

    R: R_m, in steps. number: of the flow among the network's, from 1. cwnd: of a sender that sends by one, the most
    bytes that it may have in flight. unlimited: a rate that is so large that it limits nothing. network: that carries
    it, for what is observed of all flows.

    period: the execution repeats itself every so many steps, for ever; None where nothing says so.
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
        """Bytes sent in (t-1, t]."""
        ...

    def admitted(self, t: int) -> Number:
        """Bytes sent by t and not lost, A - L."""
        ...

    def inflight(self, t: int) -> Number:
        """Bytes in the network beyond propagation, A - L - S."""
        ...


class Sender(Protocol):
    """What decides for a flow: a controller, or another that says by laws what may be sent.

    name, source: for reports and traces; source is None where it is no controller's. parameters: the beliefs that it
    reads."""

    name: str
    source: str | None
    parameters: Sequence[str]

    def laws(self, view: FlowView) -> Laws:
        """(law name, t, formula), as a model's: what is true of the rates, and of the state, of a flow."""
        ...


@runtime_checkable
class NetworkView(FlowView, Protocol):
    """A network and all that it carries; what is said of a flow is here said of all of them together: of bytes, their
    sums. What only a flow has, such as a rate, is here that of the first, and meant where there is no other.

    flows: a view of each. C: the link rate. buffer: what the query says of it; beta: its size in bytes, or None if it
    is infinite. K: cumulative tokens: bytes that the bottleneck let through; S where the model has no tokens.
    own: the columns that the model declares of its own, by name; each also as `x.NAME`. constants: numbers that it
    leaves open, by name. bounds: what is known of the beliefs.
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
        """Bytes that wait at the bottleneck, A - L - K."""
        ...

    def columns(self) -> Mapping[str, Sequence[Number]]:
        """Each column of a trace but the delays, by name."""
        ...
