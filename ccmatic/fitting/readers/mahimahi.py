"""Read logs and link traces of mahimahi.

The logs are those of mm-link (`--uplink-log`, `--downlink-log`), and link.log of `ccmatic emulate --out`:

- `MS + BYTES`: a packet arrives.
- `MS - BYTES DELAY`: a packet leaves.
- `MS d PACKETS BYTES`: packets are dropped.
- `MS # BYTES`: the link could carry this many bytes.

The line of a leaving packet contains the packet's delay, which identifies the packet. If other packets are ahead of
this packet in the queue, the queue dropped those other packets without a line, as CoDel does.
"""

from collections import deque

import numpy as np

from ccmatic.base import InputError, read_text, shown
from ccmatic.fitting.log import NEVER, packet_log
from ccmatic.fitting.readers.tables import BIGGEST, LARGEST, LATEST
from ccmatic.networks.trace_export import OPPORTUNITY, Opportunities

MAGIC = b"# mahimahi mm-link"
MS = 10**6

#: The number of numeric fields that each type of event has.
COUNTS = {"+": 1, "-": 2, "d": 2, "#": 1}

#: Marks a packet that is not yet reported as left or dropped.
WAITS = NEVER + 1

NOTE = "mm-link counts whole ms, so instants are early by up to 1 ms, and D is off by as much"


def read_log(path, two_clocks=False):
    """Return the PacketLog of an mm-link log. The result leaves out packets that still wait at the end of the log."""
    log = _Log(path)
    for line, text in enumerate(read_text(path, LARGEST).splitlines(), 1):
        if text.startswith("#"):
            log.head(text)
        else:
            log.event(line, text)
    rows = [row for row in log.rows if row[1] != WAITS]
    sent, delivered, size, lines = zip(*rows, strict=True) if rows else ((), (), (), ())
    return packet_log(path, sent, delivered, size, lines, two_clocks, (NOTE,), early=MS)


class _Log:
    """The state of a reader of mm-link logs.

    Attributes:
        rows: A list [sent, delivered, size, line] for each packet that arrived. Instants are in ns.
        waiting: The rows of the packets that are not yet reported as left or dropped, in order.
    """

    def __init__(self, path):
        self.path, self.rows, self.waiting, self.drops_heads = path, [], deque(), False

    def head(self, text):
        """Read a line of the log's header. Only the line that describes how the queue drops packets matters."""
        if text.startswith("# queue: "):
            self.drops_heads = text.startswith("# queue: drophead")

    def event(self, line, text):
        """Read an event line of the log. Raise InputError if the line cannot be read."""
        try:
            now, kind, *numbers = text.split()
            now, numbers = int(now), list(map(int, numbers))
            if len(numbers) != COUNTS[kind] or not all(0 <= n < 1000 * LATEST for n in (now, *numbers)):
                raise ValueError
            if kind in "+-" and numbers[0] >= BIGGEST:
                raise ValueError
        except (ValueError, KeyError):
            expected = f"MS + BYTES, MS - BYTES DELAY, MS d PACKETS BYTES or MS # BYTES, packets below {BIGGEST} bytes"
            raise InputError(f"'{shown(text)}'; expected {expected}", self.path, line) from None
        if kind == "+":
            self.rows.append([now * MS, WAITS, numbers[0], line])
            self.waiting.append(self.rows[-1])
        elif kind == "-":
            self._leave(line, now, *numbers)
        elif kind == "d":
            self._drop(line, numbers[0])

    def _leave(self, line, now, size, delay):
        while self.waiting:
            row = self.waiting.popleft()
            if (row[0], row[2]) == ((now - delay) * MS, size):
                row[1] = now * MS
                return
            row[1] = NEVER
        raise InputError(
            f"a packet of {size} bytes leaves that arrived at {now - delay} ms; no such arrival is in the log",
            self.path, line,
        )  # fmt: skip

    def _drop(self, line, count):
        if not 0 <= count <= len(self.waiting):
            raise InputError(f"{count} packets are dropped where {len(self.waiting)} wait", self.path, line)
        for _ in range(count):
            row = self.waiting.popleft() if self.drops_heads else self.waiting.pop()
            row[1] = NEVER


# ---- link traces ----
# Each delivery opportunity carried one packet, because the link always had a packet waiting.

TRACE_NOTE = (
    f"a link trace: each opportunity is a packet of {OPPORTUNITY} bytes, delivered in its ms, so D is off by up to 1 ms"
)


def is_trace(first):
    """Return whether a file with these first bytes is a link trace: the first line consists of digits."""
    return first.split(b"\n")[0].strip().isdigit()


def read_trace(path, two_clocks=False):
    """Return the PacketLog of a link trace that is played once."""
    delivered = MS * np.array(Opportunities.load(path).milliseconds, np.int64)
    sent, size = np.full(len(delivered), NEVER), np.full(len(delivered), OPPORTUNITY)
    return packet_log(path, sent, delivered, size, None, two_clocks, (TRACE_NOTE,))
