"""The premises of rules: conditions on scenarios. If a premise excludes a scenario, the premise states the reason."""

from collections.abc import Callable
from itertools import pairwise

from ccmatic import records
from ccmatic.judging.scenario import SECOND, Scenario

Premise = Callable[[Scenario], str | None]

#: The smallest datagram of QUIC in bytes, in units of which windows count (RFC 9000, 14), and the initial window in
#: packets.
DATAGRAM, INITIAL = 1200, 10


def only(*kinds: type[records.EventRecord], some: bool = False) -> Premise:
    """Return the premise that all events are of some kinds, and, if `some`, that there is an event."""

    def premise(scenario: Scenario) -> str | None:
        other = next((event for event in scenario.events if not isinstance(event, kinds)), None)
        if other is not None:
            return f"the rule is not about events such as '{type(other).__struct_config__.tag}'"
        return "the rule is about an event, and there is none" if some and not scenario.events else None

    return premise


def alone(scenario: Scenario) -> str | None:
    """There is one flow."""
    return None if len(scenario.flows) == 1 else "several flows share the link"


def lossless(scenario: Scenario) -> str | None:
    """The link loses packets only if its buffer is full, and marks no packets."""
    if scenario.loss or scenario.policer or scenario.threshold is not None:
        return "the link loses packets by chance, polices or marks them"
    return None


def no_lost_acks(scenario: Scenario) -> str | None:
    lost = any(isinstance(event, records.AcksEvent) and event.lose for event in scenario.events)
    return "acknowledgements are lost" if lost else None


def roomy(scenario: Scenario) -> str | None:
    """The buffer has room for C(R_m + D) bytes, at the largest rate C and the largest R_m."""
    least = bdp(scenario) + largest_rate(scenario) * scenario.jitter // (8 * SECOND)
    return None if least_buffer(scenario) >= least else f"the buffer is below C(R_m + D), {least} bytes"


def sawtooth(scenario: Scenario) -> str | None:
    """A sawtooth has at least 30 packets per flow, and the buffer a quarter of a BDP."""
    packets = (bdp(scenario) + least_buffer(scenario)) / scenario.packet / len(scenario.flows)
    if packets < 30:
        return f"a flow has room for {packets:.0f} packets; the rule is about 30 and more"
    return None if 4 * least_buffer(scenario) >= bdp(scenario) else "the buffer is below a quarter of a BDP"


def clear_outages(scenario: Scenario) -> str | None:
    """No packet is lost by an event, and no other outage begins, until probes and timers have recovered from an outage.

    Probes come two per timeout, and each timeout doubles. A late sample of the RTT also makes timeouts longer.
    """
    for outage in scenario.events:
        if isinstance(outage, records.OutageEvent):
            until = outage.at + 3 * outage.length + 3 * SECOND
            for event in scenario.events:
                bad = isinstance(event, records.LossEvent | records.OutageEvent) and event is not outage
                if bad and outage.at <= event.at < until:
                    return "packets are lost, or an outage begins, soon after an outage"
    return None


def lasts(least: Callable[[Scenario], int]) -> Premise:
    """Return the premise that a run lasts long enough, in ns."""

    def premise(scenario: Scenario) -> str | None:
        needed = least(scenario)
        return None if scenario.duration >= needed else f"the run is shorter than {needed / SECOND:.1f} s"

    return premise


def largest_rate(scenario: Scenario) -> int:
    """Return the largest rate of the link, in bits per second."""
    return max([scenario.rate, *(event.bits for event in scenario.events if isinstance(event, records.RateEvent))])


def smallest_rate(scenario: Scenario) -> int:
    """Return the smallest rate of the link above 0, in bits per second."""
    return min([scenario.rate, *(event.bits for event in scenario.events if isinstance(event, records.RateEvent))])


def largest_rtt(scenario: Scenario) -> int:
    """Return the largest R_m of any flow at any time, in ns."""
    grown = max([0, *(event.rtt - scenario.rtt for event in scenario.events if isinstance(event, records.RttEvent))])
    return max(flow.rtt or scenario.rtt for flow in scenario.flows) + grown


def buffers(scenario: Scenario) -> list[int]:
    return [scenario.buffer, *(event.bytes for event in scenario.events if isinstance(event, records.BufferEvent))]


def least_buffer(scenario: Scenario) -> int:
    return min(buffers(scenario))


def outages(scenario: Scenario) -> int:
    """Return the sum of the lengths of all outages in ns."""
    return sum(event.length for event in scenario.events if isinstance(event, records.OutageEvent))


def bdp(scenario: Scenario) -> int:
    """Return the largest bandwidth-delay product in bytes."""
    return largest_rate(scenario) * largest_rtt(scenario) // (8 * SECOND)


def round_trip(scenario: Scenario) -> int:
    """Return R_m + D at the largest R_m, in ns."""
    return largest_rtt(scenario) + scenario.jitter


def drain(scenario: Scenario) -> int:
    """Return the time in which the link serves the largest buffer at the smallest rate, in ns."""
    return max(buffers(scenario)) * 8 * SECOND // smallest_rate(scenario)


def climb(scenario: Scenario) -> int:
    """Return the time in ns in which every lawful sender grows to half of a BDP.

    An AIMD sender with a decrease factor of 0.7 grows by 0.53 packets per round trip (RFC 9438, 4.3). So the number of
    round trips up to half of a BDP is about the number of packets in a BDP. The result adds 20 round trips and 1 s for
    timers.
    """
    return (20 + bdp(scenario) // DATAGRAM) * round_trip(scenario) + SECOND


def start_up(scenario: Scenario) -> int:
    """Return the time in ns by which slow start has to end.

    Slow start doubles the window per round trip, beginning with 10 packets. The result is twice the number of round
    trips that doubling needs, plus 20 round trips and 1 s. In a round trip, the link may also serve its buffer, up to a
    BDP.
    """
    target = bdp(scenario) + max(buffers(scenario))
    doublings = max(1, target // (INITIAL * DATAGRAM)).bit_length()
    standing = min(max(buffers(scenario)), bdp(scenario)) * 8 * SECOND // smallest_rate(scenario)
    return (20 + 2 * doublings) * (round_trip(scenario) + standing) + SECOND


def last_end(scenario: Scenario) -> int:
    """Return the end of the last event in ns; 0 if there is none."""
    return max([0, *(event.at + getattr(event, "length", 0) for event in scenario.events)])


def first_start(scenario: Scenario) -> int:
    """Return the beginning of the first event in ns; the length of the run if there is none."""
    return min([scenario.duration, *(event.at for event in scenario.events)])


def spans(scenario: Scenario) -> list[tuple[int, int, int]]:
    """Return the spans of constant rate: (begin in ns, end in ns, bits per second), without the outages."""
    changes = sorted(
        [(0, scenario.rate), *((e.at, e.bits) for e in scenario.events if isinstance(e, records.RateEvent))],
        key=lambda change: change[0],
    )
    outages = [(e.at, e.at + e.length) for e in scenario.events if isinstance(e, records.OutageEvent)]
    edges = sorted({*(at for at, _ in changes), *(end for span in outages for end in span), scenario.duration})
    parts = []
    for begin, end in pairwise(edges):
        if not any(out <= begin < back for out, back in outages):
            parts.append((begin, min(end, scenario.duration), [bits for at, bits in changes if at <= begin][-1]))
    return parts


def capacity(scenario: Scenario, begin: int, end: int) -> float:
    """Return the bytes that the link can serve from `begin` to `end`, both in ns."""
    served = sum(max(0, min(end, e) - max(begin, b)) * bits for b, e, bits in spans(scenario)) / (8 * SECOND)
    if scenario.policer:
        return min(served, (end - begin) * scenario.policer.bits / (8 * SECOND))
    return served
