"""The link of a schedule, packet by packet, in exact arithmetic, and what must be true of it: written from
docs/reference/export.md and docs/reference/encoding.md alone."""

from bisect import bisect_left, bisect_right
from fractions import Fraction
from itertools import pairwise

from ccmatic.networks.trace_export import export
from support.links import Flow, crossings, read_schedule


class Curve:
    """Cumulative bytes through points (seconds, bytes); before and after them at a rate."""

    def __init__(self, points, rate):
        (start, low), (end, high) = points[0], points[-1]
        far = 10**6
        self.points = [(start - far, low - far * rate), *points, (end + far, high + far * rate)]
        self.times, self.values = zip(*self.points, strict=True)

    def at(self, now):
        """Its value."""
        after = bisect_right(self.times, now)
        (t, low), (u, high) = self.points[after - 1 : after + 1]
        return low + (now - t) / (u - t) * (high - low)

    def reaches(self, value):
        """The first instant at which it is so high."""
        after = bisect_left(self.values, value)
        (t, low), (u, high) = self.points[after - 1 : after + 1]
        return t + (value - low) / (high - low) * (u - t)


class ScheduledLink:
    """What becomes of packets that arrive at a link that follows a schedule: `lost` says of each if it is;
    `released` when the others leave."""

    def __init__(self, text, arrivals):
        self.head, points = read_schedule(text)
        self.points, self.packet = points, int(self.head["packet"])
        buffer = self.head["buffer"]
        self.buffer = None if buffer == "infinite" else int(buffer)
        self.rate = Fraction(self.head["rate"])
        self.admits, self.serves = (Curve([(at, each[n]) for at, *each in points], self.rate) for n in (0, 1))
        self.arrivals, self.lost, self.came, self.released = arrivals, [], [], []
        for now in arrivals:
            end = (len(self.came) + 1) * self.packet
            self.lost.append(self.buffer is not None and end - self.admits.at(now) > self.buffer)
            if not self.lost[-1]:
                self.came.append(now)
                self.released.append(max(now, self.serves.reaches(end)))

    def served(self, now):
        """Bytes that left by an instant."""
        return bisect_right(self.released, now) * self.packet

    def dropped(self, now):
        """Bytes lost by an instant."""
        return sum(self.lost[: bisect_right(self.arrivals, now)]) * self.packet


def check_link(trace, scale):
    """Check that the link of a trace's schedule is lawful for any sender, and matches the trace for the sender of the
    trace.

    Returns the number of packets sent and lost.
    """
    content, _ = export(trace, "schedule", scale, allow_code=True)
    flow, step = Flow(trace, scale), scale.rtt / trace.constants["R_m"]
    link = ScheduledLink(content.decode(), list(crossings(flow.sent, scale.packet)))
    jitter = trace.constants["D"] * step
    offered = trace.columns.get("G", range(trace.horizon))
    rates = [Fraction(0), *((after - before) * scale.rate for before, after in pairwise(offered))]
    keeps_the_curves(link, flow, jitter, rates)
    in_order_and_within_jitter(link, jitter)
    drops_what_does_not_fit(link)
    for t, now in enumerate(flow.ends):
        packets = 1 if flow.lost[-1][1] == 0 else 2
        assert link.served(now) <= flow.tokens[t], f"more than the tokens at t={t}"
        assert flow.served[t] - packets * scale.packet - 2 < link.served(now) <= flow.served[t], t
        assert abs(link.dropped(now) - [lost for at, lost in flow.lost if at == now][-1]) < 2 * scale.packet, t
    return len(link.lost), sum(link.lost)


def keeps_the_curves(link, flow, jitter, rates):
    """Tokens come at the link's rate at most, and leave within the jitter; a token is left out where nothing waits.
    rates: of the link, in each step, bytes per second."""
    nanosecond, most = Fraction(1, 10**9), max(rates) * Fraction(2, 10**9) + 2
    for t, (now, admitted, served) in enumerate(link.points):
        assert abs(now - flow.ends[t]) <= nanosecond
        assert served <= admitted <= flow.tokens[t]
        assert served >= link.admits.at(now - jitter) - most, f"a token is held for longer than the jitter at t={t}"
        if t:
            gained, offered = admitted - link.points[t - 1][1], rates[t] * (flow.ends[t] - flow.ends[t - 1])
            assert 0 <= gained <= offered + most
            waits = next(kept for at, kept in flow.through if at == flow.ends[t]) - admitted
            assert gained >= offered - most or waits <= 2, f"a token is wasted while bytes wait at t={t}"


def in_order_and_within_jitter(link, jitter):
    """Each packet leaves after those before it, once it has tokens, and the jitter later at most."""
    assert link.released == sorted(link.released)
    slack = Fraction(4, link.rate) + Fraction(2, 10**9)
    for number, (came, left) in enumerate(zip(link.came, link.released, strict=True), 1):
        has_tokens = max(came, link.admits.reaches(number * link.packet))
        assert has_tokens <= left <= has_tokens + jitter + slack


def drops_what_does_not_fit(link):
    """A packet is lost if and only if the buffer has no room for it as it comes."""
    accepted = 0
    for now, lost in zip(link.arrivals, link.lost, strict=True):
        waits = accepted - link.admits.at(now)
        fits = link.buffer is None or waits + link.packet <= link.buffer
        assert lost is not fits
        accepted += 0 if lost else link.packet


class HeldLink:
    """A file of holds, read anew: a link at its rate, and a box for each flow behind it."""

    def __init__(self, text):
        lines = text.splitlines()
        self.head = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# ") and line.count(" ") >= 2)
        rows = [tuple(map(int, line.split(","))) for line in lines if line[0].isdigit()]
        self.rate, self.packet = Fraction(self.head["rate"]), int(self.head["packet"])
        self.period, self.jitter = int(self.head["period"]), int(self.head["jitter"])
        self.buffer = None if self.head["buffer"] == "infinite" else int(self.head["buffer"])
        numbers = sorted({flow for flow, *_ in rows})
        self.boxes = [[point for flow, *point in rows if flow == number] for number in numbers]

    def released(self, flow, now):
        """When the box of a flow, from 0, lets go what the link lets through at an instant, in ns."""
        periods, within = divmod(now, self.period)
        box = self.boxes[flow]
        after = next((n for n, (let, _) in enumerate(box) if let > within), len(box) - 1)
        (start, first), (end, last) = box[after - 1], box[after]
        return periods * self.period + first + (last - first) * (within - start) / (end - start)

    def carry(self, arrivals):
        """Return the fate of each arriving packet (flow, ns).

        It is None if the buffer has no room. Otherwise it is the time when the link has served it and the time when its
        box releases it.
        """
        free, found = Fraction(0), []
        for flow, now in arrivals:
            waits = max(Fraction(0), free - now) * self.rate / 10**9
            if self.buffer is not None and waits + self.packet > self.buffer:
                found.append(None)
                continue
            free = max(free, now) + self.packet * 10**9 / self.rate
            found.append((free, self.released(flow, free)))
        return found


def check_holds(trace, scale, random):
    """The boxes of a trace's holds release what its link lets through as the trace does, to a packet; any sender's
    bytes leave in order, at the link's rate, and within the jitter."""
    content, _ = export(trace, "holds", scale, allow_code=True)
    link, step, D = HeldLink(content.decode()), scale.rtt * 10**9, int(trace.constants["D"])
    period = int(trace.query["property"]["repeats"])
    begin, size, slack = trace.horizon - 1 - period, scale.packet / scale.bdp, 4
    for flow in range(len(link.boxes)):
        let, served = (longer(trace.columns[f"{name}{flow + 1}"], period, D + 1) for name in "KS")
        instants = [(at - begin) * step for at in positions(let, begin, begin + period + D, size)]
        released = [link.released(flow, at) for at in instants]
        for t in range(begin + D, begin + period + 1):
            left = sum(1 for at in released if at <= (t - begin) * step + slack) * size
            assert abs(let[begin] + left - served[t]) < size * Fraction(11, 10), (flow, t)
    arrivals = sorted((random.randrange(3 * link.period), random.randrange(len(link.boxes))) for _ in range(400))
    carried = link.carry([(flow, Fraction(at)) for at, flow in arrivals])
    for flow in range(len(link.boxes)):
        own = [each for each, (_, number) in zip(carried, arrivals, strict=True) if each and number == flow]
        assert all(0 <= gone - let <= link.jitter for let, gone in own)
        assert [gone for _, gone in own] == sorted(gone for _, gone in own)
    lets = [each[0] for each in carried if each]
    assert all(later - now >= link.packet * 10**9 / link.rate for now, later in pairwise(lets))


def longer(column, period, more):
    """Extend a cumulative column by a number of steps that repeat its last period."""
    found = list(column)
    for _ in range(more):
        found.append(found[-period] + column[-1] - column[-1 - period])
    return found


def positions(column, begin, end, size):
    """When a column passes the end of each packet that follows its value at the step `begin`."""
    n = 1
    for t in range(begin, end):
        while column[begin] + n * size <= column[t + 1]:
            yield t + (column[begin] + n * size - column[t]) / (column[t + 1] - column[t])
            n += 1
