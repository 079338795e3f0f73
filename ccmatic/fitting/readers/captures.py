"""Read packet captures: a pair from both ends, or one from the sender. There, TCP acknowledgements show arrivals.

TCP follows RFC 9293, and RFC 2018 for selective acknowledgements.
"""

from bisect import bisect_left
from collections import Counter, defaultdict, deque

from ccmatic.base import InputError
from ccmatic.fitting.log import NEVER, UNKNOWN, packet_log
from ccmatic.fitting.readers.capture_file import SYN, TCP, packets

NOTES = (
    "captured at the sender: a segment counts as delivered when its acknowledgement is captured, cumulative or "
    "selective, so the delay of acknowledgements, and that of the receiver until it sends them, is part of D",
    "a segment that was sent again was lost the first time, unless its acknowledgement came sooner after that than any "
    "other; what was sent in vain is left out",
)
PAIR_NOTES = ("captured at both ends: packets that the receiver's capture lacks, between two that it has, were lost",)

#: The values of PacketLog.marked for two values of the ECN field: CE, and no support of ECN.
MARKS = {3: 1, 0: UNKNOWN}

#: The default for the bytes of data and options in a segment, if no SYN states them. A packet then has 1500 bytes.
USUAL = 1460

#: Marks a segment that the log omits: either in flight at the end, or a needless retransmission.
LEFT_OUT = NEVER + 1


def read_log(path, two_clocks=False):
    """Return the PacketLog of a packet capture at a sender.

    The log contains all TCP data from one address to another, for the two addresses with the most data.
    """
    directions = defaultdict(lambda: defaultdict(TcpSender))
    for number, now, header in packets(path):
        source, target, protocol = header.ports
        if protocol == TCP:
            directions[header.path][source, target].sends(number, now, header)
            directions[header.path[::-1]][target, source].hears(now, header)
    senders = [list(senders.values()) for senders in directions.values()]
    chosen = max(senders, key=lambda some: sum(sender.bytes for sender in some), default=())
    rows = [row for sender in chosen for row in sender.decided()]
    if not rows:
        raise InputError("no acknowledged TCP data; expected a capture at a sender, of both directions", path)
    return packet_log(path, *zip(*rows, strict=True), two_clocks, NOTES)


def read_pair(sent, received):
    """Return the PacketLog of two packet captures, one at each end of the path.

    The log contains TCP and UDP packets in the direction in which the first capture has the most bytes.
    """
    directions = {}
    for number, now, header in _pieces(sent):
        directions.setdefault(header.path, []).append((now, header.size, number, _key(header)))
    if not directions:
        raise InputError("no TCP or UDP packet; expected at least one", sent)
    path = max(directions, key=lambda path: sum(row[1] for row in directions[path]))
    rows = directions[path]
    arrived = {}
    for _, now, header in _pieces(received):
        if header.path == path:
            arrived.setdefault(_key(header), deque()).append((now, MARKS.get(header.ecn, 0)))
    # If the sender sent two equal packets and only one arrived, the arrived packet counts as the second.
    spare = Counter(row[3] for row in rows)
    delivered = []
    for *_, key in rows:
        there = arrived.get(key, ())
        delivered.append(there.popleft() if len(there) >= spare[key] else (NEVER, UNKNOWN))
        spare[key] -= 1
    matched = [at for at, (instant, _) in enumerate(delivered) if instant != NEVER]
    if not matched:
        raise InputError(
            f"none of the packets of {sent} is in it; expected a capture of the same packets at the receiver", received
        )
    within = slice(matched[0], matched[-1] + 1)
    instants, sizes, numbers, _ = zip(*rows[within], strict=True)
    ends, marked = zip(*delivered[within], strict=True)
    return packet_log(sent, instants, ends, sizes, numbers, True, PAIR_NOTES, marked=marked)


def _pieces(path):
    """Yield the packets that `packets` yields, each cut into the segments on the wire."""
    segments = Segments()
    for number, now, header in packets(path):
        for piece in segments.of(header):
            yield number, now, piece


def _key(header):
    """Return the header fields that identify a packet at both ends.

    Two packets have equal fields only if one is a retransmission of the other.
    """
    return header.ports, header.identity, header.length, header.seq, header.ack, header.flags & SYN, header.begins


# ---- the sending end of a TCP connection ----


class Segments:
    """Cuts packets into the segments on the wire.

    The network card may still have to cut a captured packet (TSO), or may have merged several segments into it (GRO).
    """

    def __init__(self):
        self.largest = {}

    def of(self, header):
        """Return the Headers of the segments in a captured packet.

        Only a large TCP packet contains several segments.
        """
        connection = frozenset([(header.path[0], header.ports[0]), (header.path[1], header.ports[1])])
        if header.flags & SYN and header.largest:
            self.largest[connection] = min(header.largest, self.largest.get(connection, header.largest))
        most = self.largest.get(connection, USUAL) - len(header.options)
        if header.ports[2] != TCP or header.length <= most or most <= 0:
            return [header]
        around = header.size - header.length
        lengths = [min(most, header.length - at) for at in range(0, header.length, most)]
        return [
            header._replace(
                size=around + length,
                length=length,
                seq=(header.seq + number * most) % 2**32,
                identity=(header.identity + number) % 2**16 if header.identity else 0,
            )
            for number, length in enumerate(lengths)
        ]


class TcpSender:
    """The sending end of a TCP connection.

    Attributes:
        rows: A list [sent, delivered, size, record] for each segment with data, in the order sent. Instants are in
            ns.
        out: A list [first, end, rows] for each unacknowledged range of data, in order. Sequence numbers do not wrap
            at 2^32. The last row belongs to the range's last transmission.
        bytes: The total number of bytes sent.
    """

    def __init__(self):
        self.rows, self.out, self.bytes = [], [], 0
        self.segments, self.acknowledged, self.least = Segments(), None, None

    def sends(self, number, now, header):
        for piece in self.segments.of(header):
            if piece.length > 0:
                self.bytes += piece.size
                self._sends(piece, [now, LEFT_OUT, piece.size, number])

    def _sends(self, piece, row):
        first = self._near(piece.seq)
        end = first + piece.length
        if self.acknowledged is None:
            self.acknowledged = first
        if end <= self.acknowledged:
            return
        self.rows.append(row)
        at = until = bisect_left(self.out, first, key=lambda entry: entry[1] - 1)
        while until < len(self.out) and self.out[until][0] < end:
            until += 1
        before = [earlier for entry in self.out[at:until] for earlier in entry[2]]
        for earlier in before:
            earlier[1] = NEVER
        self.out[at:until] = [[first, end, [*before, row]]]

    def hears(self, now, header):
        if header.flags & SYN:
            self.segments.of(header)
        if self.acknowledged is None:
            return
        self.acknowledged = max(self.acknowledged, self._near(header.ack))
        while self.out and self.out[0][1] <= self.acknowledged:
            self._deliver(self.out.pop(0), now)
        for left, right in header.sacks:
            first, end = self._near(left), self._near(right)
            at = bisect_left(self.out, first, key=lambda entry: entry[0])
            while at < len(self.out) and self.out[at][1] <= end:
                self._deliver(self.out.pop(at), now)

    def _deliver(self, entry, now):
        first, *again = entry[2]
        if not again:
            first[1] = now
            self.least = min(now - first[0], self.least or now)
        elif self.least is not None and now - again[-1][0] < self.least:
            first[1], again[-1][1] = now, LEFT_OUT
        else:
            again[-1][1] = now

    def decided(self):
        """Return the rows of the packets that are certainly delivered or lost."""
        return (row for row in self.rows if row[1] != LEFT_OUT)

    def _near(self, number):
        """Return a sequence number that does not wrap at 2^32: the candidate nearest to the acknowledged data."""
        near = number if self.acknowledged is None else self.acknowledged
        return near + (number - near + 2**31) % 2**32 - 2**31
