"""Executions of models (`ccmatic.contracts.views`): unknown, observed, at some steps, or one window after another."""

import re
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any

from ccmatic.base import InputError
from ccmatic.contracts.columns import FIRST, IDLE, LAST, TOKENS, Delay, Number, StateVariable, Steps
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
from ccmatic.contracts.views import BY_FLOW, Bounds, Execution, Flow, Windows
from ccmatic.logic import Truth

#: Names whose unknowns a state may not share: parts of a measured delay, pauses, the next window, bytes older than an
#: execution, and open tests of delays.
_NOT_OF_STATE = re.compile(rf"[{LAST.name}{FIRST.name}]_\d+|limited|next_\w+|older\d*|delay_test(_\d+)?")


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


def ending(model: Model, x: Execution, steps: int = 1) -> Execution:
    """Return only the last `steps` steps of an execution, which are also the first steps of the next window."""
    source = LastSteps(model, x, steps)
    if model.windows:
        return _windows(model, steps, x.buffer, x.D, source, _state_of(x))
    return _rate_execution(model, steps, x.buffer, x.D, x.bounds, source)


def following(model: Model, x: Execution, steps: int = 1) -> Execution:
    """Return the window that follows an execution.

    Its first `steps` steps are the last steps of `x`. Its other steps have new unknowns.
    """
    if model.since:
        raise InputError(f"the path of {model.name} changes once; expected a path that may be the same in each window")
    source = NextWindow(model, x, steps)
    if model.windows:
        return _windows(model, x.horizon, x.buffer, x.D, source, _state_of(x))
    return _rate_execution(model, x.horizon, x.buffer, x.D, x.bounds, source)


def _state_of(x: Execution) -> Sequence[StateVariable]:
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
