"""Executions in the form that laws read (`ccmatic.contracts.views`): a network and its flows, each with columns.

Without loss of generality, the link rate C is 1 and R_m is one step. No byte is served at t = 0
(docs/reference/encoding.md, notation).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ccmatic.base import InputError
from ccmatic.contracts.columns import BEFORE_TIMEOUT, FIRST, IDLE, LAST, TOKENS, Delay, Number, StateVariable, Steps
from ccmatic.contracts.model import Model
from ccmatic.contracts.query import Buffer
from ccmatic.contracts.sources import (
    LastSteps,
    NextWindow,
    Numbers,
    ObservedTrace,
    Source,
    StepsByName,
    TraceData,
    Unknowns,
)
from ccmatic.contracts.views import Bounds, FlowView, NetworkView
from ccmatic.logic import Truth

#: Names whose unknowns a state may not share: parts of a measured delay, pauses, the next window, bytes older than an
#: execution, and open tests of delays.
_NOT_OF_STATE = re.compile(rf"[{LAST.name}{FIRST.name}]_\d+|limited|next_\w+|older\d*|delay_test(_\d+)?")


@dataclass(eq=False, kw_only=True)
class Flow:
    """One flow of an execution, as `FlowView` describes flows.

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
    def network(self) -> "NetworkView | None":
        return self._carrier

    def sent(self, t: int) -> Number:
        return self.r[t] if self.limited[t] is False else self.A[t] - self.A[t - 1]

    def admitted(self, t: int) -> Number:
        return self.A[t] - self.L[t]

    def inflight(self, t: int) -> Number:
        return self.A[t] - self.L[t] - self.S[t]


class Execution(Flow):
    """An execution of a network (docs/reference/encoding.md, section 1), as `NetworkView` describes networks.

    The execution has a single flow, `flow`, so the flow's attributes are also those of the network. `bounds` states
    what is assumed about the running bounds. `windows` states whether the flows send by a window.
    """

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
        self.constants: Mapping[str, Number] = constants or {}
        self.own: Mapping[str, Sequence[Number]] = own or {}
        self.flows: Sequence[FlowView] = (flow,)
        self.C, self.buffer, self.beta, self.K, self.bounds = C, buffer, beta, K, bounds
        super().__init__(**vars(flow))

    def __getattr__(self, name: str) -> Sequence[Number]:
        own: Mapping[str, Sequence[Number]] = self.__dict__.get("own", {})
        if name not in own:
            declared = ", ".join(own) or "none"
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'; its own columns are {declared}")
        return own[name]

    @property
    def network(self) -> "NetworkView | None":
        return self

    def queue(self, t: int) -> Number:
        """The waiting bytes A - L - K (sent, minus lost, minus tokens); negative if tokens wait instead."""
        return self.A[t] - self.L[t] - self.K[t]

    def remembered(self) -> dict[str, Sequence[Number]]:
        return {}

    def columns(self) -> dict[str, Sequence[Number]]:
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


def execution(
    model: Model,
    horizon: int,
    buffer: Buffer,
    jitter: int,
    bounds: Bounds = Bounds.MOVE,
    pauses: bool = False,
    state: Sequence[StateVariable] = (),
    period: int | None = None,
    history: int = 0,
) -> Execution:
    """Return an execution of a model in which all values are unknowns, in the units of a Trace.

    `pauses` states whether each step of a rate sender may count as application-limited, even if the sender sent at its
    whole rate. `period` and `history` are as in a FlowView.
    """
    source = Unknowns(horizon, buffer, bounds, pauses)
    if model.windows:
        return _windows(model, horizon, buffer, jitter, source, state, period, history)
    return _rate_execution(model, horizon, buffer, jitter, bounds, source, period)


def at_steps(
    model: Model, names: Sequence[str], buffer: Buffer, jitter: int, state: Sequence[StateVariable] = ()
) -> Execution:
    """Return the values of an execution of window senders at some of its steps, named in the order of time."""
    return _windows(model, len(names), buffer, jitter, StepsByName(names, buffer), state)


def observed(
    model: Model,
    buffer: Buffer,
    jitter: int,
    trace: TraceData,
    reads: Collection[str],
    bounds: Bounds = Bounds.MOVE,
    state: Sequence[StateVariable] = (),
    period: int | None = None,
    history: int = 0,
) -> Execution:
    """Return an execution that has the exact numbers of a trace, with the beliefs in `reads`.

    The function skips columns that follow from other columns. An example is Ld (the detected losses) after its first
    value. KeyError says which column or constant the trace lacks.
    """
    source = Numbers(trace, buffer, reads)
    if model.windows:
        return _windows(model, trace.horizon, buffer, jitter, source, state, period, history)
    return _rate_execution(model, trace.horizon, buffer, jitter, bounds, source, period)


def sender_observations(model: Model, buffer: Buffer, jitter: int, trace: TraceData, horizon: int) -> Execution:
    """Return the observations that the rate sender of a trace has made by the end of the first `horizon` steps.

    All other values are unknowns. So the laws describe every execution that looks the same to the sender. Bytes may be
    in any unit: `ccmatic.logic.unit` is the size of this unit in C·R_m.
    """
    return _rate_execution(model, horizon, buffer, jitter, Bounds.MOVE, ObservedTrace(model, trace, buffer, horizon))


def ending(model: Model, x: NetworkView, steps: int = 1) -> Execution:
    """Return only the last `steps` steps of an execution, which are also the first steps of the next window."""
    source = LastSteps(model, x, steps)
    if model.windows:
        return _windows(model, steps, x.buffer, x.D, source, _state_of(x))
    return _rate_execution(model, steps, x.buffer, x.D, x.bounds, source)


def following(model: Model, x: NetworkView, steps: int = 1) -> Execution:
    """Return the window that follows an execution.

    Its first `steps` steps are the last steps of `x`. Its other steps have new unknowns.
    """
    if model.since:
        raise InputError(f"the path of {model.name} changes once; expected a path that may be the same in each window")
    source = NextWindow(model, x, steps)
    if model.windows:
        return _windows(model, x.horizon, x.buffer, x.D, source, _state_of(x))
    return _rate_execution(model, x.horizon, x.buffer, x.D, x.bounds, source)


def _state_of(x: NetworkView) -> Sequence[StateVariable]:
    return list(dict.fromkeys(each for flow in x.flows for each in flow.kept))


class ObservationWindow(Flow):
    """The observations of a running sender in a window of `horizon` steps. `append` adds a step.

    The sender knows neither the link nor the buffer. The sender counts bytes from an arbitrary origin, and alpha is in
    bytes per step.
    """

    def __init__(self, model: Model, horizon: int, jitter: int, alpha: Fraction) -> None:
        columns: dict[str, Any] = {name: [] for name in ("A", "S", "L", "Ld", "r", "timely", "excess", "limited")}
        columns |= {name: Delay.measured((), horizon) for name in "QF"}
        beliefs: dict[str, list[Number]] = {belief.name: [] for belief in model.beliefs}
        sizes: dict[str, Any] = {"horizon": horizon, "D": jitter, "alpha": alpha, "numeric": True}
        super().__init__(**sizes, **columns, beliefs=beliefs, before_timeout=beliefs)
        if model.sees_losses_at_once:
            self.timely = self.L

    def append(self, Q: int, F: int, limited: bool, **row: Fraction | int) -> None:
        """Append one step: delays in whole steps, and by name the cumulative bytes and the rate."""
        if self.timely is self.L:
            del row["timely"]
        for name, value in row.items():
            getattr(self, name).append(Fraction(value))
        for name, value in (("limited", limited), ("Q", Q), ("F", F)):
            getattr(self, name).append(value)


def _rate_execution(
    model: Model,
    horizon: int,
    buffer: Buffer,
    jitter: int,
    bounds: Bounds,
    source: Source,
    period: int | None = None,
) -> Execution:
    """Return the execution of a rate sender. A Source supplies its columns."""
    A, S, r = (Steps(source.column(name)) for name in "ASr")
    L = Steps(source.column("L") if buffer.finite else [source.zero] * horizon)
    Ld = Steps([source.first("Ld") if buffer.finite else source.zero, *L[:-1]])
    K = Steps(source.column(TOKENS.name)) if TOKENS in model.columns else S
    own = {column.name: Steps(source.column(column.name)) for column in model.own_columns}
    limited = Steps(source.limited())
    if model.pauses and all(each is False for each in limited):
        limited = Steps([True, *(A[t] < A[t - 1] + r[t] for t in range(1, horizon))])
    Q, F = (source.delay(delay.name, horizon) if delay in model.columns else None for delay in (LAST, FIRST))
    beliefs = {name: Steps(column) for name, column in source.beliefs(model).items()}
    before_timeout = dict(beliefs)
    for belief in model.carried_over() if bounds is Bounds.DEPLOYED else ():
        if belief.name in beliefs:
            before_timeout[belief.name] = Steps([*beliefs[belief.name][:-1], source.before_timeout(belief.name)])
    flow = Flow(
        horizon=horizon,
        D=jitter,
        alpha=source.alpha,
        numeric=source.numeric,
        A=A,
        S=S,
        L=L,
        Ld=Ld,
        r=r,
        Q=Q,
        F=F,
        limited=limited,
        timely=L if model.sees_losses_at_once else Ld,
        excess=Ld,
        beliefs=beliefs,
        before_timeout=before_timeout,
        period=period,
    )
    return Execution(flow, source.C, buffer, source.beta, K, own, bounds)


def _require_a_name_of_its_own(model: Model, name: str) -> None:
    """Raise InputError if a state variable has the name of a trace's column, or its unknowns would be others' unknowns.

    With several flows, names of columns end in numbers.
    """
    taken = {*BY_FLOW, *(column.name for column in model.columns)}
    numbers = range(1, model.flows + 1) if model.flows > 1 else ()
    names = (name, *(f"{name}{number}" for number in numbers))
    if clash := next((each for each in names if each in taken), None):
        raise InputError(f"the state `{name}` has the name of a column of the trace, {clash}; expected another name")
    if any(_NOT_OF_STATE.fullmatch(each) for each in names):
        raise InputError(f"the state `{name}` has the name of unknowns of the network; expected another name")


def _windows(
    model: Model,
    horizon: int,
    buffer: Buffer,
    jitter: int,
    source: Source,
    state: Sequence[StateVariable],
    period: int | None = None,
    history: int = 0,
) -> Windows:
    """Return an execution of a model's window senders."""
    for each in state:
        _require_a_name_of_its_own(model, each.name)
    Q = source.delay(LAST.name, model.longest_delay(horizon, period)) if LAST in model.columns else None
    flows = []
    for number in range(1, model.flows + 1):
        suffix = number if model.flows > 1 else ""
        kept = [each for each in state if each.flow in (None, number)]
        A, S, L, Ld, r, cwnd = (Steps(source.column(f"{name}{suffix}")) for name in BY_FLOW)
        limited: list[Truth] = [False] * horizon
        if model.pauses:
            idle = source.column(f"{IDLE.name}{suffix}")
            limited = [True, *(idle[t] > 0 for t in range(1, horizon))]
        flows.append(
            Flow(
                horizon=horizon,
                D=jitter,
                R=model.round_trip(number),
                number=number,
                alpha=source.alpha,
                numeric=source.numeric,
                A=A,
                S=S,
                L=L,
                Ld=Ld,
                r=r,
                cwnd=cwnd,
                Q=Q,
                limited=Steps(limited),
                state={each.name: Steps(source.state(f"{each.name}{suffix}", each.unit)) for each in kept},
                kept=kept,
                unlimited=100 * source.C,
                period=period,
                history=history,
            )
        )
    own = {column.name: Steps(source.column(column.name)) for column in model.own_columns}
    constants = {name: source.constant(name) for name in model.constants}
    return Windows(flows, source.C, buffer, source.beta, own, constants)
