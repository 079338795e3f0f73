"""The exact check of a recording. From the scenario and the log alone, the check decides again what the path may do.

The path in C decides packet by packet with a virtual clock. This check uses curves instead. `served(t)` is the work
that the link can do by the instant t. A packet leaves the bottleneck at the first ns by which the link can have served
this packet and all earlier packets. Work is counted in bytes times PERIOD, because a link of r bits per second then
does r units of work in a ns.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from ccmatic import records
from ccmatic.judging.scenario import SECOND, Scenario

#: The ns in which a link of r bits per second serves r bytes.
PERIOD = 8 * SECOND

#: The fates of packets (`lost` in the log).
KEPT, FULL, CHANCE, POLICED, PLANNED = range(5)


def faults(recording: Any) -> Iterator[str]:
    """Yield the first fault of each kind: of records, of the bottleneck, of the jitter box, and of replies."""
    packets, s = recording.packets.tolist(), recording.scenario
    if fault := next(_malformed(s, packets, recording.replies.tolist()), None):
        yield fault
        return
    for check in (
        _bottleneck(s, packets),
        _box(s, packets),
        _plan(s, packets),
        _replies(s, recording.replies.tolist()),
    ):
        if fault := next(check, None):
            yield fault


def _malformed(s: Scenario, packets: Sequence[Any], replies: Sequence[Any]) -> Iterator[str]:
    """Yield the faults of records that no path could write."""
    before = 0
    for number, (arrival, admitted, released, size, flow, lost, marked) in enumerate(packets):
        if not before <= arrival < s.duration:
            yield f"packet {number} arrives at {arrival} ns; expected from {before} ns on, within the run"
        if not 1 <= size <= s.packet:
            yield f"packet {number} has {size} bytes; expected 1 to {s.packet}"
        if not 0 <= flow < len(s.flows) or arrival < s.flows[flow].start:
            yield f"packet {number} belongs to flow {flow}, which does not send at {arrival} ns"
        if not (KEPT <= lost <= PLANNED and 0 <= marked <= 2):
            yield f"packet {number} has the fate {lost} and the mark {marked}; expected 0 to 4, and 0 to 2"
        if lost and (admitted, released, marked) != (-1, -1, 0):
            yield f"packet {number} is lost, and yet leaves the bottleneck or has a mark"
        if released >= s.duration or released < -1:
            yield f"packet {number} reaches the receiver at {released} ns; expected within the run, or -1"
        before = arrival
    before = 0
    for number, (sent, _, size, flow, _) in enumerate(replies):
        if not before <= sent < s.duration or not 0 <= flow < len(s.flows) or size < 1:
            yield f"reply {number} of flow {flow} leaves at {sent} ns with {size} bytes; expected order, and the run"
        before = sent


# ---- the bottleneck ----


class Curve:
    """The work that a link can do by each instant, and its buffer, as the events of a scenario change them."""

    def __init__(self, s: Scenario) -> None:
        changes = [(0, s.rate)] + [(e.at, e.bits) for e in s.events if isinstance(e, records.RateEvent)]
        outages = [(e.at, e.at + e.length) for e in s.events if isinstance(e, records.OutageEvent)]
        self._times = sorted({time for time, _ in changes} | {time for outage in outages for time in outage})
        self._rates = [
            0
            if any(begin <= time < end for begin, end in outages)
            else [rate for at, rate in changes if at <= time][-1]
            for time in self._times
        ]
        spans = [(end - begin) * rate for (begin, end), rate in zip(pairwise(self._times), self._rates, strict=False)]
        self._work = [0, *accumulate(spans)]
        self._buffers = [(-1, s.buffer)] + [(e.at, e.bytes) for e in s.events if isinstance(e, records.BufferEvent)]

    def served(self, time: int) -> int:
        """Return the work that the link can do by an instant."""
        place = bisect_right(self._times, time) - 1
        return self._work[place] + (time - self._times[place]) * self._rates[place]

    def reached(self, work: int) -> int:
        """Return the first instant by which the link can do an amount of work, which is above 0."""
        place = bisect_left(self._work, work) - 1
        return self._times[place] - (self._work[place] - work) // self._rates[place]

    def rate(self, time: int) -> int:
        """Return the rate in bits per second at an instant."""
        return self._rates[bisect_right(self._times, time) - 1]

    def changes(self) -> list[int]:
        """Return the instants at which the rate or the buffer changes, in order."""
        return sorted({*self._times, *(time for time, _ in self._buffers)} - {-1, 0})

    def buffer(self, time: int) -> int:
        """Return the buffer for a packet that arrives at an instant."""
        return self._buffers[bisect_left(self._buffers, (time, 0)) - 1][1]


def _bottleneck(s: Scenario, packets: Sequence[Any]) -> Iterator[str]:
    """Yield packets whose fate, mark, or departure from the bottleneck differs from that of the scenario's link."""
    curve, planned = Curve(s), _Planned(s)
    policer = _Tokens(s.policer.bits, s.policer.bucket) if s.policer else None
    chance = _Allowance(s.loss.share, s.loss.burst * s.packet) if s.loss and s.loss.share else None
    threshold = None if s.threshold is None else s.threshold * PERIOD
    end = 0  # the work by which all accepted packets are served
    for number, (arrival, admitted, _, size, _, lost, marked) in enumerate(packets):
        backlog = max(0, end - curve.served(arrival)) + size * PERIOD
        buffer = curve.buffer(arrival)
        if planned.loses(arrival):
            expected = PLANNED
        elif policer and not policer.passes(arrival, size):
            expected = POLICED
        elif chance and not chance.allows(size, lost == CHANCE):
            yield f"packet {number} is lost by chance, which has lost its share already"
            return
        elif lost == CHANCE and chance:
            expected = CHANCE
        else:
            expected = FULL if backlog > buffer * PERIOD else KEPT
        if lost != expected:
            yield f"packet {number} has the fate {lost}; expected {expected}, with {backlog // PERIOD} bytes waiting"
            return
        if lost:
            continue
        end = curve.served(arrival) + backlog
        leaves = curve.reached(end)
        if admitted != leaves:
            yield f"packet {number} leaves the bottleneck at {admitted} ns; expected {leaves} ns"
            return
        if (marked != 0) != (threshold is not None and backlog > threshold):
            yield f"packet {number} has the mark {marked}, with {backlog // PERIOD} bytes waiting"
            return


class _Planned:
    def __init__(self, s: Scenario) -> None:
        self._events = [(e.at, e.packets) for e in s.events if isinstance(e, records.LossEvent)][::-1]
        self._left = 0

    def loses(self, arrival: int) -> bool:
        """Return whether the packet that arrives next is lost."""
        while self._events and self._events[-1][0] <= arrival:
            self._left += self._events.pop()[1]
        if not self._left:
            return False
        self._left -= 1
        return True


class _Tokens:
    """A policer's bucket, which is full at first."""

    def __init__(self, bits: int, bucket: int) -> None:
        self._bits, self._most, self._tokens, self._time = bits, bucket * PERIOD, bucket * PERIOD, 0

    def passes(self, arrival: int, size: int) -> bool:
        """Return whether the bucket has tokens for a packet. If it has, take them."""
        self._tokens = min(self._most, self._tokens + (arrival - self._time) * self._bits)
        self._time = arrival
        if size * PERIOD > self._tokens:
            return False
        self._tokens -= size * PERIOD
        return True


class _Allowance:
    """The bytes that chance may lose: a share of the bytes that arrive, and a burst, which it may have at first."""

    def __init__(self, share: Fraction, burst: int) -> None:
        self._share, self._burst = share, burst
        self._left = Fraction(burst)

    def allows(self, size: int, lost: bool) -> bool:
        """Count a packet. Return False if the packet is lost although the allowance is used up."""
        self._left = min(Fraction(self._burst), self._left + self._share * size)
        self._left -= size if lost else 0
        return self._left >= 0


# ---- the jitter box ----


def propagations(s: Scenario) -> Any:
    """Return a function that maps a flow and an instant of departure from the bottleneck to R_m, in ns."""
    growths = [(e.at, e.rtt - s.rtt) for e in s.events if isinstance(e, records.RttEvent)]
    times, own = [at for at, _ in growths], [flow.rtt or s.rtt for flow in s.flows]

    def propagation(flow: int, admitted: int) -> int:
        place = bisect_left(times, admitted)
        return max(0, own[flow] + (growths[place - 1][1] if place else 0))

    return propagation


def _box(s: Scenario, packets: Sequence[Any]) -> Iterator[str]:
    """Yield packets that the box holds for longer than D, or that overtake others."""
    propagation = propagations(s)
    received, box = [0] * len(s.flows), 0
    for number, (_, admitted, released, _, flow, lost, _) in enumerate(packets):
        if lost:
            continue
        rtt = propagation(flow, admitted)
        latest = max(admitted + s.jitter + rtt, received[flow])  # a packet waits for earlier packets if R_m shrinks
        if released == -1:
            if latest < s.duration:
                yield f"packet {number} never reaches the receiver; expected at most {s.jitter} ns in the jitter box"
                return
            received[flow] = s.duration
            continue
        if released < received[flow]:
            yield f"packet {number} overtakes the one before it in flow {flow}, at {released} ns"
            return
        left = released - rtt
        if released == received[flow]:  # the packet waited behind the box, so it may have left the box earlier
            left = min(left, max(admitted, box))
        if left > admitted + s.jitter:
            yield f"packet {number} stays in the jitter box for {left - admitted} ns; expected at most D, {s.jitter} ns"
            return
        if left < admitted:
            yield f"packet {number} leaves the jitter box at {left} ns, before the bottleneck, {admitted} ns"
            return
        if left < box:
            yield f"packet {number} overtakes another in the jitter box, at {left} ns"
            return
        received[flow], box = released, left


def _plan(s: Scenario, packets: Sequence[Any]) -> Iterator[str]:
    """Yield packets that reach the receiver at another instant than the scenario's holds and spacing imply."""
    propagation = propagations(s)
    holds = [(e.at, e.at + e.length) for e in s.events if isinstance(e, records.HoldEvent)]
    starts = [begin for begin, _ in holds]
    own: list[int | None] = [None] * len(s.flows)
    received, box = [0] * len(s.flows), 0
    for number, (_, admitted, released, _, flow, lost, _) in enumerate(packets):
        if lost:
            continue
        place, last = bisect_right(starts, admitted), own[flow]
        wish = max(admitted, holds[place - 1][1] if place and admitted < holds[place - 1][1] else 0)
        spaced = wish if last is None else max(wish, last + s.spacing)
        box = max(box, min(spaced, admitted + s.jitter))
        own[flow] = box
        received[flow] = max(received[flow], box + propagation(flow, admitted))
        expected = received[flow] if received[flow] < s.duration else -1
        if released != expected:
            yield f"packet {number} reaches the receiver at {released} ns; expected {expected} ns by the scenario"
            return


# ---- replies ----


def _replies(s: Scenario, replies: Sequence[Any]) -> Iterator[str]:
    """Yield replies that reach the sender at another instant than the scenario implies."""
    events = [e for e in s.events if isinstance(e, records.AcksEvent)]
    starts, reported = [e.at for e in events], [0] * len(s.flows)
    for number, (sent, arrived, _, flow, _) in enumerate(replies):
        place, expected = bisect_right(starts, sent), sent
        event = events[place - 1] if place and sent < events[place - 1].at + events[place - 1].length else None
        if event and event.aggregate:
            expected = event.at + ((sent - event.at) // event.aggregate + 1) * event.aggregate
        if event and event.lose and (number + 1) % event.lose == 0:
            expected = -1
        else:
            expected = reported[flow] = max(expected, reported[flow])
            expected = expected if expected < s.duration else -1
        if arrived != expected:
            yield f"reply {number} reaches the sender at {arrived} ns; expected {expected} ns by the scenario"
            return
