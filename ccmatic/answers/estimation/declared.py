"""The values of the beliefs that a model declares. A sender computes these values from all its observations."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf
from typing import Any, cast

from ccmatic.contracts import Model, NetworkView, ObservationWindow, RunningBound, RunningMin, StateBelief, TraceData


def declared(model: Model, jitter: int, trace: TraceData) -> Mapping[str, Sequence[Fraction | float]]:
    """Return the values of each belief at each step of a trace, by name.

    The sender has observed the trace from its first step, and has no other knowledge. The values are Fractions in the
    units of the trace. The value inf means that the sender has no upper bound yet.

    Args:
        model: The Model.
        jitter: The jitter D in steps.
        trace: The trace.
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
