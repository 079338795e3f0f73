"""Read packet captures in the formats pcap and pcapng, with the library dpkt."""

from decimal import Decimal

from ccmatic.base import InputError, opened
from ccmatic.fitting.readers.csv_text import LATEST
from ccmatic.fitting.readers.headers import LINKS, decode

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
