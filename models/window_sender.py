"""Senders by a window: what they may send, how they find out about losses, and what they observe (docs/stateful.md)."""

from enum import Enum
from functools import cache, partial

from ccmatic.contracts import BYTES, CONDITION, RATE, TIME, Column, Observation
from ccmatic.logic import choice, either, equal, every, implies, is_max, no, some

#: In steps: delays of an execution that repeats itself are told apart up to this one.
LONGEST = 32


class LossDetection(Enum):
    """How senders detect losses. Values are the words in models' names, as of all options here.

    DUPLICATE_ACKS: bytes acknowledged beyond a lost one, or a timeout. ORACLE: they know of each loss after R_m.
    """

    DUPLICATE_ACKS = "dupacks"
    ORACLE = "oracle"


class Timer(Enum):
    """When the retransmission timer fires.

    PUBLISHED: whenever the queue is empty after any loss, and then nothing is lost. UNDETECTED_LOSS: when the queue is
    empty and a loss is not detected, as in executions.
    """

    PUBLISHED = "published"
    UNDETECTED_LOSS = "executions"


class Start(Enum):
    """Where traces start. ORIGIN: service is counted from 0. ANYWHERE: a trace starts at any step of an execution."""

    ORIGIN = "origin"
    ANYWHERE = "anywhere"


class InitialBytes(Enum):
    """Which bytes count as older than the trace, for senders that cannot know their delay.

    ADMITTED: those sent before it and not lost. SENT: all that were sent before it.
    """

    ADMITTED = "admitted"
    SENT = "sent"


def senders(model, x, flow):
    """The laws of one flow's sender, and of what becomes of its bytes."""
    yield from _bytes(model, flow)
    yield from _sending(flow)
    if model.dupacks is None:
        yield "dupacks", 0, x.constants.get("dupacks", 0) >= 0
    if model.detection is LossDetection.ORACLE:
        for t in range(flow.R, flow.horizon):
            yield "loss_detected_at_once", t, equal(flow.Ld[t], flow.L[t - flow.R])
        return
    dupacks = x.constants["dupacks"] if model.dupacks is None else model.dupacks * flow.alpha
    detection = _detection if model.timer is Timer.PUBLISHED else _detection_of_executions
    yield from detection(flow, dupacks)


def found_losses(flows, number):
    """The column of what duplicate acknowledgements find, of one of so many flows, from 1."""
    name = f"found{number if flows > 1 else ''}"
    return Column(name, BYTES, "bytes found to be lost by duplicate acknowledgements")


def timeout(flow, t):
    """An ideal timeout: all that was sent R_m ago was served or lost by then, and some of what was sent was not served.
    It fires, as published, whenever the queue is empty after any loss ever; where what duplicate acknowledgements find
    is a column, whenever nothing is on its way and a loss was not found."""
    if t < flow.R:
        return False
    then, by_acks = t - flow.R, _found(flow)
    empty = equal(flow.S[then], flow.admitted(then))
    if by_acks is None:
        return every(flow.S[then] < flow.A[t - 1], empty)
    unknown = every(flow.Ld[t - 1] < flow.L[then], by_acks[t] < flow.L[then])
    return every(empty, equal(flow.A[t - 1], flow.A[then]), unknown)


def _found(flow):
    """What duplicate acknowledgements find; None where the model has no such column."""
    x = flow.network
    return x.own.get(found_losses(len(x.flows), flow.number).name)


def _bytes(model, flow):
    yield "losses_are_counted", 0, every(flow.L[0] >= 0, flow.Ld[0] >= 0)
    if model.begins is Start.ORIGIN:
        yield "origin", 0, equal(flow.S[0], 0)
    for t in range(flow.horizon):
        yield "served_after_sent", t, flow.S[t] <= flow.admitted(t)
        if t:
            columns = (flow.A, flow.Ld, flow.S, flow.L)
            yield "bytes_grow", t, every([column[t] >= column[t - 1] for column in columns])
            if not model.loses_waiting:
                yield "loss_is_of_new_bytes", t, flow.admitted(t) >= flow.admitted(t - 1)


def _sending(flow):
    """A(t) = max(A(t-1), min(S(t-R) + Ld(t) + cwnd(t), A(t-1) + r(t))); acknowledgements take R_m.

    The published law is min(max(A(t-1), …), A(t-1) + r(t)), which no bytes satisfy if r(t) < 0. Here a rate below 0
    sends nothing.
    """
    for t in range(flow.R, flow.horizon):
        allowed = flow.S[t - flow.R] + flow.Ld[t] + flow.cwnd[t]
        before, paced = flow.A[t - 1], flow.A[t - 1] + flow.r[t]
        within = some(flow.A[t] <= before, every(flow.A[t] <= paced, flow.A[t] <= allowed))
        yield "sends_by_window_and_rate", t, every(within, some(flow.A[t] >= paced, flow.A[t] >= allowed))


def _detection(flow, dupacks):
    """A loss is detected by so many bytes acknowledged beyond it, or by a timeout."""
    R = flow.R
    for t in range(R, flow.horizon):
        late = timeout(flow, t)
        yield "detected_after_R_m", t, flow.Ld[t] <= flow.L[t - R]
        yield "timeout_detects_all", t, implies(late, equal(flow.Ld[t], flow.L[t]))
        for reached, lost in _sent_before(flow, t, dupacks):
            yield "detected_by_dupacks", t, implies(every(no(late), reached), flow.Ld[t] >= lost)
            yield "not_detected_before_dupacks", t, implies(every(no(late), no(reached)), flow.Ld[t] <= lost)
        if _is_last_period(flow, t):
            yield "detected_in_the_end", t, some(late, _is_found(flow, t, dupacks, flow.Ld))


def _detection_of_executions(flow, dupacks):
    """A loss is found by so many bytes acknowledged beyond it, or else by a timeout, R_m after it at the earliest. What
    a timeout has found stays found."""
    R, by_acks = flow.R, _found(flow)
    for t in range(flow.horizon):
        yield "found_is_detected", t, every(by_acks[t] >= (by_acks[t - 1] if t else 0), by_acks[t] <= flow.Ld[t])
    for t in range(R, flow.horizon):
        late, lost = timeout(flow, t), flow.L[t - R]
        yield "timeout_detects_all", t, implies(late, equal(flow.Ld[t], lost))
        either_way = is_max(flow.Ld[t], (True, flow.Ld[t - 1]), (True, by_acks[t]))
        yield "detected_by_either", t, some(late, either_way)
        yield "detected_after_R_m", t, flow.Ld[t] <= lost
        for reached, lost in _sent_before(flow, t, dupacks):
            yield "detected_by_dupacks", t, implies(reached, by_acks[t] >= lost)
            yield "not_detected_before_dupacks", t, implies(no(reached), by_acks[t] <= lost)
        if _is_last_period(flow, t):
            yield "detected_in_the_end", t, _is_found(flow, t, dupacks, by_acks)


def _sent_before(flow, t, dupacks):
    """Of each step R_m before t or earlier: that enough bytes beyond it are acknowledged by t, and what was lost by
    it. An execution that repeats itself has such steps before the trace, too, if anything of the flow is served."""
    reaches = _is_last_period(flow, t) and flow.network.beta is not None
    for u in range(-LONGEST if reaches else 0, t - flow.R + 1):
        lost = _before(flow, flow.L, u)
        if u < 0 and _found(flow) is not None:
            lost = choice(_is_starved(flow), flow.L[0], lost)
        yield _admitted_before(flow, u) + dupacks <= flow.S[t - flow.R], lost


def _is_found(flow, t, dupacks, detected):
    """So may all that was lost before the steps of `_sent_before` be: enough bytes beyond the first of them are
    acknowledged. Where nothing is lost in a period, all that ever was is found, if anything is still sent. Where all
    that is sent is lost, acknowledgements find nothing, and timeouts what they do."""
    loses = flow.L[flow.period] > flow.L[0]
    sends = flow.admitted(flow.period) > flow.admitted(0)
    reached = _admitted_before(flow, -LONGEST) + dupacks <= flow.S[t - flow.R]
    if _found(flow) is not None:
        reached = either(_is_starved(flow), detected[t] < flow.L[0], reached)
    return either(loses, reached, implies(sends, detected[t] >= flow.L[t]))


def _is_starved(flow):
    """Nothing of a flow is served in a period, as all that it sends is lost."""
    return every(flow.S[flow.period] <= flow.S[0], flow.L[flow.period] > flow.L[0])


def _is_last_period(flow, t):
    """Of an execution that repeats itself, the laws of every other period follow from those of this one."""
    return bool(flow.period) and t >= flow.horizon - flow.period


@cache
def observations(before, own):
    """What a controller may read besides its state and the constants, by name. before: the InitialBytes of
    `before_trace`. own: delays are those of the flow's own bytes."""
    old = partial(_before_trace, before, own)
    delay = _own_delay if own else _delay
    readable = (
        Observation("step", TIME, "the time of a step", lambda flow, t: 1, constant=True),
        Observation(
            "line_rate", RATE, "of its own interface: limits nothing", lambda flow, t: flow.unlimited, constant=True
        ),
        Observation("second", TIME, "a second: R_m here, measured by a sender that runs", _second, constant=True),
        Observation("time", TIME, "since the trace began", lambda flow, t: t, dated=True),
        Observation("acked", BYTES, "bytes acknowledged", _acked),
        Observation("ack_rate", RATE, "acknowledged in the last R_m, a second", _ack_rate),
        Observation("sent", BYTES, "bytes sent by the step before", lambda flow, t: flow.A[t - 1] if t else None),
        Observation("lost", BYTES, "bytes found to be lost", lambda flow, t: flow.Ld[t]),
        Observation("timeout", CONDITION, "the retransmission timer fires", _timer),
        Observation(
            "delay",
            TIME,
            "whole steps that the last byte acknowledged waited",
            delay,
            few=True,
            beyond=partial(_waited_longer, own),
            longest=LONGEST,
            unbounded=_most_waited,
        ),
        Observation("measured", CONDITION, "a delay was measured in this step", partial(_measured, own)),
        Observation("before_trace", CONDITION, "what is acknowledged was sent before the trace began", old, dated=True),
        Observation("served", BYTES, "bytes served by the step before, acknowledged or not", _served),
        Observation("admitted", BYTES, "bytes sent and not lost, detected or not", lambda flow, t: flow.admitted(t)),
    )
    return {each.name: each for each in readable}


def _second(flow, t):
    return flow.R


def _timer(flow, t):
    """Of executions it may fire in the first R_m, too, for what was sent before the trace: that is not observed."""
    return None if t < flow.R and _found(flow) is not None else timeout(flow, t)


def _acked(flow, t):
    return flow.S[t - flow.R] if t >= flow.R else None


def _ack_rate(flow, t):
    return (flow.S[t - flow.R] - flow.S[t - 2 * flow.R]) / flow.R if t >= 2 * flow.R else None


def _served(flow, t):
    return flow.S[t - 1] if t else None


def _measured(own, flow, t):
    x, then = flow if own else flow.network, t - flow.R
    return x.S[then] > x.S[then - 1] if then > 0 else None


def _before_trace(before, own, flow, t):
    x, then = flow if own else flow.network, t - flow.R
    if then < 0:
        return None
    old = x.S[then] < (x.A[0] if before is InitialBytes.SENT else x.admitted(0))
    return every(no(_is_served(x)), old) if x.period else old


def _delay(flow, t):
    then = t - flow.R
    if then < 0 or flow.Q is None:
        return None
    within = [(flow.Q.exactly(then, k), k) for k in range(flow.horizon)]
    within += [(flow.Q.exactly(then, k + 1), k) for k in range(flow.horizon, flow.Q.longest)]
    return _repeated(flow.network, then, within) if flow.period else within


def _most_waited(flow):
    """A delay of bytes that waited at first that stands for longer ones as well."""
    return None if flow.Q is None or flow.Q.longest == flow.horizon else flow.Q.longest - 1


def _own_delay(flow, t):
    then = t - flow.R
    if then < 0:
        return None
    within = [(_waited(flow, then, k), k) for k in range(then)]
    return _repeated(flow, then, within) if flow.period else within


def _repeated(x, t, within):
    """The delays of an execution that repeated itself before the trace, too, so that each byte was sent in it. Of one
    that serves nothing in a period: `within`, as the trace has them."""
    sent = [(_last_served(x, t, partial(_waited_for, x, k)), k) for k in range(LONGEST + 1)]
    return [*sent, *((every(no(_is_served(x)), condition), k) for condition, k in within)]


def _waited_longer(own, flow, t):
    """The delay of an execution that repeats itself is longer than any that is told apart."""
    x, then = flow if own else flow.network, t - flow.R
    longer = _last_served(x, then, lambda at: x.S[at] <= _admitted_before(x, at - LONGEST - 1))
    if own or flow.Q is None or flow.Q.longest == flow.horizon:
        return longer
    return some(longer, every(no(_is_served(x)), flow.Q.at_least(then, flow.Q.longest)))


def _waited_for(x, k, t):
    return every(x.S[t] > _admitted_before(x, t - k - 1), x.S[t] <= _admitted_before(x, t - k))


def _last_served(x, t, what):
    """What is true of the last step by t in which something was served. Of steps a period apart the same is true."""
    t = t % x.period + x.period
    truth = False
    for at in range(t - x.period + 1, t + 1):
        truth = either(x.S[at] > x.S[at - 1], what(at), truth)
    return truth


def _is_served(x):
    """Something is served in each period."""
    return x.S[x.period] > x.S[0]


def _admitted_before(x, t):
    """What was sent and not lost by a step that may be before the trace."""
    return _before(x, x.A, t) - _before(x, x.L, t)


def _before(x, column, t):
    """A column at a step that may be before the trace, if the execution repeats itself."""
    if t >= 0:
        return column[t]
    periods = -(t // x.period)
    return column[t + periods * x.period] - periods * (column[x.period] - column[0])


def _waited(flow, t, k):
    """The last byte of a flow served by t had waited k steps, and came after the trace began."""
    if t == 0:
        return False
    served = flow.S[t] > flow.S[t - 1]
    now = every(flow.S[t] > flow.admitted(t - k - 1), flow.S[t] <= flow.admitted(t - k)) if k < t else False
    return now if served is True else either(served, now, _waited(flow, t - 1, k))
