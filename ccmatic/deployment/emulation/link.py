"""The exact behaviour of an emulated link, in integers: nanoseconds, bytes, and bits per second."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

import numpy as np

from ccmatic.base import InputError, definitions, quantities, suggest
from ccmatic.contracts import Model
from ccmatic.networks.trace_export import OPPORTUNITY, Holds, Opportunities, Schedule

SECOND, MS = 10**9, 10**6

#: Two sizes in bytes: the largest packet, unless a schedule sets another size, and a buffer that never fills.
MTU, ENDLESS = 1500, 2**61

#: The threshold of a link that marks no packets.
NO_MARKS = 2**63 - 1

#: The patterns by which the jitter box, after the bottleneck, holds packets in order. `uniform`: the box holds each
#: packet for a random part of D. `aggregation`: the box holds packets until the end of the batch in which they leave
#: the bottleneck. A batch lasts for a random part of D (Appendix H of the paper: batches of C·agg_delay bytes,
#: agg_delay uniform in [0, D)).
PATTERNS = ("none", "uniform", "aggregation")

#: The pattern with which each flow has a separate box, described by Holds.
OWN = "own"


@dataclass(frozen=True)
class LinkChange:
    """A change of a link that accompanies a change of its rate."""

    at: int  #: the instant of the change in ns. At this instant, the last of the link's rates begins
    extra: int  #: the growth of R_m in ns, for packets that the bottleneck admits after the change
    buffer: int  #: the buffer after the change, in bytes
    loses: bool  #: whether the link loses the packets that wait then; the log has them as lost on arrival


@dataclass(frozen=True)
class Link:
    rates: tuple  #: the rates of the bottleneck, as pairs (start in ns, bits per second). The first rate starts at 0
    rtt: int  #: R_m in ns, above 0; on a schedule, only the schedule's step, which delays no packet
    #: β: the most bytes that are accepted but not yet admitted, byte by byte, after their service; or ENDLESS
    buffer: int
    jitter: int = 0  #: D in ns; 0 if the pattern is `none`
    pattern: str = "none"  #: one of PATTERNS, or OWN
    seed: int = 0  #: the seed of the pattern's random choices
    schedule: Schedule | None = None  #: the Schedule of all admissions and releases, or None
    opportunities: Opportunities | None = None  #: at which the bottleneck serves; `rates` has their mean rate
    rtts: tuple = ()  #: R_m of each flow in ns; `rtt` applies to flows beyond its end
    holds: Holds | None = None  #: the Holds if the pattern is OWN; otherwise None
    model: Model | None = None  #: whose packets.h implements the bottleneck; None for the default links
    change: LinkChange | None = None
    #: θ in bytes: a packet is marked if more than θ wait, with the packet; None for no marks
    threshold: int | None = None

    def rtt_of(self, flow):
        """Return R_m of a flow in ns. The number -1 stands for packets that belong to no flow."""
        return self.rtts[flow] if 0 <= flow < len(self.rtts) else self.rtt

    def propagation(self, flow=-1):
        """Return the delay in ns of a flow's packets from the jitter box to the receivers."""
        return 0 if self.schedule else self.rtt_of(flow)

    def propagations(self, packets):
        """Return the delay of each packet of a log from the jitter box to the receivers, in ns."""
        delays = np.array([self.propagation(flow) for flow in packets["flow"].tolist()], np.int64)
        return delays + (self.change.extra * (packets["admitted"] > self.change.at) if self.change else 0)

    @property
    def store(self):
        """The noun that messages use for `buffer`."""
        return (self.model or Model).store

    @property
    def mtu(self):
        plan = self.schedule or self.holds
        return plan.packet if plan else MTU

    @property
    def bdp(self):
        """C·R_m in bytes at the first rate."""
        return Fraction(self.rates[0][1] * self.rtt, 8 * SECOND)

    def _policer(self):
        """Return three integers of the policer: its bucket in bytes, and its share of the link rate as a fraction."""
        bucket, share = (self.model and self.model.policer) or (0, Fraction(1))
        size = floor(bucket * self.bdp)
        if bucket and size < self.mtu:
            raise InputError(f"a bucket of {size} bytes; expected at least a packet, {self.mtu} bytes")
        return size, *share.as_integer_ratio()

    def capacity(self, start, end):
        """Return how many bits · 10^-9 the bottleneck can serve after `start` and up to `end`, both in ns."""
        if self.opportunities:
            count = self.opportunities.by(end // MS) - self.opportunities.by(start // MS)
            return count * OPPORTUNITY * 8 * SECOND
        edges = [*(max(start, min(end, time)) for time, _ in self.rates), end]
        return sum((later - now) * bits for now, later, (_, bits) in zip(edges, edges[1:], self.rates, strict=False))

    def configuration(self, duration, port):
        """Return the emulator's configuration for a run of `duration` ns. The ports of flows follow one another."""
        points = self.schedule.segments(self.rates[0][1]) if self.schedule else ()
        instants = [ms * MS for ms in self.opportunities.milliseconds] if self.opportunities else ()
        boxes = self.holds.boxes if self.holds else ()
        change = self.change or LinkChange(0, 0, 0, False)
        rates = [(*rate, 0, 0) for rate in self.rates[:-1]] + [(*self.rates[-1], change.buffer, int(change.loses))]
        own = self.model.link_numbers(self.mtu) if self.model else ()
        numbers = [
            duration, self.buffer, NO_MARKS if self.threshold is None else self.threshold, self.propagation(),
            self.jitter, (*PATTERNS, OWN).index(self.pattern), self.seed, port, change.at, change.extra, len(rates),
            len(points), len(instants), OPPORTUNITY, *self._policer(), len(self.rtts),
            *map(self.propagation, range(len(self.rtts))), *(n for rate in rates for n in rate),
            *(n for p in points for n in p), *instants, self.holds.period if boxes else 0, len(boxes),
            *(n for box in boxes for n in (len(box), *(n for point in box for n in point))),
            len(own), *own,
        ]  # fmt: skip
        return "\n".join(map(str, numbers)) + "\n"


def of_texts(
    rate, rtt, buffer, jitter=None, pattern=None, changes=(), seed=0, model=None, path_change=None, threshold=None
):
    """Return the Link of quantities in texts, such as '48mbit', '40ms', '2bdp' and 'infinite'.

    The `changes` are later rates, such as '5s=48mbit', in order of time. The default pattern is `aggregation`.
    """
    rates = [(0, _bits(rate)), *map(_change, changes)]
    for (before, _), (time, _), change in zip(rates, rates[1:], changes, strict=False):
        if time <= before:
            raise InputError(f"a change '{change}'; expected later than 0 and than the change before it")
    link = Link(tuple(rates), nanoseconds(rtt, "rtt"), 0, *_jitter(jitter, pattern, rtt), seed, model=model)
    link = _with_threshold(_with_buffer(link, buffer), threshold)
    return _changed(link, path_change) if path_change else link


def _changed(link, change):
    """Return the link with a path's change at one instant. If the change has ranges, their upper ends apply."""
    if len(link.rates) > 1:
        raise InputError("--change gives the link other rates, and --on a change of the path; expected one of them")
    factors = {name: change.factors.get(name, (1, 1)) for name in ("rtt", "rate", "buffer")}
    ranges = [name for name, (least, most) in factors.items() if least < most]
    if change.at is None or change.at[0] < change.at[1] or not change.at[0]:
        raise InputError("the change comes at any instant; the emulator needs one above 0, such as 'at 10 s'")
    if ranges:
        raise InputError(f"the {ranges[0]} changes by any factor of a range; the emulator needs one, such as 'x2'")
    [(_, bits)] = link.rates
    begin, end = (_whole(time * link.rtt, "instant", "ns") for time in (change.at[0], change.at[0] + change.outage))
    later = _whole(bits * factors["rate"][0], "rate after the change", "bits per second")
    extra = _whole((factors["rtt"][0] - 1) * link.rtt, "growth of R_m", "ns")
    room = ENDLESS if link.buffer == ENDLESS else _fitting(floor(link.buffer * factors["buffer"][0]), link.mtu)
    rates = [*link.rates, *([(begin, 0)] if change.outage else []), (end, later)]
    link = replace(link, rates=tuple(rates), change=LinkChange(end, extra, room, change.loses))
    windows = definitions.chosen("models", "BY_WINDOW")
    if link.model and windows.get(link.model.name) not in definitions.chosen("models", "CHANGING"):
        known = [name for name, window in windows.items() if window in definitions.chosen("models", "CHANGING")]
        raise InputError(f"the path of {link.model.name} does not change; expected one of {', '.join(known)}")
    return link


def _with_threshold(link, text):
    if text is None:
        return link
    threshold = floor(quantities.size(text, link.bdp))
    if threshold >= link.buffer:
        problem = f"the threshold of {threshold} bytes is not below the buffer of {link.buffer} bytes"
        raise InputError(f"{problem}, so that no packet is marked; expected such as 'threshold {link.buffer // 2} b'")
    return replace(link, threshold=threshold)


def of_opportunities(file, rtt, buffer="infinite", jitter=None, pattern=None, seed=0):
    """Return the Link that follows a mahimahi link trace. The BDP is that of the trace's mean rate."""
    opportunities = Opportunities.load(file)
    bits = opportunities.by(opportunities.period) * OPPORTUNITY * 8 * 1000 // opportunities.period
    bound = _jitter(jitter, pattern, rtt)
    link = Link(((0, bits),), nanoseconds(rtt, "rtt"), 0, *bound, seed, opportunities=opportunities)
    return _with_buffer(link, buffer)


def _with_buffer(link, text):
    if text == "infinite" and link.store == Model.store:
        return replace(link, buffer=ENDLESS)
    size = quantities.size(text, link.bdp)
    if size.denominator != 1 and quantities.in_unit(text, "bdp") is None:
        problem = f"the {link.store} '{text}' is {float(size):g} bytes"
        raise InputError(f"{problem}; expected a whole number of bytes, or bdp")
    return replace(link, buffer=_fitting(floor(size), link.mtu, link.store))


def of_schedule(file):
    schedule = Schedule.load(file)
    bits = _whole(schedule.rate * 8, "rate", "bits per second")
    buffer = ENDLESS if schedule.buffer is None else schedule.buffer
    return Link(((0, bits),), schedule.step, _fitting(buffer, schedule.packet), schedule=schedule)


def of_holds(file):
    """Return the Link of a holds file. Each flow with its own jitter box has the R_m in the file."""
    holds = Holds.load(file)
    bits = _whole(holds.rate * 8, "rate", "bits per second")
    buffer = _fitting(ENDLESS if holds.buffer is None else holds.buffer, holds.packet)
    rtts = (holds.step,) * len(holds.boxes)
    return Link(((0, bits),), holds.step, buffer, holds.jitter, OWN, rtts=rtts, holds=holds)


def _bits(text):
    return _whole(quantities.rate(text) * 8, f"rate '{text}'", "bits per second")


def nanoseconds(text, what, least=1):
    """Return a duration such as `40ms`, from `least` ns to one hour. Messages call it `what`."""
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
    """Return D in ns and the pattern. The default pattern is `aggregation`, or `none` if D is 0."""
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


def _fitting(buffer, packet, store=Model.store):
    if buffer < packet:
        raise InputError(f"a {store} of {buffer} bytes; expected at least a packet, {packet} bytes")
    return min(buffer, ENDLESS)
