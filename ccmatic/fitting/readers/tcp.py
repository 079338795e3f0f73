"""What a sender of TCP sent, and when it heard that it arrived (RFC 9293; selective acknowledgements: RFC 2018)."""

from bisect import bisect_left

from ccmatic.fitting.log import NEVER
from ccmatic.fitting.readers.headers import SYN, TCP

#: Bytes of data in a segment, and its options, where no SYN tells: of a packet of 1500 bytes.
USUAL = 1460

#: Marks a segment that a log leaves out: on its way at the end, or sent in vain.
UNKNOWN = NEVER + 1


class Segments:
    """Cuts what a machine gives its network card to cut (TSO), or has put together (GRO), into segments."""

    def __init__(self):
        self.largest = {}

    def of(self, header):
        """The Headers of the segments of a packet; of any but a large one of TCP, itself."""
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
    """One end of a connection, which sends.

    rows: [sent, delivered, size, record] of each segment with data, in the order sent; instants in ns.
    out:  [first, end, rows of it] for each that nothing acknowledges yet, in order; the numbers are not modulo 2^32. Of
          the rows, the last is of when it was sent last.
    """

    def __init__(self):
        self.rows, self.out, self.bytes = [], [], 0
        self.segments, self.acknowledged, self.least = Segments(), None, None

    def sends(self, number, now, header):
        """It sends a packet."""
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
        """It receives a packet."""
        if header.flags & SYN:
            self.segments.of(header)
        if self.acknowledged is None:
            return
        self.acknowledged = max(self.acknowledged, self._near(header.ack))
        while self.out and self.out[0][1] <= self.acknowledged:
            self._delivered(self.out.pop(0), now)
        for left, right in header.sacks:
            first, end = self._near(left), self._near(right)
            at = bisect_left(self.out, first, key=lambda entry: entry[0])
            while at < len(self.out) and self.out[at][1] <= end:
                self._delivered(self.out.pop(at), now)

    def _delivered(self, entry, now):
        first, *again = entry[2]
        if not again:
            first[1] = now
            self.least = min(now - first[0], self.least or now)
        elif self.least is not None and now - again[-1][0] < self.least:
            first[1], again[-1][1] = now, UNKNOWN
        else:
            again[-1][1] = now

    def decided(self):
        """Return the rows whose packets were delivered or lost for sure."""
        return (row for row in self.rows if row[1] != UNKNOWN)

    def _near(self, number):
        """A sequence number, not modulo 2^32: the one nearest to what is acknowledged."""
        near = number if self.acknowledged is None else self.acknowledged
        return near + (number - near + 2**31) % 2**32 - 2**31
