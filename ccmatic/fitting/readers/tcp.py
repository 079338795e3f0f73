"""The segments that a TCP sender sent, and the times at which the sender learned of their arrival.

The module follows RFC 9293, and RFC 2018 for selective acknowledgements.
"""

from bisect import bisect_left

from ccmatic.fitting.log import NEVER
from ccmatic.fitting.readers.headers import SYN, TCP

#: The default for the bytes of data and options in a segment, if no SYN states them. A packet then has 1500 bytes.
USUAL = 1460

#: Marks a segment that the log omits: either in flight at the end, or a needless retransmission.
UNKNOWN = NEVER + 1


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
        """Record a packet that the sending end sends."""
        for piece in self.segments.of(header):
            if piece.length > 0:
                self.bytes += piece.size
                self._sends(piece, [now, UNKNOWN, piece.size, number])

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
        """Record a packet that the sending end receives."""
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
            first[1], again[-1][1] = now, UNKNOWN
        else:
            again[-1][1] = now

    def decided(self):
        """Return the rows of the packets that are certainly delivered or lost."""
        return (row for row in self.rows if row[1] != UNKNOWN)

    def _near(self, number):
        """Return a sequence number that does not wrap at 2^32: the candidate nearest to the acknowledged data."""
        near = number if self.acknowledged is None else self.acknowledged
        return near + (number - near + 2**31) % 2**32 - 2**31
