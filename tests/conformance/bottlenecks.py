"""Bottlenecks of a known rate: which packets are lost, and when the others have passed."""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from ccmatic.deployment.emulation.link import SECOND, Link
from ccmatic.deployment.emulation.replay import decisions
from ccmatic.networks.simulation import Path
from conformance.worlds import Kind, Number

#: Bits per second, from which nanosecond on.
RATES = {
    "one rate": ((0, 12_000_000),),
    "a rate that packets do not divide": ((0, 7_654_321),),
    "changing rates": ((0, 12_000_000), (3_000_000, 48_000_000), (9_000_001, 1_000_003)),
}

PACKET = 1500

#: Nanoseconds in which the first rate serves a packet.
SERVICE = 1_000_000


class Arrivals(NamedTuple):
    """Packets that arrive.

    Attributes:
        buffer: The size of the buffer in bytes.
        number: The number of packets to decide.
    """

    packets: tuple
    buffer: int
    number: int


def cases(name, rng, count) -> Iterator[Arrivals]:
    """Bursts, gaps, packets as fast as the link serves them, and buffers that they fill to the byte."""
    whole = name == "one rate"
    sizes = (PACKET,) if whole else (PACKET, PACKET, 40, rng.randint(40, PACKET))
    for _ in range(count):
        now, packets = 0, []
        for _ in range(40):
            now += rng.choice((0, 0, 1, SERVICE // 2, SERVICE, SERVICE - 1, rng.randint(0, 3 * SERVICE)))
            packets.append((now, rng.choice(sizes)))
        yield Arrivals(
            tuple(packets), PACKET * rng.choice((2, 3, 5, 40)) + (0 if whole else rng.choice((0, 0, 1))), len(packets)
        )


def exact(name):
    """A queue of bytes that the link serves continuously."""
    rates = RATES[name]

    def served(start, end):
        """Bytes that the link can serve between two instants."""
        bounds = zip(rates, (*rates[1:], (max(end, rates[-1][0]), 0)), strict=True)
        return sum(
            Fraction(max(0, min(end, to) - max(start, since)) * bits, 8 * SECOND) for (since, bits), (to, _) in bounds
        )

    def passed(now, queue):
        """Return the time when a queue of this size has been served."""
        for (since, bits), (to, _) in zip(rates, (*rates[1:], (None, None)), strict=True):
            start = max(now, Fraction(since))
            if to is None or queue <= served(start, to):
                return start + queue * 8 * SECOND / bits
            queue, now = queue - (served(start, to) if to > start else 0), max(now, Fraction(to))

    def of(arrivals):
        queue, before = Fraction(0), 0
        for now, size in arrivals.packets[: arrivals.number]:
            queue, before = max(Fraction(0), queue - served(before, now)), now
            lost = queue + size > arrivals.buffer
            queue += 0 if lost else size
        outputs = {"lost": Number(lost)}
        return outputs if lost else outputs | {"passed": Number(passed(Fraction(now), queue), up=True)}

    return of


def _outputs(arrivals, decided):
    for number, (lost, passed) in enumerate(decided, 1):
        yield arrivals._replace(number=number), {"lost": lost} if lost else {"lost": lost, "passed": passed}


def in_replay(name):
    """The emulator's decisions, replayed."""

    def run(arrivals):
        link = Link(RATES[name], 1, arrivals.buffer)
        again = decisions(link, *zip(*arrivals.packets, strict=True))
        yield from _outputs(arrivals, [(lost, admitted) for lost, admitted, _ in again])

    return run


def in_packets(name):
    """The packet simulator, in which a packet has passed when it has begun to be served, and then waits no more."""

    def run(arrivals):
        room = arrivals.buffer // PACKET - 1
        link = Path("cbr_delay", rate=1, jitter=1, buffer=room, ticks=SERVICE).bottleneck(None, "never")
        instants = [now for now, _ in arrivals.packets]
        accepted, outcomes = link.offer(instants, instants[-1])
        passed = iter(outcomes)
        yield from _outputs(arrivals, [(not taken, next(passed)[1] + SERVICE if taken else None) for taken in accepted])

    return run


BOTTLENECKS = Kind(name="bottlenecks", definitions=tuple(RATES), cases=cases, exact=exact, worlds={"replay": in_replay})
WHOLE_PACKETS = Kind(
    name="bottlenecks of whole packets",
    definitions=("one rate",),
    cases=cases,
    exact=exact,
    worlds={"packets": in_packets},
)
