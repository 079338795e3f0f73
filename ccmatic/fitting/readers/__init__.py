"""Logs of packets, of one kind of file each: a module has `read_log(path, two_clocks)`, which gives a PacketLog.

The kind of a file is told by how it begins, not by its name.
"""

from ccmatic.base import InputError, opened, shown
from ccmatic.fitting.readers import capture_file, captures, csv_text, emulator, link_trace, mm_link, qlog

#: How many bytes of a file tell its kind.
FIRST = 4096


def read_log(path, two_clocks=False, received=None):
    """The PacketLog of a file of any kind; or of a capture at the sender and, where they are `received`, at the
    receiver. Raises InputError where it is none, with the line where one can be named."""
    begin = _begin(path)
    if received is not None:
        for file, first in ((path, begin), (received, _begin(received))):
            if not first.startswith(capture_file.MAGICS):
                said = "no capture; expected pcap or pcapng of the sender's end and of the receiver's"
                raise InputError(said, str(file))
        return captures.read_pair(str(path), str(received))
    for begins_so, reader in KINDS:
        if begins_so(begin):
            return reader(str(path), two_clocks)
    raise InputError(f"begins '{shown(begin[:40])}', as no log that is known; expected {EXPECTED}", str(path))


def _begin(path):
    with opened(path) as file:
        return file.read(FIRST)


#: What tells a kind of file by its first bytes, and its reader.
KINDS = (
    (lambda begin: begin.startswith(emulator.MAGIC), emulator.read_log),
    (lambda begin: begin.split(b"\n")[0].strip().replace(b" ", b"") == csv_text.HEADER.encode(), csv_text.read_log),
    (lambda begin: begin.startswith(mm_link.MAGIC), mm_link.read_log),
    (link_trace.begins, link_trace.read_log),
    (lambda begin: begin.startswith(capture_file.MAGICS), captures.read_log),
    (lambda begin: begin.lstrip().startswith((b"{", qlog.SEPARATOR.encode())), qlog.read_log),
)
EXPECTED = (
    f"CSV with the header '{csv_text.HEADER}', packets.npy of `ccmatic emulate --out`, a log or a link trace of "
    "mahimahi, a capture (pcap or pcapng), or a qlog"
)
