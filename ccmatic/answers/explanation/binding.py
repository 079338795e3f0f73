"""The binding laws of a step: laws that would break if the network's choice were slightly larger or smaller."""

from fractions import Fraction

#: The size of a change in C·R_m, and the length of the longest trace for which binding laws are shown. Each number in a
#: trace requires two checks.
LITTLE, LONGEST = Fraction(1, 10**9), 60

WAYS = ((LITTLE, "more"), (-LITTLE, "less"))


def binding(query, trace):
    """List the binding laws of a trace.

    Args:
        query: The trace's query.
        trace: The Trace.

    Returns:
        A list of texts for each step. Each text names a column, and a law that does not allow a larger or smaller value
        in the column. All lists are empty if the trace has more steps than LONGEST.
    """
    if trace.horizon > LONGEST:
        return [[] for _ in range(trace.horizon)]
    chosen = ["S", *(["K"] if "K" in query.model.declared() else []), *(["L"] if query.buffer.finite else [])]
    names = [name for name in chosen if name in trace.columns]
    before = _broken(query, trace)
    return [[line for name in names for line in _lines(query, trace, name, t, before)] for t in range(trace.horizon)]


def _lines(query, trace, name, t, before):
    column = trace.columns[name]
    for little, word in WAYS:
        other = trace.with_columns(**{name: (*column[:t], column[t] + little, *column[t + 1 :])})
        for law in sorted(_broken(query, other) - before):
            if law[1] == t:
                yield f"{name} cannot be {word}: {law[0].replace('_', ' ')}"


def _broken(query, trace):
    laws = query.model.network(query.observed(trace))
    return {(name, t) for name, t, condition in laws if condition is False}
