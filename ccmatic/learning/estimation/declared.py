"""What a sender believes, by the beliefs that a model declares, of all that it has seen."""

from fractions import Fraction
from math import inf

from ccmatic.contracts import RunningMin, Watched, is_bound


def declared(model, jitter, trace):
    """The value of each belief at each step of a trace, by name, as a sender has it that has seen the trace from its
    first step on and knows nothing else: Fractions in the trace's units; inf where nothing bounds from above yet."""
    x = Watched(model, trace.horizon, jitter, trace.constants["MSS"])
    for t in range(trace.horizon):
        row = {name: trace.columns[name][t] for name in ("A", "S", "L", "Ld", "r")}
        lost = row["Ld"]
        delays = {name: int(trace.columns[name][t]) if name in model.measures else 0 for name in "QF"}
        x.append(**row, **delays, timely=lost, excess=lost, limited=False)
        for bound in model.bounds():
            x.beliefs[bound.name].append(bound.moved(x, t) if t else _unknown(bound, x))
        for state in model.beliefs:
            if not is_bound(state):
                x.beliefs[state.name].append(Fraction(state.value(x, t)))
    return x.beliefs


def _unknown(bound, x):
    """A bound that is true of every path."""
    return inf if isinstance(bound, RunningMin) else bound.true_start(x)
