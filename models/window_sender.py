"""Window senders: the laws by which they send, detect losses, and observe their path (docs/reference/stateful.md)."""

from dataclasses import replace
from enum import Enum
from functools import cache, partial

from ccmatic.contracts import BYTES, CONDITION, IDLE, RATE, TIME, Column, Observation
from ccmatic.logic import choice, either, equal, every, implies, is_max, no, some

#: The longest delay, in steps, that the laws of repeating executions distinguish.
LONGEST = 32


class LossDetection(Enum):
    """The method by which senders detect losses. As for all options here, the values are the words in models' names.

    Attributes:
        DUPLICATE_ACKS: Senders detect a loss by a timeout, or once enough bytes beyond the loss are acknowledged.
        ORACLE: Senders learn of each loss R_m after it happened.
    """

    DUPLICATE_ACKS = "dupacks"
    ORACLE = "oracle"


class Timer(Enum):
    """The situations in which the retransmission timer fires.

    Attributes:
        PUBLISHED: The timer fires whenever the queue is empty and a loss has ever happened. In a step with a timeout,
            no byte is lost.
        UNDETECTED_LOSS: The timer fires when the queue is empty and a loss is undetected, as on real paths.
    """

    PUBLISHED = "published"
    UNDETECTED_LOSS = "executions"


class Start(Enum):
    """The step at which traces start.

    Attributes:
        ORIGIN: A trace starts where the count of served bytes is 0.
        ANYWHERE: A trace starts at any step of an execution.
    """

    ORIGIN = "origin"
    ANYWHERE = "anywhere"


class InitialBytes(Enum):
    """The bytes that count as older than the trace. Senders cannot know the delay of these bytes.

    Attributes:
        ADMITTED: Bytes sent before the trace and not lost.
        SENT: All bytes sent before the trace.
    """

    ADMITTED = "admitted"
    SENT = "sent"


def senders(model, x, flow):
    """Yield the laws of one flow's sender, and the laws about the flow's bytes."""
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


def idle(flows, number):
    """Return the column of the application's pauses for flow `number` of `flows`; the first flow has number 1."""
    return replace(IDLE, name=f"{IDLE.name}{number if flows > 1 else ''}")


def dupack_losses(flows, number):
    """Return the column of losses that duplicate acknowledgements detect, for flow `number` (from 1)."""
    name = f"found{number if flows > 1 else ''}"
    return Column(name, BYTES, "bytes detected as lost by duplicate acknowledgements")


def echoed_marks(flows, number):
    """Return the column of bytes delivered with a mark, for flow `number` from 1 to `flows`."""
    return Column(f"echoed{number if flows > 1 else ''}", BYTES, "bytes delivered with a mark")


def carried_marks(flows, number):
    """Return the column of bytes in the network with a mark, for flow `number` from 1 to `flows`."""
    return Column(f"carried{number if flows > 1 else ''}", BYTES, "bytes in the network with a mark", level=True)


def timeout(flow, t):
    """Return the condition that an ideal retransmission timer fires at t.

    The timer fires if all bytes sent by t - R_m have been served or lost, and some of these bytes were not served. The
    published timer fires whenever the queue is empty after some loss. If the model has a column for losses that
    duplicate acknowledgements detect, the timer fires whenever no bytes are in flight and a loss is undetected.
    """
    if t < flow.R:
        return False
    then, by_acks = t - flow.R, _losses_by_acks(flow)
    empty = equal(flow.S[then], flow.admitted(then))
    if by_acks is None:
        return every(flow.S[then] < flow.A[t - 1], empty)
    unknown = every(flow.Ld[t - 1] < flow.L[then], by_acks[t] < flow.L[then])
    return every(empty, equal(flow.A[t - 1], flow.A[then]), unknown)


def _losses_by_acks(flow):
    """Return the column of losses that duplicate acknowledgements detect; None if the model has no such column."""
    x = flow.network
    return x.own.get(dupack_losses(len(x.flows), flow.number).name)


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
    """Yield the law of sending: A(t) = max(A(t-1), min(S(t-R) + Ld(t) + cwnd(t), A(t-1) + r(t))), where R is R_m.

    If the application had nothing to send during a part of the step, this value is only an upper bound on A(t).

    The published law is min(max(A(t-1), …), A(t-1) + r(t)). The published law has no solution if r(t) < 0. In ccmatic's
    law, a sender with a negative rate sends no bytes. Up to the start of an execution, and in the first R_m of
    a trace, a sender may send anything.
    """
    for t in range(max(flow.history + 1, flow.R), flow.horizon):
        allowed = flow.S[t - flow.R] + flow.Ld[t] + flow.cwnd[t]
        before, paced = flow.A[t - 1], flow.A[t - 1] + flow.r[t]
        within = some(flow.A[t] <= before, every(flow.A[t] <= paced, flow.A[t] <= allowed))
        full = some(flow.limited[t], flow.A[t] >= paced, flow.A[t] >= allowed)
        yield "sends_by_window_and_rate", t, every(within, full)


def _detection(flow, dupacks):
    """Yield the laws of loss detection, by the acknowledgement of `dupacks` bytes beyond a loss or by a timeout."""
    R = flow.R
    for t in range(R, flow.horizon):
        late = timeout(flow, t)
        yield "detected_after_R_m", t, flow.Ld[t] <= flow.L[t - R]
        yield "timeout_detects_all", t, implies(late, equal(flow.Ld[t], flow.L[t]))
        for reached, lost in sent_before(flow, t, dupacks):
            yield "detected_by_dupacks", t, implies(every(no(late), reached), flow.Ld[t] >= lost)
            yield "not_detected_before_dupacks", t, implies(every(no(late), no(reached)), flow.Ld[t] <= lost)
        if _is_last_period(flow, t):
            yield "detected_in_the_end", t, some(late, _may_be_detected(flow, t, dupacks, flow.Ld))


def _detection_of_executions(flow, dupacks):
    """Yield the laws of loss detection in real executions: `dupacks` bytes acknowledged beyond a loss, or a timeout.

    A sender needs at least R_m to detect a loss. A loss that a timeout has detected remains detected.
    """
    R, by_acks = flow.R, _losses_by_acks(flow)
    for t in range(flow.horizon):
        yield "found_is_detected", t, every(by_acks[t] >= (by_acks[t - 1] if t else 0), by_acks[t] <= flow.Ld[t])
    for t in range(R, flow.horizon):
        late, lost = timeout(flow, t), flow.L[t - R]
        yield "timeout_detects_all", t, implies(late, equal(flow.Ld[t], lost))
        either_way = is_max(flow.Ld[t], (True, flow.Ld[t - 1]), (True, by_acks[t]))
        yield "detected_by_either", t, some(late, either_way)
        yield "detected_after_R_m", t, flow.Ld[t] <= lost
        for reached, lost in sent_before(flow, t, dupacks):
            yield "detected_by_dupacks", t, implies(reached, by_acks[t] >= lost)
            yield "not_detected_before_dupacks", t, implies(no(reached), by_acks[t] <= lost)
        if _is_last_period(flow, t):
            yield "detected_in_the_end", t, _may_be_detected(flow, t, dupacks, by_acks)


def sent_before(flow, t, dupacks):
    """Yield (condition, bytes) for each step at least R_m before t.

    The condition states that by step t, enough bytes are acknowledged that were sent after that step. The number
    counts the bytes that were lost by that step. If the execution repeats and some bytes of the flow are served, the
    steps include steps before the trace.
    """
    reaches = _is_last_period(flow, t) and flow.network.beta is not None
    for u in range(-LONGEST if reaches else 0, t - flow.R + 1):
        lost = _before(flow, flow.L, u)
        if u < 0 and _losses_by_acks(flow) is not None:
            lost = choice(_is_starved(flow), flow.L[0], lost)
        yield _admitted_before(flow, u) + dupacks <= flow.S[t - flow.R], lost


def _may_be_detected(flow, t, dupacks, detected):
    """Return the condition that the sender may have detected all losses before the steps of `sent_before`.

    Enough bytes beyond the first of these steps must be acknowledged. If a period has no losses and the flow still
    sends, all earlier losses are detected. If all sent bytes are lost, acknowledgements detect no loss, and only
    timeouts detect losses.
    """
    loses = flow.L[flow.period] > flow.L[0]
    sends = flow.admitted(flow.period) > flow.admitted(0)
    reached = _admitted_before(flow, -LONGEST) + dupacks <= flow.S[t - flow.R]
    if _losses_by_acks(flow) is not None:
        reached = either(_is_starved(flow), detected[t] < flow.L[0], reached)
    return either(loses, reached, implies(sends, detected[t] >= flow.L[t]))


def _is_starved(flow):
    """Return the condition that a flow is starved: it loses all bytes sent, so no byte is served in a period."""
    return every(flow.S[flow.period] <= flow.S[0], flow.L[flow.period] > flow.L[0])


def _is_last_period(flow, t):
    """Return whether t is in the last period. The laws of this period imply those of every other period."""
    return bool(flow.period) and t >= flow.horizon - flow.period


@cache
def observations(before, own):
    """Return the names that a controller may read in addition to its state and the constants.

    Args:
        before: The bytes that `before_trace` counts as older than the trace.
        own: Whether a flow observes only the delays of its own bytes.
    """
    old, first, is_old = partial(_before_trace, before, own), partial(_older, before, own), partial(_is_old, own)
    delay = _own_delay if own else _delay
    readable = (
        Observation("step", TIME, "the time of a step", lambda flow, t: 1, constant=True),
        Observation(
            "line_rate",
            RATE,
            "the rate of its own interface, which limits nothing",
            lambda flow, t: flow.unlimited,
            constant=True,
        ),
        Observation("second", TIME, "a second; here it equals R_m, a real sender measures it", _second, constant=True),
        Observation("time", TIME, "time since the trace began", lambda flow, t: t, dated=True),
        Observation("acked", BYTES, "bytes acknowledged", _acked),
        Observation("ack_rate", RATE, "bytes acknowledged per second over the last R_m", _ack_rate),
        Observation("sent", BYTES, "bytes sent by the step before", lambda flow, t: flow.A[t - 1] if t else None),
        Observation("lost", BYTES, "bytes detected as lost", lambda flow, t: flow.Ld[t]),
        Observation("marked", BYTES, "bytes acknowledged with a mark; 0 on networks that mark nothing", _marked),
        Observation(
            "app_limited", CONDITION, "the application had nothing to send for a part of the step before", _app_limited
        ),
        Observation("timeout", CONDITION, "the retransmission timer fires", _timer),
        Observation(
            "delay",
            TIME,
            "the delay of the last byte acknowledged, in whole steps",
            delay,
            few=True,
            beyond=partial(_waited_longer, own),
            longest=LONGEST,
            unbounded=_most_waited,
            first=None if own else partial(_older, InitialBytes.ADMITTED, own),
            concerns=None if own else _may_be_unknown,
        ),
        Observation("measured", CONDITION, "a delay was measured in this step", partial(_measured, own)),
        Observation(
            "before_trace",
            CONDITION,
            "the acknowledged bytes were sent before the trace began",
            old,
            dated=True,
            first=first,
            concerns=is_old,
        ),
        Observation("served", BYTES, "bytes served by the step before, acknowledged or not", _served),
        Observation("admitted", BYTES, "bytes sent and not lost, detected or not", lambda flow, t: flow.admitted(t)),
    )
    return {each.name: each for each in readable}


def _second(flow, t):
    return flow.R


def _timer(flow, t):
    """Return the condition that the timer fires.

    The result is None in the first R_m if bytes from before the trace may trigger the timer.
    """
    return None if t < flow.R and _losses_by_acks(flow) is not None else timeout(flow, t)


def _app_limited(flow, t):
    """Return whether the application limited the sender in the step before; unknown if that is the trace's first step.

    On a network without pauses, the answer is always known, so that no decision waits for it.
    """
    return flow.limited[t - 1] if t > 1 or (t == 1 and flow.limited[0] is False) else None


def _acked(flow, t):
    return flow.S[t - flow.R] if t >= flow.R else None


def _marked(flow, t):
    x = flow.network
    echoed = x.own.get(echoed_marks(len(x.flows), flow.number).name)
    return (echoed[t - flow.R] if echoed else 0) if t >= flow.R else None


def _ack_rate(flow, t):
    return (flow.S[t - flow.R] - flow.S[t - 2 * flow.R]) / flow.R if t >= 2 * flow.R else None


def _served(flow, t):
    return flow.S[t - 1] if t else None


def _measured(own, flow, t):
    x, then = flow if own else flow.network, t - flow.R
    return x.S[then] > x.S[then - 1] if then > 0 else None


def _before_trace(before, own, flow, t):
    x = flow if own else flow.network
    old = _is_old(own, flow, t, _older(before, own, flow))
    return every(no(_is_served(x)), old) if x.period and old is not None else old


def _older(before, own, flow):
    """Return the number of bytes that count as older than the trace."""
    x = flow if own else flow.network
    return x.A[0] if before is InitialBytes.SENT else x.admitted(0)


def _is_old(own, flow, t, first):
    """Return the condition that the last acknowledged byte is one of the first bytes."""
    x, then = flow if own else flow.network, t - flow.R
    return None if then < 0 else x.S[then] < first


def _may_be_unknown(flow, t, first):
    """Return the condition that the delay of the last acknowledged byte may be unknown."""
    return None if t < flow.R else flow.network.S[t - flow.R] <= first


def _delay(flow, t):
    then = t - flow.R
    if then < 0 or flow.Q is None:
        return None
    within = [(flow.Q.exactly(then, k), k) for k in range(flow.horizon)]
    within += [(flow.Q.exactly(then, k + 1), k) for k in range(flow.horizon, flow.Q.longest)]
    return _repeated(flow.network, then, within) if flow.period else within


def _most_waited(flow):
    """Return the delay of initial bytes that stands for all longer delays, too; None if no delay does."""
    return None if flow.Q is None or flow.Q.longest == flow.horizon else flow.Q.longest - 1


def _own_delay(flow, t):
    then = t - flow.R
    if then < 0:
        return None
    within = [(_waited(flow, then, k), k) for k in range(then)]
    return _repeated(flow, then, within) if flow.period else within


def _repeated(x, t, within):
    """Return the delays in an execution that also repeats before the trace.

    So the execution contains the sending of every byte. If a period serves no bytes, the result is `within`, the delays
    within the trace.
    """
    sent = [(_last_served(x, t, partial(_waited_for, x, k)), k) for k in range(LONGEST + 1)]
    return [*sent, *((every(no(_is_served(x)), condition), k) for condition, k in within)]


def _waited_longer(own, flow, t):
    """Return the condition that the delay in a repeating execution exceeds the longest delay that laws distinguish."""
    x, then = flow if own else flow.network, t - flow.R
    longer = _last_served(x, then, lambda at: x.S[at] <= _admitted_before(x, at - LONGEST - 1))
    if own or flow.Q is None or flow.Q.longest == flow.horizon:
        return longer
    return some(longer, every(no(_is_served(x)), flow.Q.at_least(then, flow.Q.longest)))


def _waited_for(x, k, t):
    return every(x.S[t] > _admitted_before(x, t - k - 1), x.S[t] <= _admitted_before(x, t - k))


def _last_served(x, t, what):
    """Return the condition `what` at the latest step up to t in which the link served bytes.

    The condition must have the same value at steps that are one period apart.
    """
    t = t % x.period + x.period  # a step of the second period, so that the trace contains the period before the step
    truth = False
    for at in range(t - x.period + 1, t + 1):
        truth = either(x.S[at] > x.S[at - 1], what(at), truth)
    return truth


def _is_served(x):
    """Return the condition that the link serves some bytes in each period."""
    return x.S[x.period] > x.S[0]


def _admitted_before(x, t):
    """Return the number of bytes that were sent by the end of a step, without lost bytes.

    The step may lie before the trace.
    """
    return _before(x, x.A, t) - _before(x, x.L, t)


def _before(x, column, t):
    """Return a column's value at a step; if the execution repeats, the step may lie before the trace."""
    if t >= 0:
        return column[t]
    periods = -(t // x.period)
    return column[t + periods * x.period] - periods * (column[x.period] - column[0])


def _waited(flow, t, k):
    """Return the condition that the flow's last byte served by t waited k steps, and was sent within the trace."""
    if t == 0:
        return False
    served = flow.S[t] > flow.S[t - 1]
    now = every(flow.S[t] > flow.admitted(t - k - 1), flow.S[t] <= flow.admitted(t - k)) if k < t else False
    return now if served is True else either(served, now, _waited(flow, t - 1, k))
