"""What a link decides of each packet, again, in exact arithmetic: so that a run's log can be checked.

emulator.c decides the same, packet by packet, while it runs.
"""

from bisect import bisect_right
from operator import itemgetter

from ccmatic.emulation.link import MS, SECOND
from ccmatic.trace_export import OPPORTUNITY

MASK = 2**64 - 1


def decisions(link, arrivals, sizes, flows=None):
    """For each packet whether it is lost, else when its last byte is admitted and when it is to be released, in ns:
    (lost, admitted, planned), the latter two -1 if it is lost. arrivals: in ns, in order; sizes: in bytes; flows: their
    numbers, by default of none."""
    kind = Curves if link.schedule else Ticks if link.opportunities else VirtualClock
    bottleneck = kind(link)
    propagation = {flow: link.propagation(flow) for flow in range(-1, len(link.rtts))}
    flows = [-1] * len(sizes) if flows is None else [flow if flow in propagation else -1 for flow in map(int, flows)]
    packets = zip(map(int, arrivals), map(int, sizes), flows, strict=True)
    return [_delayed(bottleneck.offer(now, size, flow), propagation[flow]) for now, size, flow in packets]


LOST = (True, -1, -1)


def _delayed(decision, propagation):
    lost, admitted, passed = decision
    return decision if lost else (lost, admitted, passed + propagation)


class VirtualClock:
    """A FIFO of a known rate, which may change, then jitter and propagation.

    It has served all that it accepted at `end` + `rest`/bits ns, where bits are the rate's at that time."""

    def __init__(self, link):
        self.link, self.release = link, Release(link)
        self.end = self.rest = 0

    def offer(self, now, size, flow):
        """The decision on a packet that arrives."""
        work = size * 8 * SECOND
        if self._backlog(now) + work > self.link.buffer * 8 * SECOND:
            return LOST
        if self.end < now:
            self.end, self.rest = now, 0
        self._serve(work)
        admitted = self.end + (self.rest > 0)
        return False, admitted, self.release.after(admitted, flow)

    def _backlog(self, now):
        """What is accepted and not served, in bits · 10^-9."""
        return self.link.capacity(now, self.end) + self.rest if now <= self.end else 0

    def _serve(self, work):
        for (_, bits), (until, _) in zip(self.link.rates, [*self.link.rates[1:], (None, None)], strict=True):
            if until is not None and until <= self.end:
                continue
            if until is None or work < (until - self.end) * bits - self.rest:
                span, self.rest = divmod(work + self.rest, bits)
                self.end += span
                return
            work -= (until - self.end) * bits - self.rest
            self.end, self.rest = until, 0


class Ticks:
    """A FIFO that serves at opportunities, then jitter and propagation."""

    def __init__(self, link):
        self.link, self.opportunities, self.release = link, link.opportunities, Release(link)
        self.taken = 0

    def offer(self, now, size, flow):
        """The decision on a packet that arrives. `taken`: bytes that the opportunities carry which are over or which
        accepted packets take."""
        over = self.opportunities.by(now // MS) * OPPORTUNITY
        waiting = max(0, self.taken - over)
        if waiting + size > self.link.buffer:
            return LOST
        self.taken = over + waiting + size
        admitted = self.opportunities.instant(-(-self.taken // OPPORTUNITY)) * MS
        return False, admitted, self.release.after(admitted, flow)


class Release:
    """When packets of a flow that are admitted are let go, in order, at most D later."""

    def __init__(self, link):
        self.jitter, self.state, self.last, self.holds = link.jitter, link.seed, 0, link.holds
        self.after = getattr(self, f"_{link.pattern}")

    def _none(self, admitted, flow):
        return admitted

    def _uniform(self, admitted, flow):
        self.last = max(self.last, admitted + self._below(self.jitter + 1))
        return self.last

    def _aggregation(self, admitted, flow):
        while self.last < admitted:
            self.last += 1 + self._below(self.jitter)
        return self.last

    def _own(self, admitted, flow):
        if not 0 <= flow < len(self.holds.boxes):
            return admitted
        box, within = self.holds.boxes[flow], admitted % self.holds.period
        after = bisect_right(box, within, key=itemgetter(0))
        (start, first), (end, last) = box[after - 1], box[after]
        return admitted - within + first + (last - first) * (within - start) // (end - start)

    def _below(self, bound):
        """A random number below the bound: SplitMix64 (Steele, Lea, Flood, 2014)."""
        self.state = z = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        return (z ^ (z >> 31)) * bound >> 64


class Curves:
    """A schedule: a packet is admitted, and released, when the curve reaches the position of its last byte among all
    accepted ones."""

    def __init__(self, link):
        self.buffer = link.buffer
        self.segments = link.schedule.segments(link.rates[0][1])
        self.accepted = self.here = 0
        self.at = {"admitted": 0, "served": 0}

    def offer(self, now, size, flow):
        """The decision on a packet that arrives."""
        segments = self.segments
        while self.here + 1 < len(segments) and segments[self.here + 1][0] <= now:
            self.here += 1
        start, admitted, _, length, gain, _ = segments[self.here]
        if (admitted + self.buffer - self.accepted - size) * length + gain * (now - start) < 0:
            return LOST
        self.accepted += size
        return False, max(now, self._reached("admitted", 1)), max(now, self._reached("served", 2))

    def _reached(self, curve, column):
        """The first whole ns at which all accepted bytes are below the curve."""
        segments, i = self.segments, self.at[curve]
        while i + 1 < len(segments) and segments[i + 1][column] < self.accepted:
            i += 1
        self.at[curve] = i
        start, length, value, gain = segments[i][0], segments[i][3], segments[i][column], segments[i][column + 3]
        return start if self.accepted <= value else start - (-(self.accepted - value) * length // gain)
