"""The knowledge that a sender can have about its path at each step: the possible values, and the sender's beliefs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any, cast

from ccmatic.answers.estimation.exact import ANY, PossibleValues, possible
from ccmatic.base import InputError, absolute
from ccmatic.contracts import (
    Column,
    Model,
    NetworkView,
    ObservationWindow,
    RunningBound,
    RunningMin,
    StateBelief,
    TraceData,
    load_definition,
)
from ccmatic.networks.traces import Trace, read_trace
from ccmatic.questions.query import Network


def declared(model: Model, jitter: int, trace: TraceData) -> Mapping[str, Sequence[Fraction | float]]:
    """Return the values of each belief at each step of a trace, by name, in the units of the trace.

    The sender has observed the trace from its first step, and has no other knowledge. The value inf means that it has
    no upper bound yet.
    """
    x = ObservationWindow(model, trace.horizon, jitter, trace.constants["MSS"])
    beliefs = cast("dict[str, list[Fraction | float]]", x.beliefs)  # These lists of numbers grow step by step.
    for t in range(trace.horizon):
        row = {name: trace.columns[name][t] for name in ("A", "S", "L", "Ld", "r")}
        lost = row["Ld"]
        Q, F = (int(trace.columns[name][t]) if name in model.measures else 0 for name in "QF")
        x.append(Q, F, False, **row, timely=lost, excess=lost)
        for bound in model.bounds():
            beliefs[bound.name].append(bound.moved(x, t) if t else _true_bound(bound, x))
        for state in model.beliefs:
            if isinstance(state, StateBelief):
                value: Any = state.value(x, t)
                beliefs[state.name].append(Fraction(value))
    return beliefs


def _true_bound(bound: RunningBound, x: ObservationWindow) -> Fraction | float:
    """Return a bound on the belief that is true on every path."""
    if isinstance(bound, RunningMin):
        return inf
    start: Any = bound.true_start(cast("NetworkView", x))  # The bound reads only attributes of ObservationWindow.
    return cast("Fraction", start)


@dataclass(frozen=True)
class Estimate:
    """The knowledge of a sender at the end of a step, in the units of the trace.

    Attributes:
        t: The number of the step.
        possible: The PossibleValues.
        declared: The values of the model's beliefs by name. The value inf means that the sender has no upper bound yet.
    """

    t: int
    possible: PossibleValues
    declared: Mapping[str, Fraction | float]


def estimate(
    trace: Trace | str | Path,
    network: Network | None = None,
    *,
    told: Callable[[Estimate], None] = lambda estimate: None,
) -> list[Estimate]:
    """Compute the sender's possible knowledge of its path at the end of each step of a trace, except the first step.

    Args:
        trace: The trace, or its file.
        network: The network; by default, the trace's network. The horizon of the network is the number of steps that
            the sender looks back. To bound the link rate C, the sender uses all earlier steps.
        told: A function that is called with each Estimate as soon as the Estimate is computed.

    Returns:
        The Estimates. The field `possible` has the exact range of each quantity, over all executions of the network
        with the same observations. The field `declared` has the model's beliefs.

    Raises:
        InputError: If no execution of the network matches the trace. The error names the laws that the trace breaks.

    Examples:
        >>> cm.estimate("results/gallery/late_drain.json")[-1].possible.C
    """
    trace, made = read_trace(trace), []
    for step in estimates(trace, network or network_of(trace)):
        told(step)
        made.append(step)
    return made


def estimates(trace: Trace, network: Network) -> Iterator[Estimate]:
    """Yield an Estimate of each step of a trace except the first.

    A sender observes the bytes that it sends, and the bytes served and lost. It observes losses one step late, except
    on an ideal link. It knows R_m, MSS, D, and the buffer of the network (in C·R_m), but not C. It remembers the latest
    steps, as many as the network's horizon, and all its knowledge of C.
    """
    _require(trace, network)
    beliefs, C = declared(network.model, network.jitter, trace), ANY
    for t in range(1, trace.horizon):
        window = _window(network.model, trace, max(0, t + 1 - network.horizon), t + 1)
        try:
            bounds = possible(network, window, C)
        except InputError as error:
            raise InputError(f"by the end of step {t}: {error.message}") from None
        C = bounds.C
        yield Estimate(t, bounds, {name: column[t] for name, column in beliefs.items()})


def network_of(
    trace: Trace | str | Path,
    *,
    model: str | Path | None = None,
    buffer: int | str | Fraction | None = None,
    jitter: int | str | None = None,
    horizon: int | str | None = None,
    allow_code: bool = False,
) -> Network:
    """Return the network of a trace with some values replaced, for `estimate`.

    Args:
        trace: The trace, or its file.
        model: A model that replaces the trace's model, as in `Network`.
        buffer: A buffer that replaces the trace's buffer.
        jitter: A jitter that replaces the trace's jitter.
        horizon: The number of steps that a sender looks back. By default, all steps of the trace.
        allow_code: Whether to run the file that the trace names as its model. Otherwise only shipped models are
            accepted.

    Returns:
        The Network. The Network allows all executions, including executions outside the published model.

    Raises:
        InputError: If a value does not fit any network.

    Examples:
        >>> cm.estimate("results/gallery/late_drain.json", cm.network_of("results/gallery/late_drain.json", jitter=2))
    """
    trace = read_trace(trace)
    query = trace.query
    if model is None:
        loaded, name = load_definition("models", "MODEL", query["model"], allow_code), query["model"]
    else:
        loaded, name = load_definition("models", "MODEL", model, True), absolute(model)
    return Network(
        loaded,
        query["buffer"] if buffer is None else buffer,
        trace.horizon if horizon is None else horizon,
        query["jitter"] if jitter is None else jitter,
        "executions",
        name,
    )


def _require(trace: Trace, network: Network) -> None:
    model = network.model
    if model.windows:
        raise InputError(
            f"senders on {network.model_name} send by a window; expected a model on which they send at rates"
        )
    missing = [name for name in ("A", "S", "L", "Ld", "r", *model.measures) if name not in trace.columns]
    if missing:
        raise InputError(f"the trace has no {', '.join(missing)}, which a sender on {network.model_name} sees")
    if not network.buffer.finite and any(trace.columns["Ld"]):
        raise InputError("the trace has losses, but the buffer is infinite; expected a finite one")


def _window(model: Model, trace: Trace, start: int, end: int) -> Trace:
    """Return a window of a trace as a trace of its own.

    Its byte counts are relative to the bytes served by its first step. Its delays may be as long as the whole trace.
    """
    served, columns = trace.columns["S"][start], model.declared()

    def origin(name: str) -> Fraction | int:
        column = columns.get(name)
        return served if isinstance(column, Column) and column.with_service else 0

    kept = {name: tuple(v - origin(name) for v in column[start:end]) for name, column in trace.columns.items()}
    kept |= {name: tuple(min(v, Fraction(trace.horizon)) for v in kept[name]) for name in model.measures}
    return replace(trace, horizon=end - start, columns=kept)
