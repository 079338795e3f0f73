"""Executions, as laws read them (`ccmatic.contracts.views`): a network that has flows, each with columns.

Without loss of generality C = 1 and R_m = 1 step, and no byte is served at t = 0 (docs/encoding.md, notation).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ccmatic.contracts.buffer import Buffer
from ccmatic.contracts.column import BEFORE_TIMEOUT, FIRST, LAST, TOKENS
from ccmatic.contracts.model import Model
from ccmatic.contracts.sources import LastStep, NextWindow, Numbers, Recorded, Source, Unknowns
from ccmatic.contracts.steps import Delay, Number, Steps
from ccmatic.contracts.views import Bounds, FlowView, NetworkView
from ccmatic.logic import Truth


class _Bytes:
    """What follows from cumulative bytes, of a flow or of a network."""

    A: Sequence[Number]
    S: Sequence[Number]
    L: Sequence[Number]
    r: Sequence[Number]
    limited: Sequence[Truth]

    def sent(self, t: int) -> Number:
        """Bytes sent in (t-1, t]: r but where the sender is limited."""
        return self.r[t] if self.limited[t] is False else self.A[t] - self.A[t - 1]

    def admitted(self, t: int) -> Number:
        """Bytes sent and not lost, A - L."""
        return self.A[t] - self.L[t]

    def inflight(self, t: int) -> Number:
        """Bytes in the network beyond propagation, q = A - L - S."""
        return self.A[t] - self.L[t] - self.S[t]


@dataclass(eq=False, kw_only=True)
class Flow(_Bytes):
    """One flow of an execution; a `FlowView`, which says what each part is. What is not given it lacks."""

    horizon: int
    D: int
    alpha: Any = None
    known: bool = False
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


class Execution(_Bytes):
    """An execution over a network (docs/encoding.md, section 1); a `NetworkView`, which says what each part is.

    bounds: what is known of the beliefs. `flow` is the only one of `flows`, and so what it has is the network's.
    """

    def __init__(
        self,
        flow: Flow,
        C: Number,
        buffer: Buffer,
        beta: Number | None,
        K: Sequence[Number],
        own: Mapping[str, Sequence[Number]] | None = None,
        bounds: Bounds = Bounds.MOVE,
    ) -> None:
        self.own: Mapping[str, Sequence[Number]] = own or {}
        self.flows: Sequence[FlowView] = (flow,)
        self.C, self.buffer, self.beta, self.K, self.bounds = C, buffer, beta, K, bounds
        self.horizon, self.D, self.alpha, self.known = flow.horizon, flow.D, flow.alpha, flow.known
        self.A, self.S, self.L, self.Ld, self.r = flow.A, flow.S, flow.L, flow.Ld, flow.r
        self.Q, self.F, self.limited = flow.Q, flow.F, flow.limited
        self.timely, self.excess = flow.timely, flow.excess
        self.beliefs, self.before_timeout, self.state = flow.beliefs, flow.before_timeout, flow.state

    def __getattr__(self, name: str) -> Sequence[Number]:
        own: Mapping[str, Sequence[Number]] = self.__dict__.get("own", {})
        if name not in own:
            declared = ", ".join(own) or "none"
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'; its own columns are {declared}")
        return own[name]

    def queue(self, t: int) -> Number:
        """Bytes that wait at the bottleneck, A - L - K."""
        return self.A[t] - self.L[t] - self.K[t]

    def columns(self) -> dict[str, Sequence[Number]]:
        """The terms of each column of a trace but for the delays, by name."""
        names = ("A", "S", "L", "Ld", "K", "r")
        columns = {**{name: getattr(self, name) for name in names}, **self.own, **self.beliefs}
        for name, column in self.before_timeout.items():
            if column[self.horizon - 1] is not self.beliefs[name][self.horizon - 1]:
                columns[name + BEFORE_TIMEOUT] = column
        return columns


def execution(
    model: Model, horizon: int, buffer: Buffer, jitter: int, bounds: Bounds = Bounds.MOVE, pauses: bool = False
) -> Execution:
    """The unknowns of one trace of a model. pauses: the sender may be application-limited in any step."""
    return _built(model, horizon, buffer, jitter, bounds, Unknowns(horizon, buffer, bounds, pauses))


def observed(
    model: Model, buffer: Buffer, jitter: int, trace: Recorded, reads: Collection[str], bounds: Bounds = Bounds.MOVE
) -> Execution:
    """The same of a trace's numbers. reads: names of the beliefs to be read. What follows from other columns is not
    read, such as Ld but for its first value. Raises KeyError for a column or a constant that the trace lacks."""
    return _built(model, trace.horizon, buffer, jitter, bounds, Numbers(trace, buffer, reads))


def ending(model: Model, x: NetworkView) -> Execution:
    """The last step of an execution, as all that there is of the next window: its first step."""
    return _built(model, 1, x.buffer, x.D, x.bounds, LastStep(model, x))


def following(model: Model, x: NetworkView) -> Execution:
    """The window after an execution's own: its first step is that one's last, its other steps are other unknowns."""
    return _built(model, x.horizon, x.buffer, x.D, x.bounds, NextWindow(model, x))


class Watched(Flow):
    """What a sender sees of a window of `horizon` steps, so far: columns grow by `append`. It knows neither the link
    nor the buffer; bytes are its own, counted from anywhere, and alpha is in bytes per step."""

    Q: Delay
    F: Delay
    limited: list[Truth]

    def __init__(self, model: Model, horizon: int, jitter: int, alpha: Fraction) -> None:
        columns: dict[str, Any] = {name: [] for name in ("A", "S", "L", "Ld", "r", "timely", "excess", "limited")}
        columns |= {name: Delay.measured((), horizon) for name in "QF"}
        beliefs: dict[str, list[Number]] = {belief.name: [] for belief in model.beliefs}
        known: dict[str, Any] = {"horizon": horizon, "D": jitter, "alpha": alpha, "known": True}
        super().__init__(**known, **columns, beliefs=beliefs, before_timeout=beliefs)

    def append(self, Q: int, F: int, limited: bool, **row: Fraction | int) -> None:
        """The next step: bytes, the rate in bytes per step, measured delays in whole steps, whether it was limited."""
        for name, value in row.items():
            getattr(self, name).append(Fraction(value))
        self.limited.append(limited)
        self.Q.append(Q)
        self.F.append(F)


def _built(model: Model, horizon: int, buffer: Buffer, jitter: int, bounds: Bounds, source: Source) -> Execution:
    """An execution of the columns that a source has."""
    A, S, r = (Steps(source.column(name)) for name in "ASr")
    L = Steps(source.column("L") if buffer.finite else [source.zero] * horizon)
    Ld = Steps([source.first("Ld") if buffer.finite else source.zero, *L[:-1]])
    K = Steps(source.column(TOKENS.name)) if TOKENS in model.columns else S
    own = {column.name: Steps(source.column(column.name)) for column in model.own_columns}
    limited = Steps(source.limited())
    Q, F = (source.delay(delay.name) if delay in model.columns else None for delay in (LAST, FIRST))
    beliefs = {name: Steps(column) for name, column in source.beliefs(model).items()}
    before_timeout = dict(beliefs)
    for belief in model.carried_over() if bounds is Bounds.DEPLOYED else ():
        if belief.name in beliefs:
            before_timeout[belief.name] = Steps([*beliefs[belief.name][:-1], source.before_timeout(belief.name)])
    flow = Flow(
        horizon=horizon,
        D=jitter,
        alpha=source.alpha,
        known=source.known,
        A=A,
        S=S,
        L=L,
        Ld=Ld,
        r=r,
        Q=Q,
        F=F,
        limited=limited,
        timely=Ld,
        excess=Ld,
        beliefs=beliefs,
        before_timeout=before_timeout,
    )
    return Execution(flow, source.C, buffer, source.beta, K, own, bounds)
