"""The condition that an execution repeats, including all state, so that the execution may go on for ever."""

from ccmatic.models.window_sender import LONGEST, dupack_losses

from ccmatic.base import InputError
from ccmatic.contracts import Exclusion, is_bound
from ccmatic.logic import either, equal, every, iff


def repeating(model, x, period):
    """Return the condition that an execution repeats with a period.

    From step `period` on, each step equals the step one period before. At the end, the network's state equals its state
    one period earlier. The laws of the controllers make the controllers' state repeat.

    Raises:
        InputError: If the execution has fewer than two periods, if the laws look back further than its steps, or if the
            path changes.
    """
    if model.since:
        raise InputError(f"the path of {model.name} changes once, so no execution repeats itself; expected no period")
    end = x.horizon - 1
    begin = end - period
    if begin < period:
        problem = f"the trace has {x.horizon} steps, which do not show a period of {period} twice"
        raise InputError(f"{problem}; expected a horizon of {2 * period + 1} at least")
    back = model.before_period(x.D)
    if begin < back:
        problem = (
            f"the trace has {x.horizon} steps, and laws of {model.name} look back on {back} before its last period"
        )
        raise InputError(f"{problem}; expected a horizon of {period + back + 1} at least")
    counted = list(x.own.values())
    parts = [_waiting(model, x, begin, end)]
    parts += [equal(x.own[each.name][end], x.own[each.name][begin]) for each in model.own_columns if each.level]
    if not model.windows:
        counted.append(x.K)
        parts += [_delays(x, name, period) for name in model.measures]
        parts += [each.stays_for_ever(x, period) for each in model.beliefs if is_bound(each) and each.name in x.beliefs]
    if len(x.flows) > 1:  # then the trace contains the arrival of all bytes ahead of later bytes
        parts.append(x.S[begin] >= x.admitted(0))
    for flow in x.flows if model.windows else ():
        name = dupack_losses(len(x.flows), flow.number).name
        if name in x.own:
            by_acks = x.own[name]
            same = equal(by_acks[end], by_acks[begin])  # no further acknowledgement can reveal another loss
            alike = equal(flow.Ld[end] - by_acks[end], flow.Ld[begin] - by_acks[begin])
            parts.append(either(equal(flow.S[end], flow.S[begin]), same, alike))
    for flow, let in zip(x.flows, model.let(x) if model.windows else (), strict=False):
        parts.append(equal(let[end] - flow.S[end], let[begin] - flow.S[begin]))
    for flow in x.flows:
        counted += [flow.A, flow.S, flow.L, flow.Ld]
        kept = [column for column in (flow.r, flow.cwnd, *flow.beliefs.values()) if column]
        parts += [equal(column[end], column[begin]) for column in kept]
        parts.append(equal(flow.inflight(end), flow.inflight(begin)))
        parts.append(equal(flow.L[end] - flow.Ld[end], flow.L[begin] - flow.Ld[begin]))
    return every([*parts, *(_counted_on(column, begin, end) for column in counted)])


def exclusions(model, reads):
    """Yield the executions that a query about repeating executions excludes.

    `reads` contains the names that controllers read.
    """
    if not model.windows:
        return
    yield Exclusion("late losses", f"a loss is found more than {LONGEST} steps later")
    for each in model.observations.values():
        if each.name in reads and each.longest:
            yield Exclusion("late delays", f"a sender observes a {each.name} of more than {each.longest} steps")
    if model.flows > 1 and model.observations["delay"].name in reads and not model.measures:
        reason = "a flow of which nothing is served acts on the last delay that it measured"
        yield Exclusion("late delays", reason)
    if model.flows > 1:
        yield Exclusion("late delays", "bytes wait from before the trace until its last period")


def _waiting(model, x, begin, end):
    """Return the condition that the number of tokens and the number of bytes served from `begin` to `end` are equal."""
    tokens = (lambda t: model.tokens(x, t)) if model.windows else (lambda t: x.K[t])
    return equal(tokens(end) - tokens(begin), x.S[end] - x.S[begin])


def _counted_on(column, begin, end):
    """Return the condition that a column of cumulative bytes grows by the same amount in each period."""
    grown = column[end] - column[begin]
    return every([equal(column[t], column[t - end + begin] + grown) for t in range(end - begin, end)])


def _delays(x, name, period):
    """Return the condition that a measured delay repeats.

    In a repeating trace, each delay is known from the first step on.
    """
    delay, steps = getattr(x, name), range(1, x.horizon + 1)
    pairs = [(t, k) for t in range(period, x.horizon) for k in steps]
    return every([iff(delay.at_least(t, k), delay.at_least(t - period, k)) for t, k in pairs])
