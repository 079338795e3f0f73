"""Read packet captures: a pair from both ends, or one from the sender. There, TCP acknowledgements show arrivals."""

from collections import Counter, defaultdict, deque

from ccmatic.base import InputError
from ccmatic.fitting.log import NEVER, UNKNOWN, packet_log
from ccmatic.fitting.readers.capture_file import packets
from ccmatic.fitting.readers.headers import SYN, TCP
from ccmatic.fitting.readers.tcp import Segments, TcpSender

NOTES = (
    "captured at the sender: a segment counts as delivered when its acknowledgement is captured, cumulative or "
    "selective, so the delay of acknowledgements, and that of the receiver until it sends them, is part of D",
    "a segment that was sent again was lost the first time, unless its acknowledgement came sooner after that than any "
    "other; what was sent in vain is left out",
)
PAIR_NOTES = ("captured at both ends: packets that the receiver's capture lacks, between two that it has, were lost",)

#: The values of PacketLog.marked for two values of the ECN field: CE, and no support of ECN.
MARKS = {3: 1, 0: UNKNOWN}


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
