"""The laws that bind at a step: those that a little more, or less, of what the network chose would break."""

from fractions import Fraction

#: A little, in C·R_m; and of longer traces no laws are shown, as each number is tried both ways.
LITTLE, LONGEST = Fraction(1, 10**9), 60

WAYS = ((LITTLE, "more"), (-LITTLE, "less"))


def binding(query, trace):
    """For each step of a Trace, a list of lines that name a column and a law that leaves it no room, more or less;
    none for a trace that is too long. query: of which it is a trace."""
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
