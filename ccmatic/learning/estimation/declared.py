"""What a sender believes, by the beliefs that a model declares, of all that it has seen."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf
from typing import Any, cast

from ccmatic.contracts import Model, NetworkView, Recorded, RunningBound, RunningMin, StateBelief, Watched


def declared(model: Model, jitter: int, trace: Recorded) -> Mapping[str, Sequence[Fraction | float]]:
    """The value of each belief at each step of a trace, by name, as a sender has it that has seen the trace from its
    first step on and knows nothing else: Fractions in the trace's units; inf where nothing bounds from above yet."""
    x = Watched(model, trace.horizon, jitter, trace.constants["MSS"])
    beliefs = cast("dict[str, list[Fraction | float]]", x.beliefs)  # they grow, and are numbers
    for t in range(trace.horizon):
        row = {name: trace.columns[name][t] for name in ("A", "S", "L", "Ld", "r")}
        lost = row["Ld"]
        Q, F = (int(trace.columns[name][t]) if name in model.measures else 0 for name in "QF")
        x.append(Q, F, False, **row, timely=lost, excess=lost)
        for bound in model.bounds():
            beliefs[bound.name].append(bound.moved(x, t) if t else _unknown(bound, x))
        for state in model.beliefs:
            if isinstance(state, StateBelief):
                value: Any = state.value(x, t)
                beliefs[state.name].append(Fraction(value))
    return beliefs


def _unknown(bound: RunningBound, x: Watched) -> Fraction | float:
    """A bound that is true of every path."""
    if isinstance(bound, RunningMin):
        return inf
    start: Any = bound.true_start(cast("NetworkView", x))  # it reads what a flow has
    return cast("Fraction", start)
