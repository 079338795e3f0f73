"""Write a run's log in the format of mahimahi's mm-link, for readers such as `mm-delay-graph` and `ccmatic fit`.

- `MS + BYTES`: a packet arrives.
- `MS d 1 BYTES`, after the line of a packet's arrival: the link drops this packet.
- `MS - BYTES DELAY`: a packet leaves after a delay of DELAY ms.
- `MS # BYTES`: the link could carry this many bytes.

Bytes are counted with the headers of IP. Because mm-link has no propagation delay, a packet leaves one propagation
delay before its release.
"""

from itertools import pairwise

from ccmatic.deployment.emulation.link import ENDLESS, MS, SECOND


def text(emulation):
    """Return the lines of the log, in order of time. Times are rounded down to ms."""
    events = sorted([*_capacity(emulation), *_packets(emulation)], key=lambda event: event[:2])
    head = ["# mahimahi mm-link (ccmatic emulate)", f"# queue: {_queue(emulation.link)}", "# base timestamp: 0"]
    return "\n".join([*head, *(f"{now // MS} {event}" for now, _, event in events)]) + "\n"


#: The order of events that happen at the same instant, as in mm-link.
CAPACITY, DEPARTURE, ARRIVAL = range(3)


def _queue(link):
    return "infinite" if link.buffer == ENDLESS else f"droptail [bytes={link.buffer}]"


def _capacity(emulation):
    """Yield, for each ms in which the link could carry bytes, the number of these bytes."""
    instants = range(0, emulation.duration + 1, MS)
    carried = [emulation.link.capacity(0, now) // (8 * SECOND) for now in instants]
    for now, (before, after) in zip(instants[1:], pairwise(carried), strict=True):
        if after > before:
            yield now, CAPACITY, f"# {after - before}"


def _packets(emulation):
    rows = emulation.log[["arrival", "released", "size", "lost"]].tolist()
    for (now, released, size, lost), delay in zip(
        rows, emulation.link.propagations(emulation.log).tolist(), strict=True
    ):
        yield now, ARRIVAL, f"+ {size}"
        if lost:
            yield now, ARRIVAL, f"d 1 {size}"
        if released >= 0:
            left = released - delay
            yield left, DEPARTURE, f"- {size} {left // MS - now // MS}"
