"""Read packet captures in the formats pcap and pcapng, and the header fields that a packet log needs.

The library dpkt reads the captures. But it needs 40 µs to create the objects of one packet, and captures have millions
of packets. So this module reads the headers itself.
"""

from decimal import Decimal
from struct import unpack_from
from typing import NamedTuple

from ccmatic.base import InputError, opened
from ccmatic.fitting.readers.tables import LATEST

#: The first bytes of packet captures: of pcap in both byte orders, with µs or ns, and of pcapng.
MAGICS = (b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1", b"\x0a\x0d\x0d\x0a")


def packets(path):
    """Yield (record number from 1, time of capture in ns, Header) for each TCP or UDP packet."""
    with opened(path) as file:
        yield from _packets(path, file)


def _packets(path, file):
    before = None
    number = 0
    for number, (link, seconds, frame) in enumerate(_records(path, file), 1):
        now = round(seconds * 10**9)
        if before is not None and now < before:
            early = f"record {number} was captured {(before - now) / 1e6:g} ms before the record before it"
            raise InputError(f"{early}; expected records in order of time (reordercap puts them so)", path, number)
        before = now
        header = decode(link, frame)
        if header:
            yield number, now, header
    if not number:
        raise InputError("a capture without packets; expected one at least", path)


def _records(path, file):
    """Yield (link type, time in seconds, frame) of each record."""
    import dpkt

    number = 1
    try:
        reader = dpkt.pcap.UniversalReader(_Whole(file))
        reader._divisor = Decimal(reader._divisor)  # exact times: a float of seconds since 1970 loses hundreds of ns
        link = reader.datalink()
        if link not in LINKS:
            types = ", ".join(map(str, sorted(LINKS)))
            raise InputError(f"a capture of links of type {link}; expected one of {types} (1 is Ethernet)", path)
        for seconds, frame in reader:
            if not frame or not abs(seconds) < LATEST:
                raise EOFError
            yield link, seconds, frame
            number += 1
    except (EOFError, ValueError, ArithmeticError, dpkt.Error):
        raise InputError(f"a capture that is cut off, or damaged, in record {number}", path, number) from None


class _Whole:
    """A file whose `read` raises EOFError if the file has fewer bytes than requested.

    Without this class, dpkt would treat a part of a record as a whole record.
    """

    def __init__(self, file):
        self.file, self.seek = file, file.seek

    def read(self, size):
        """Return `size` bytes, or no bytes at the end of the file. Raise EOFError if fewer bytes are left."""
        content = self.file.read(size) if size >= 0 else None
        if content is None or 0 < len(content) < size:
            raise EOFError
        return content


# ---- headers ----

TCP, UDP = 6, 17
SYN = 2

#: For each link type (https://www.tcpdump.org/linktypes.html): the offset of the network header in a frame, and the
#: offset of the field that names the network protocol (None if there is no such field).
LINKS = {1: (14, 12), 113: (16, 14), 276: (20, 0), 0: (4, None), 12: (0, None), 14: (0, None), 101: (0, None),
         228: (0, None), 229: (0, None)}  # fmt: skip
_VLAN, _IPV4, _IPV6 = (0x8100, 0x88A8), 0x0800, 0x86DD


class Header(NamedTuple):
    path: tuple  #: The source address and the destination address.
    ports: tuple  #: The source port, the destination port, and the protocol.
    size: int  #: The bytes of the IP packet.
    identity: int  #: The identification field of IPv4; 0 for IPv6.
    length: int  #: The number of bytes of data.
    begins: bytes  #: The first bytes of the data, for UDP.
    seq: int = 0  #: TCP's sequence number; 0 for UDP.
    ack: int = 0  #: TCP's acknowledgement number; 0 for UDP.
    flags: int = 0  #: TCP's flags; 0 for UDP.
    options: bytes = b""  #: TCP's options; empty for UDP.
    ecn: int = 0  #: The ECN field of IP (RFC 3168): 3 for the mark CE, 0 if the sender does not support ECN.

    @property
    def sacks(self):
        """The acknowledged ranges of a TCP packet with selective acknowledgements: (first, end) sequence numbers."""
        option = _option(self.options, 5)
        return [unpack_from(">II", option, at) for at in range(0, len(option) - 7, 8)]

    @property
    def largest(self):
        """The largest segment that the sender of a SYN accepts, from the TCP option; None if the option is missing."""
        option = _option(self.options, 2)
        return unpack_from(">H", option)[0] if len(option) == 2 else None


def decode(link, frame):
    """Return the Header of a frame with a link type in LINKS; None if the frame has no complete TCP or UDP header."""
    at, says = LINKS[link]
    carried = None if says is None or len(frame) < at else unpack_from(">H", frame, says)[0]
    while carried in _VLAN and link == 1 and len(frame) >= at + 4:
        carried, at = unpack_from(">H", frame, at + 2)[0], at + 4
    if len(frame) < at + 20 or carried not in (None, _IPV4, _IPV6):
        return None
    version = frame[at] >> 4
    if version == 4:
        ecn = frame[at + 1] & 3
        size, identity, fragment = unpack_from(">HHH", frame, at + 2)
        if fragment & 0x1FFF:
            return None
        protocol, path, inner = (
            frame[at + 9],
            (frame[at + 12 : at + 16], frame[at + 16 : at + 20]),
            (frame[at] & 15) * 4,
        )
    elif version == 6 and len(frame) >= at + 40:
        size, identity, inner, ecn = unpack_from(">H", frame, at + 4)[0] + 40, 0, 40, frame[at + 1] >> 4 & 3
        protocol, path = frame[at + 6], (frame[at + 8 : at + 24], frame[at + 24 : at + 40])
    else:
        return None
    # The header lacks the size of a packet over 64 KiB, which the kernel still has to cut into segments.
    size = size if size > inner else len(frame) - at
    return _transport(frame, at + inner, protocol, path, size, identity, size - inner, ecn)


def _transport(frame, at, protocol, path, size, identity, rest, ecn):
    if protocol == UDP and len(frame) >= at + 8:
        source, target = unpack_from(">HH", frame, at)
        return Header(path, (source, target, UDP), size, identity, rest - 8, frame[at + 8 : at + 40], ecn=ecn)
    if protocol != TCP or len(frame) < at + 20:
        return None
    source, target, seq, ack, words, flags = unpack_from(">HHIIBB", frame, at)
    inner = (words >> 4) * 4
    options = frame[at + 20 : at + inner]
    return Header(path, (source, target, TCP), size, identity, rest - inner, b"", seq, ack, flags, options, ecn)


def _option(options, kind):
    """Return the content of the TCP option with the number `kind`; empty if the packet lacks this option."""
    at = 0
    while at < len(options) and options[at]:
        if options[at] == 1:
            at += 1
            continue
        length = options[at + 1] if at + 1 < len(options) else 0
        if length < 2:
            break
        if options[at] == kind:
            return options[at + 2 : at + length]
        at += length
    return b""
