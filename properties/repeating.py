"""That an execution repeats itself, with all that its network and its senders keep, so that it may go on for ever."""

from ccmatic.base import InputError, shown, suggest
from ccmatic.logic import equal, every, iff, some


def repeating(model, x, period, moves, known):
    """Each step from `period` on is as the one a period before, and what is kept is at the end as it was a period ago.

    moves: state that says a place in what is observed, such as the last byte sent before a loss, by name, with the
    observations in whose sum that is: it has moved on with them. known: observations of which a sender that reads them
    knows in all of these steps what they are: the delay of what was there at first it would learn only later. Each loss
    is found within a period. Raises InputError for an execution that does not show the period twice, or less than
    the laws look back."""
    end = x.horizon - 1
    begin = end - period
    if begin < period:
        found = f"the trace has {x.horizon} steps, which do not show a period of {period} twice"
        raise InputError(f"{found}; expected a horizon of {2 * period + 1} at least")
    if begin < model.looks_back:
        found = f"the trace has {x.horizon} steps, and laws of {model.name} are of {model.looks_back} of them at a time"
        raise InputError(f"{found}; expected a horizon of {period + model.looks_back + 1} at least")
    counted = list(x.own.values())
    parts = [_waiting(model, x, begin, end)]
    if model.windows:
        parts += _states(model, x, moves, begin, end)
        parts += [_is_known(_read(model, name), flow, begin - x.D) for flow in x.flows for name in known]
    else:
        counted.append(x.K)
        parts += [_delays(x, name, period) for name in model.measures]
    if len(x.flows) > 1:  # what is behind what is sent by any flow later came within the trace
        parts.append(x.S[begin] >= x.admitted(0))
    for flow, let in zip(x.flows, model.let(x) if model.windows else (), strict=False):
        parts.append(equal(let[end] - flow.S[end], let[begin] - flow.S[begin]))
    for flow in x.flows:
        counted += [flow.A, flow.S, flow.L, flow.Ld]
        kept = [column for column in (flow.r, flow.cwnd, *flow.beliefs.values()) if column]
        parts += [equal(column[end], column[begin]) for column in kept]
        parts.append(equal(flow.inflight(end), flow.inflight(begin)))
        parts.append(equal(flow.L[end] - flow.Ld[end], flow.L[begin] - flow.Ld[begin]))
        parts += [flow.Ld[t] >= flow.L[t - period] for t in range(begin, end + 1)]
    return every([*parts, *(_counted_on(column, begin, end) for column in counted)])


def _waiting(model, x, begin, end):
    """As many tokens came as bytes were served."""
    tokens = (lambda t: model.tokens(x, t)) if model.windows else (lambda t: x.K[t])
    return equal(tokens(end) - tokens(begin), x.S[end] - x.S[begin])


def _counted_on(column, begin, end):
    """In each period bytes grow alike."""
    grown = column[end] - column[begin]
    return every([equal(column[t], column[t - end + begin] + grown) for t in range(end - begin, end)])


def _delays(x, name, period):
    """A measured delay, which these traces know from the first."""
    delay, steps = getattr(x, name), range(1, x.horizon + 1)
    pairs = [(t, k) for t in range(period, x.horizon) for k in steps]
    return every([iff(delay.at_least(t, k), delay.at_least(t - period, k)) for t, k in pairs])


def _states(model, x, moves, begin, end):
    """Of several flows with controllers of their own the state that moves is called as in a trace, with the number of
    its flow."""
    flows = [(flow, {name: f"{name}{number}" for name in flow.state}) for number, flow in enumerate(x.flows, 1)]
    known = {name for _, names in flows for pair in names.items() for name in pair}
    for name in moves if known else ():
        if name not in known:
            expected = f"expected state of the controller; {suggest(shown(name), known)}"
            raise InputError(f"found that '{shown(name)}' moves; {expected}")
    for flow, names in flows:
        for name, numbered in names.items():
            moved = _moved(model, flow, moves.get(numbered, moves.get(name, ())), begin, end)
            yield equal(flow.state[name][end] - flow.state[name][begin], moved)


def _moved(model, flow, observations, begin, end):
    reads = [_read(model, name) for name in observations]
    return sum((read(flow, end) - read(flow, begin) for read in reads), 0)


def _is_known(read, flow, begin):
    """Of an observation that is one of few numbers, that it is some one of them."""
    return every([some([condition for condition, _ in read(flow, t) or ()]) for t in range(begin, flow.horizon)])


def _read(model, name):
    if name not in model.observations:
        raise InputError(f"{model.name} lets nobody observe '{shown(name)}'; {suggest(name, model.observations)}")
    return model.observations[name].read
