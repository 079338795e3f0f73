"""The queue that the delivered packets of a log would form on a link, in whole numbers.

Packet i arrives at a_i with s_i bytes. Work is counted in bits · 10^-9, so a rate of r bit/s does the work r in a
nanosecond. Only delivered packets join the queue, which is empty at first. On a token-bucket policer, the same number
is the number of missing tokens in the bucket (docs/reference/fit.md, "Networks that explain a log").
"""

from dataclasses import dataclass, replace

import numpy as np

from ccmatic.fitting.log import NEVER, PacketLog

#: The work that a link does to serve a byte.
BYTE = 8 * 10**9

#: The largest work for which 64 bits are enough.
_NARROW = 2**61


@dataclass(frozen=True, eq=False)
class Arrivals:
    """The packets of a log with known sending times, as arrays of whole numbers."""

    at: np.ndarray  #: The arrival times a_i in ns, from the first arrival.
    delivered: np.ndarray  #: The delivery times d_i in ns, from the first arrival; 0 for a lost packet.
    lost: np.ndarray  #: Whether each packet is lost.
    size: np.ndarray  #: The sizes s_i in bytes.
    marked: np.ndarray  #: 1 for each packet with the mark CE, 0 for each packet without, and log.UNKNOWN.
    #: The largest number of ns between a delivery and a later departure of the same packet from the link. The value is
    #: None with two clocks, because their offset is unknown.
    early: int | None
    #: The bytes of the largest packet if the link passes whole packets at once, else 0. On such a link, a delivery may
    #: also precede the departure by the transmission time of such a packet.
    at_once: int = 0

    def first(self, count):
        return self._some(slice(count))

    def without_losses(self):
        return self._some(~self.lost)

    def _some(self, chosen):
        columns = {name: getattr(self, name)[chosen] for name in ("at", "delivered", "lost", "size", "marked")}
        return replace(self, **columns)

    def delays(self):
        """Return the delays of the delivered packets in ns."""
        return (self.delivered - self.at)[~self.lost]


def arrivals(log: PacketLog):
    """Return the Arrivals of a log in which every packet has a sending time."""
    lost = log.lost
    origin = log.sent[0]
    delivered = np.where(lost, origin, log.delivered) - origin
    early = None if log.two_clocks else (log.early or 0)
    at_once = 0 if log.early is None else int(log.size.max())
    return Arrivals(log.sent - origin, delivered, lost, log.size, log.marked, early, at_once)


def all_dated(log: PacketLog):
    """Return whether the log has a sending time for every packet."""
    return not (log.sent == NEVER).any()


@dataclass(frozen=True)
class Rates:
    """The rate of a link over time."""

    bits: tuple  #: The rate of each segment in bit/s.
    #: The start of each segment except the first, in ns, in increasing order. The first rate also applies before the
    #: log. The last rate is above 0.
    starts: tuple = ()

    def work(self, times):
        """Return the work that the link can do from time 0 to each of the given times, which are an array."""
        edges, levels = self._knots(times.dtype)
        segment = np.searchsorted(np.array(self.starts, np.int64), times.astype(np.int64), side="right")
        return levels[segment] + (times - edges[segment]) * self._bits(times.dtype)[segment]

    def reached(self, levels):
        """Return, for each level, the first whole ns at which the work since time 0 reaches the level."""
        edges, reached = self._knots(levels.dtype)
        segment = np.searchsorted(reached[1:], levels, side="left")
        bits = self._bits(levels.dtype)[segment]
        return edges[segment] - (reached[segment] - levels) // np.where(bits == 0, 1, bits)

    def _knots(self, dtype):
        """Return the start of each segment, and the work that the link can do until then."""
        edges, levels = [0, *self.starts], [0]
        for now, later, bits in zip(edges, edges[1:], self.bits, strict=False):
            levels.append(levels[-1] + (later - now) * bits)
        return np.array(edges, dtype), np.array(levels, dtype)

    def _bits(self, dtype):
        return np.array(self.bits, dtype)


@dataclass(frozen=True, eq=False)
class Queue:
    #: The work that waits right after the arrival of each packet, if the link accepts the packet. Lost packets add no
    #: work to later loads.
    load: np.ndarray
    left: np.ndarray  #: The time in ns at which each packet leaves the link, if the link accepts it.


def queue(packets: Arrivals, rates: Rates):
    """Return the Queue of packets on a link with these Rates."""
    total = int(packets.size.sum()) * BYTE
    wide = total + max(rates.bits) * (int(packets.at[-1]) + 1) >= _NARROW
    dtype = object if wide else np.int64
    own = packets.size.astype(dtype) * BYTE
    joined = np.where(packets.lost, 0, own)
    done = rates.work(packets.at.astype(dtype))
    ahead = np.cumsum(joined, dtype=dtype) - joined - done
    load = ahead - np.minimum.accumulate(ahead) + own
    return Queue(load, rates.reached(done + load))


@dataclass(frozen=True)
class Room:
    """The sizes of a buffer or bucket that accepts the delivered packets of a log and refuses the lost packets.

    A Room may also be the thresholds that leave some packets without a mark, and mark others.
    """

    least: int  #: The smallest size in bytes that accepts all delivered packets.
    most: int | None  #: The largest size in bytes that refuses all lost packets; None if no packet is lost.

    @property
    def exists(self):
        """Whether some size accepts and refuses the right packets."""
        return self.most is None or self.least <= self.most

    def smallest(self, least: int):
        """Return the smallest size that is at least `least`. If there is no such size, return the smallest size."""
        return max(self.least, least) if self.most is None or self.most >= least else self.least


def room(packets: Arrivals, load):
    """Return the Room of a buffer that accepts a packet if and only if the packet's load fits.

    `load` has the load of each packet.
    """
    return _between(load[~packets.lost], load[packets.lost])


def thresholds(packets: Arrivals, load):
    """Return the thresholds of marks, as a Room, for packets whose loads are `load`.

    A packet has a mark if and only if its load is above the threshold.
    """
    return _between(load[packets.marked == 0], load[packets.marked == 1])


def _between(fitting, refused):
    """Return the Room of the sizes in which some loads fit, and others do not."""
    least = -(-int(fitting.max()) // BYTE) if len(fitting) else 0
    return Room(least, None if not len(refused) else (int(refused.min()) - 1) // BYTE)
