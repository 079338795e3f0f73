"""What an emulated link is to do, exactly: in whole nanoseconds, bytes, and bits per second."""

from dataclasses import dataclass, replace
from fractions import Fraction

from ccmatic.base import InputError, quantities, suggest
from ccmatic.trace_export import OPPORTUNITY, Holds, Opportunities, Schedule

SECOND, MS = 10**9, 10**6

#: Bytes of the largest packet, unless a schedule says otherwise, and of a buffer that never fills.
MTU, ENDLESS = 1500, 2**61

#: How packets are held, after the bottleneck and in order. `uniform`: each for a random part of D. `aggregation`: until
#: the end of the batch in which they leave the bottleneck; a batch lasts for a random part of D (Appendix H of the
#: paper: batches of C·agg_delay bytes, agg_delay uniform in [0, D)).
PATTERNS = ("none", "uniform", "aggregation")

#: Each flow's packets are held in a box of its own, as Holds say.
OWN = "own"


@dataclass(frozen=True)
class Link:
    """A link from senders to receivers.

    rates:   of the bottleneck, (from when on in ns, bits per second), the first from 0 on.
    rtt:     R_m in ns, above 0; with a schedule its step, and nothing is delayed by it.
    buffer:  β, bytes that may be accepted and not yet admitted; ENDLESS if infinite. Admitted is what the bottleneck
             has served by a virtual clock, byte by byte; of a packet that is being served the rest still waits.
    jitter:  D in ns, 0 if the pattern is `none`.
    pattern: one of PATTERNS, or OWN. seed: of its choices.
    holds:   Holds, where the pattern is OWN, or None.
    schedule: a Schedule that says what is admitted and what is released when, or None.
    opportunities: Opportunities that say when the bottleneck serves, or None; rates are then their mean.
    rtts:    R_m of each flow, in ns, by its number; of further ones, and of all if it is empty, `rtt`.
    """

    rates: tuple
    rtt: int
    buffer: int
    jitter: int = 0
    pattern: str = "none"
    seed: int = 0
    schedule: Schedule | None = None
    opportunities: Opportunities | None = None
    rtts: tuple = ()
    holds: Holds | None = None

    def rtt_of(self, flow):
        """R_m of a flow, by its number, -1 for packets of none; in ns."""
        return self.rtts[flow] if 0 <= flow < len(self.rtts) else self.rtt

    def propagation(self, flow=-1):
        """Of a flow's packets, in ns, from the box that holds packets to the receivers."""
        return 0 if self.schedule else self.rtt_of(flow)

    @property
    def mtu(self):
        """Bytes of the largest packet."""
        plan = self.schedule or self.holds
        return plan.packet if plan else MTU

    @property
    def bdp(self):
        """C·R_m in bytes, at the first rate; a Fraction."""
        return Fraction(self.rates[0][1] * self.rtt, 8 * SECOND)

    def capacity(self, start, end):
        """What the bottleneck may serve after the one and by the other of two instants in ns, in bits · 10^-9."""
        if self.opportunities:
            count = self.opportunities.by(end // MS) - self.opportunities.by(start // MS)
            return count * OPPORTUNITY * 8 * SECOND
        edges = [*(max(start, min(end, time)) for time, _ in self.rates), end]
        return sum((later - now) * bits for now, later, (_, bits) in zip(edges, edges[1:], self.rates, strict=False))

    def configuration(self, duration, port):
        """What the emulator reads: a run of `duration` ns, flows told apart by their ports, `port` and up."""
        points = self.schedule.segments(self.rates[0][1]) if self.schedule else ()
        instants = [ms * MS for ms in self.opportunities.milliseconds] if self.opportunities else ()
        boxes = self.holds.boxes if self.holds else ()
        numbers = [
            duration, self.buffer, self.propagation(), self.jitter, (*PATTERNS, OWN).index(self.pattern), self.seed,
            port, len(self.rates), len(points), len(instants), OPPORTUNITY, len(self.rtts),
            *map(self.propagation, range(len(self.rtts))), *(n for rate in self.rates for n in rate),
            *(n for p in points for n in p), *instants, self.holds.period if boxes else 0, len(boxes),
            *(n for box in boxes for n in (len(box), *(n for point in box for n in point))),
        ]  # fmt: skip
        return "\n".join(map(str, numbers)) + "\n"


def of_texts(rate, rtt, buffer, jitter=None, pattern=None, changes=(), seed=0):
    """A Link from quantities as people write them. changes: "5s=48mbit", in order. Raises InputError."""
    rates = [(0, _bits(rate)), *map(_change, changes)]
    for (before, _), (time, _), change in zip(rates, rates[1:], changes, strict=False):
        if time <= before:
            raise InputError(f"a change '{change}'; expected later than 0 and than the change before it")
    link = Link(tuple(rates), nanoseconds(rtt, "rtt"), 0, *_jitter(jitter, pattern, rtt), seed)
    return _with_buffer(link, buffer)


def of_opportunities(file, rtt, buffer="infinite", jitter=None, pattern=None, seed=0):
    """The Link of a link trace of mahimahi, with quantities as in `of_texts`; a BDP is of the mean rate. Raises
    InputError."""
    opportunities = Opportunities.load(file)
    bits = opportunities.by(opportunities.period) * OPPORTUNITY * 8 * 1000 // opportunities.period
    bound = _jitter(jitter, pattern, rtt)
    link = Link(((0, bits),), nanoseconds(rtt, "rtt"), 0, *bound, seed, opportunities=opportunities)
    return _with_buffer(link, buffer)


def _with_buffer(link, text):
    size = ENDLESS if text == "infinite" else quantities.size(text, link.bdp)
    return replace(link, buffer=_fitting(size, link.mtu))


def of_schedule(file):
    """The Link of a schedule file. Raises InputError."""
    schedule = Schedule.load(file)
    bits = _whole(schedule.rate * 8, "rate", "bits per second")
    buffer = ENDLESS if schedule.buffer is None else schedule.buffer
    return Link(((0, bits),), schedule.step, _fitting(buffer, schedule.packet), schedule=schedule)


def of_holds(file):
    """The Link of a file of holds, on which each flow that has a box has its R_m. Raises InputError."""
    holds = Holds.load(file)
    bits = _whole(holds.rate * 8, "rate", "bits per second")
    buffer = _fitting(ENDLESS if holds.buffer is None else holds.buffer, holds.packet)
    rtts = (holds.step,) * len(holds.boxes)
    return Link(((0, bits),), holds.step, buffer, holds.jitter, OWN, rtts=rtts, holds=holds)


def _bits(text):
    return _whole(quantities.rate(text) * 8, f"rate '{text}'", "bits per second")


def nanoseconds(text, what, least=1):
    """Whole ns, `least` and at most an hour, of a text such as "40ms". Raises InputError."""
    value = _whole(quantities.duration(text) * SECOND, f"{what} '{text}'", "nanoseconds")
    if not least <= value <= 3600 * SECOND:
        raise InputError(f"{what} is '{text}'; expected {'above' if least else 'at least'} 0, at most an hour")
    return value


def _whole(value, what, unit):
    if value.denominator != 1 or value > 10**12:
        raise InputError(f"the {what} is {float(value):g} {unit}; expected a whole number, at most 10^12")
    return int(value)


def _change(text):
    time, equals, rate = text.partition("=")
    if not equals:
        raise InputError(f"cannot read a change '{text}'; expected a time and a rate, such as 5s=48mbit")
    return nanoseconds(time, "time of a change"), _bits(rate)


def _jitter(jitter, pattern, rtt):
    """D in ns and the pattern: `aggregation` unless another is asked for; `none` if D is 0."""
    rounds = quantities.in_unit(jitter, "rtt")
    if rounds is not None:
        jitter = f"{rounds * quantities.duration(rtt)}s"
    if pattern not in (None, *PATTERNS):
        raise InputError(f"unknown pattern '{pattern}' of jitter; {suggest(pattern, PATTERNS)}")
    if jitter is None and pattern not in (None, "none"):
        raise InputError(f"pattern '{pattern}' needs --jitter, the longest delay")
    if jitter is None or quantities.duration(jitter) == 0:
        return 0, "none"
    pattern = pattern or "aggregation"
    if pattern == "none":
        raise InputError(f"pattern 'none' with a jitter of '{jitter}'; expected uniform or aggregation")
    value = nanoseconds(jitter, "jitter")
    if value < 1000:
        raise InputError(f"jitter is '{jitter}'; expected at least 1us")
    return value, pattern


def _fitting(buffer, packet):
    if buffer < packet:
        raise InputError(f"a buffer of {buffer} bytes; expected at least a packet, {packet} bytes")
    return min(buffer, ENDLESS)
