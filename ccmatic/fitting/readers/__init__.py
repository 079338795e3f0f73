"""Read packet logs. Each format has a function of a path and `two_clocks`, which returns a PacketLog.

The first bytes of a file determine its format. The name of the file does not matter.
"""

import codecs

from ccmatic.base import InputError, opened, shown
from ccmatic.fitting.readers import capture_file, captures, mahimahi, qlog, tables

#: The number of first bytes that determine a file's format.
FIRST = 4096


def read_log(path, two_clocks=False, received=None):
    """Read a log file of any supported format."""
    begin = _begin(path)
    if received is not None:
        for file, first in ((path, begin), (received, _begin(received))):
            if not first.startswith(capture_file.MAGICS):
                problem = "no capture; expected pcap or pcapng of the sender's end and of the receiver's"
                raise InputError(problem, str(file))
        return captures.read_pair(str(path), str(received))
    for is_kind, reader in KINDS:
        if is_kind(begin):
            return reader(str(path), two_clocks)
    beginning = shown(begin.decode(errors="replace"))
    problem = f"begins '{beginning}', which is no known kind of log" if begin else "is empty"
    raise InputError(f"{problem}; expected {EXPECTED}", str(path))


def _begin(path):
    """Return the first bytes of a file, without the byte order mark of UTF-8."""
    with opened(path) as file:
        return file.read(FIRST).removeprefix(codecs.BOM_UTF8)


#: The supported formats: for each one a test of the first bytes, and its reader.
KINDS = (
    (lambda begin: begin.startswith(tables.MAGIC), tables.read_array),
    (lambda begin: begin.split(b"\n")[0].replace(b" ", b"").startswith(tables.HEADER.encode()), tables.read_csv),
    (lambda begin: begin.startswith(mahimahi.MAGIC), mahimahi.read_log),
    (mahimahi.is_trace, mahimahi.read_trace),
    (lambda begin: begin.startswith(capture_file.MAGICS), captures.read_log),
    (lambda begin: begin.lstrip().startswith((b"{", qlog.SEPARATOR.encode())), qlog.read_log),
)
EXPECTED = (
    f"CSV with the header '{tables.HEADER}', packets.npy of `ccmatic emulate --out`, a log or a link trace of "
    "mahimahi, a capture (pcap or pcapng), or a qlog"
)
