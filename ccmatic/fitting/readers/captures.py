"""Captures of packets: at the sender, whose TCP acknowledgements tell what arrived when, or at both ends."""

from collections import Counter, defaultdict, deque

from ccmatic.base import InputError
from ccmatic.fitting.log import NEVER, packet_log
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


def read_log(path, two_clocks=False):
    """The PacketLog of a sender's capture: data over TCP in the direction in which most was sent, all connections of
    two addresses together. Raises InputError."""
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
        raise InputError(
            "no data over TCP that is acknowledged; expected a capture at a sender, of both directions", path
        )
    return packet_log(path, *zip(*rows, strict=True), two_clocks, NOTES)


def read_pair(sent, received):
    """The PacketLog of two captures, of the sender's end and the receiver's: packets of TCP and UDP in the direction in
    which the first has most bytes. Raises InputError."""
    directions = {}
    for number, now, header in _pieces(sent):
        directions.setdefault(header.path, []).append((now, header.size, number, _key(header)))
    if not directions:
        raise InputError("no packet of TCP or UDP; expected some", sent)
    path = max(directions, key=lambda path: sum(row[1] for row in directions[path]))
    rows = directions[path]
    arrived = {}
    for _, now, header in _pieces(received):
        if header.path == path:
            arrived.setdefault(_key(header), deque()).append(now)
    # What was sent twice alike and arrived once arrived the second time.
    spare = Counter(row[3] for row in rows)
    delivered = []
    for *_, key in rows:
        there = arrived.get(key, ())
        delivered.append(there.popleft() if len(there) >= spare[key] else NEVER)
        spare[key] -= 1
    matched = [at for at, instant in enumerate(delivered) if instant != NEVER]
    if not matched:
        raise InputError(
            f"none of the packets of {sent} is in it; expected the same packets where they arrive", received
        )
    within = slice(matched[0], matched[-1] + 1)
    instants, sizes, numbers, _ = zip(*rows[within], strict=True)
    return packet_log(sent, instants, delivered[within], sizes, numbers, True, PAIR_NOTES)


def _pieces(path):
    """What `packets` gives, cut into segments as they are on the wire."""
    segments = Segments()
    for number, now, header in packets(path):
        for piece in segments.of(header):
            yield number, now, piece


def _key(header):
    """What a packet has at both ends, and no other, but for one sent again."""
    return header.ports, header.identity, header.length, header.seq, header.ack, header.flags & SYN, header.begins
