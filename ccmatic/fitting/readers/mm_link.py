"""Read logs of mahimahi's mm-link (`--uplink-log`, `--downlink-log`), and link.log of `ccmatic emulate --out`.

- `MS + BYTES`: a packet arrives.
- `MS - BYTES DELAY`: a packet leaves.
- `MS d PACKETS BYTES`: packets are dropped.
- `MS # BYTES`: the link could carry this many bytes.

A leaving packet's line has its delay, which identifies the packet. If other packets are before it in the queue then,
they were dropped without a line, as CoDel does.
"""

from collections import deque

from ccmatic.base import InputError, read_text, shown
from ccmatic.fitting.log import NEVER, packet_log
from ccmatic.fitting.readers.csv_text import BIGGEST, LARGEST, LATEST

MAGIC = b"# mahimahi mm-link"
MS = 10**6

#: How many numbers follow each kind of event.
COUNTS = {"+": 1, "-": 2, "d": 2, "#": 1}

#: No line has reported the packet's fate yet.
WAITS = NEVER + 1

NOTE = "mm-link counts whole ms, so instants are early by up to 1 ms, and D is off by as much"


def read_log(path, two_clocks=False):
    """Return the PacketLog of a log. Packets that still wait at its end are left out.

    Args:
        path: The file.
        two_clocks: Whether sender and receiver have clocks of their own.

    Raises:
        InputError: A line cannot be read, or contradicts earlier ones.
    """
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
    """The state of reading a log.

    Attributes:
        rows: [sent, delivered, size, line] of each packet that arrived; instants in ns.
        waiting: The rows of packets that no line has reported as left or dropped, in order.
    """

    def __init__(self, path):
        self.path, self.rows, self.waiting, self.drops_heads = path, [], deque(), False

    def head(self, text):
        """Read a line of the log's head. Only the line about which packets the queue drops matters."""
        if text.startswith("# queue: "):
            self.drops_heads = text.startswith("# queue: drophead")

    def event(self, line, text):
        """Read a line of the log; InputError if it cannot be read."""
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
