"""Logs of mahimahi's mm-link (`--uplink-log`, `--downlink-log`), and link.log of `ccmatic emulate --out`.

`MS + BYTES` is a packet that arrives, `MS - BYTES DELAY` one that leaves, `MS d PACKETS BYTES` packets that are
dropped, `MS # BYTES` what the link could carry. What leaves says how long it was there, so which it is; what it finds
before it in the queue was dropped without a word, as CoDel does.
"""

from collections import deque

from ccmatic.base import InputError, read_text, shown
from ccmatic.fitting.log import NEVER, packet_log
from ccmatic.fitting.readers.csv_text import BIGGEST, LARGEST, LATEST

MAGIC = b"# mahimahi mm-link"
MS = 10**6

#: How many numbers follow what happened.
COUNTS = {"+": 1, "-": 2, "d": 2, "#": 1}

#: Nothing says yet what became of a packet.
WAITS = NEVER + 1

NOTE = "mm-link counts whole ms, so instants are early by up to 1 ms, and D is off by as much"


def read_log(path, two_clocks=False):
    """The PacketLog of a log. What still waits at its end is left out. Raises InputError."""
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
    """rows: [sent, delivered, size, line] of each packet that arrived, instants in ns; waiting: those of them that no
    line told to have left or been dropped, in order."""

    def __init__(self, path):
        self.path, self.rows, self.waiting, self.drops_heads = path, [], deque(), False

    def head(self, text):
        """A line of the log's head: of all it says, which packets the queue drops."""
        if text.startswith("# queue: "):
            self.drops_heads = text.startswith("# queue: drophead")

    def event(self, line, text):
        """A line of the log. Raises InputError."""
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
            self._leaves(line, now, *numbers)
        elif kind == "d":
            self._dropped(line, numbers[0])

    def _leaves(self, line, now, size, delay):
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

    def _dropped(self, line, count):
        if not 0 <= count <= len(self.waiting):
            raise InputError(f"{count} packets are dropped where {len(self.waiting)} wait", self.path, line)
        for _ in range(count):
            row = self.waiting.popleft() if self.drops_heads else self.waiting.pop()
            row[1] = NEVER
