"""Executions in the form that laws, beliefs, properties and controllers read: a network and its flows, with columns.

The values of an execution are a solver's unknowns, the numbers of a trace, or the observations of a running sender.
Time is in steps of R_m, and bytes are in C·R_m, so that C = 1. A running sender does not know C, so its byte counts are
plain bytes. A column has a value for each t = 0 … horizon-1: a term (`ccmatic.logic.Linear`) of unknowns, or a
Fraction. No byte is served at t = 0 (docs/reference/encoding.md, notation).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

from ccmatic.contracts.columns import BEFORE_TIMEOUT, Delay, Number, StateVariable, Steps
from ccmatic.contracts.query import Buffer
from ccmatic.logic import Truth


class Bounds(Enum):
    """The assumption of a query about the running bounds in its window."""

    MOVE = "true at first, and moved by what is seen"
    STAY = "true at first, and moved by nothing that is seen: frozen"
    HOLD = "moved by what is seen, and true all the while"
    DEPLOYED = "of a controller as deployed: may be false at first, and time out at the end"


@dataclass(eq=False, kw_only=True)
class Flow:
    """One flow of an execution: the actions of its sender, the outcome of these actions, and the sender's beliefs.

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

    The default of a field means that the flow has no such column.
    """

    horizon: int
    D: int
    alpha: Any = None
    numeric: bool | None = False
    A: Sequence[Number]
    S: Sequence[Number]
    L: Sequence[Number]
    Ld: Sequence[Number]
    r: Sequence[Number] = ()
    Q: Delay | None = None
    F: Delay | None = None
    limited: Sequence[Truth]
    timely: Sequence[Number] = ()
    excess: Sequence[Number] = ()
    beliefs: Mapping[str, Sequence[Number]] = field(default_factory=dict)
    before_timeout: Mapping[str, Sequence[Number]] = field(default_factory=dict)
    state: Mapping[str, Sequence[Number]] = field(default_factory=dict)
    kept: Sequence[StateVariable] = ()
    R: int = 1
    number: int = 1
    cwnd: Sequence[Number] = ()
    unlimited: Number = Fraction(100)
    period: int | None = None
    history: int = 0
    _carrier: "Execution | None" = None

    @property
    def network(self) -> "Execution | None":
        return self._carrier

    def sent(self, t: int) -> Number:
        """Return the bytes sent in (t-1, t]."""
        return self.r[t] if self.limited[t] is False else self.A[t] - self.A[t - 1]

    def admitted(self, t: int) -> Number:
        """Return the bytes that were sent by t and are not lost: A - L."""
        return self.A[t] - self.L[t]

    def inflight(self, t: int) -> Number:
        """Return the bytes in flight that do not propagate: A - L - S (sent, minus lost, minus served)."""
        return self.A[t] - self.L[t] - self.S[t]


class Execution(Flow):
    """An execution of a network (docs/reference/encoding.md, section 1), with all its flows.

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

    flows: Sequence[Flow]
    C: Number
    buffer: Buffer
    beta: Number | None
    K: Sequence[Number]
    own: Mapping[str, Sequence[Number]]
    bounds: Bounds
    constants: Mapping[str, Number]

    #: Whether the flows send by a window.
    windows = False

    def __init__(
        self,
        flow: Flow,
        C: Number,
        buffer: Buffer,
        beta: Number | None,
        K: Sequence[Number],
        own: Mapping[str, Sequence[Number]] | None = None,
        bounds: Bounds = Bounds.MOVE,
        constants: Mapping[str, Number] | None = None,
    ) -> None:
        self.constants, self.own, self.flows = constants or {}, own or {}, (flow,)
        self.C, self.buffer, self.beta, self.K, self.bounds = C, buffer, beta, K, bounds
        super().__init__(**vars(flow))

    def __getattr__(self, name: str) -> Sequence[Number]:
        own: Mapping[str, Sequence[Number]] = self.__dict__.get("own", {})
        if name not in own:
            declared = ", ".join(own) or "none"
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'; its own columns are {declared}")
        return own[name]

    @property
    def network(self) -> "Execution | None":
        return self

    def queue(self, t: int) -> Number:
        """The waiting bytes A - L - K (sent, minus lost, minus tokens); negative if tokens wait instead."""
        return self.A[t] - self.L[t] - self.K[t]

    def remembered(self) -> dict[str, Sequence[Number]]:
        return {}

    def columns(self) -> dict[str, Sequence[Number]]:
        """Return every column of a trace except the delays, by name."""
        names = ("A", "S", "L", "Ld", "K", "r")
        columns = {**{name: getattr(self, name) for name in names}, **self.own, **self.beliefs}
        for name, column in self.before_timeout.items():
            if column[self.horizon - 1] is not self.beliefs[name][self.horizon - 1]:
                columns[name + BEFORE_TIMEOUT] = column
        return columns


class Windows(Execution):
    """An execution of window senders, which may have state. The flows are in `flows`, in order."""

    windows = True

    def __init__(
        self,
        flows: Sequence[Flow],
        C: Number,
        buffer: Buffer,
        beta: Number | None,
        own: Mapping[str, Sequence[Number]],
        constants: Mapping[str, Number],
    ) -> None:
        first, *others = flows
        super().__init__(first, C, buffer, beta, (), own, constants=constants)
        self.flows = tuple(flows)
        if others:
            for name in ("A", "S", "L", "Ld"):
                rows = zip(*(getattr(flow, name) for flow in flows), strict=True)
                setattr(self, name, Steps([sum(values[1:], values[0]) for values in rows]))
        self.K = self.S
        for flow in flows:
            flow._carrier = self

    def columns(self) -> dict[str, Sequence[Number]]:
        """Return every column of a trace except delays, by name.

        If there are several flows, the names of a flow's columns end in the flow's number, which starts at 1.
        """
        columns = dict(self.own)
        for name in BY_FLOW:
            for number, flow in enumerate(self.flows, 1):
                columns[f"{name}{number if len(self.flows) > 1 else ''}"] = getattr(flow, name)
        return columns | self.remembered()

    def remembered(self) -> dict[str, Sequence[Number]]:
        columns: dict[str, Sequence[Number]] = {}
        for number, flow in enumerate(self.flows, 1):
            suffix = number if len(self.flows) > 1 else ""
            columns |= {f"{name}{suffix}": column for name, column in flow.state.items()}
        return columns


#: The columns that each flow of a window sender has.
BY_FLOW = ("A", "S", "L", "Ld", "r", "cwnd")

#: The names under which definitions read flows and executions.
FlowView: TypeAlias = Flow
NetworkView: TypeAlias = Execution
