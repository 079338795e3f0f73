"""A run's log as mm-link of mahimahi writes its own, for what reads those (`mm-delay-graph`, `ccmatic fit`).

A line is `MS + BYTES` for a packet that arrives, `MS d 1 BYTES` after it if it is dropped, `MS - BYTES DELAY` for one
that leaves, after a DELAY in ms, and `MS # BYTES` for what the link could carry. Bytes are those of IP packets. A
packet leaves when it was released, less propagation, which mm-link knows nothing of.
"""

from itertools import pairwise

from ccmatic.emulation.link import ENDLESS, MS, SECOND


def text(emulation):
    """The lines, in order of time, which is the run's, rounded down to ms."""
    events = sorted([*_capacity(emulation), *_packets(emulation)], key=lambda event: event[:2])
    head = ["# mahimahi mm-link (ccmatic emulate)", f"# queue: {_queue(emulation.link)}", "# base timestamp: 0"]
    return "\n".join([*head, *(f"{now // MS} {said}" for now, _, said in events)]) + "\n"


#: What comes first of events at one instant, as in mm-link.
CAPACITY, DEPARTURE, ARRIVAL = range(3)


def _queue(link):
    return "infinite" if link.buffer == ENDLESS else f"droptail [bytes={link.buffer}]"


def _capacity(emulation):
    """What the link could carry in each ms, where that is anything."""
    instants = range(0, emulation.duration + 1, MS)
    carried = [emulation.link.capacity(0, now) // (8 * SECOND) for now in instants]
    for now, (before, after) in zip(instants[1:], pairwise(carried), strict=True):
        if after > before:
            yield now, CAPACITY, f"# {after - before}"


def _packets(emulation):
    for now, released, size, lost, flow in emulation.log[["arrival", "released", "size", "lost", "flow"]].tolist():
        yield now, ARRIVAL, f"+ {size}"
        if lost:
            yield now, ARRIVAL, f"d 1 {size}"
        if released >= 0:
            left = released - emulation.link.propagation(flow)
            yield left, DEPARTURE, f"- {size} {left // MS - now // MS}"
