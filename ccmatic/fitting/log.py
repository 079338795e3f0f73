"""A packet log: the sending time, the delivery time and the size of each packet."""

from dataclasses import dataclass, replace

import numpy as np

from ccmatic.base import InputError
from ccmatic.contracts import Rows

#: The nanoseconds in a second, and the value that stands for a missing instant.
SECOND = 10**9
NEVER = np.iinfo(np.int64).min

#: The value of `marked` if a log does not state whether a packet has the mark CE. Such a packet was lost, or its sender
#: does not support ECN.
UNKNOWN = -1

#: A packet with an unknown sending time counts as sent this many seconds before its part of the log. Any time before
#: all known times would be correct.
EARLY = 1e6


@dataclass(frozen=True, eq=False)
class PacketLog:
    """The packets of all flows on a path in one direction, in the order sent. `packet_log` creates a PacketLog."""

    source: str  #: The name of the file, as the user wrote it.
    #: int64 (n,), the time at which each packet arrived at the link, in ns from any origin. NEVER marks a packet that
    #: already waited when the log began.
    sent: np.ndarray
    #: int64 (n,), the time at which each packet was delivered, in ns from the origin of `sent`. NEVER marks a lost
    #: packet.
    delivered: np.ndarray
    size: np.ndarray  #: int64 (n,), the size of each packet on the link in bytes.
    marked: np.ndarray  #: int8 (n,), 1 if a packet was delivered with the mark CE, 0 without, and UNKNOWN.
    #: int64 (n,), each packet's place in the file, for messages: the number of a text line or a record, from 1.
    line: np.ndarray
    #: Whether `sent` and `delivered` come from the clocks of two machines, with an unknown offset.
    two_clocks: bool = False
    #: None if the link delivers a packet only after the packet's last byte has left the link. If the link passes whole
    #: packets at once, a number of ns. A delivery may then be early by the largest packet's transmission time plus this
    #: number.
    early: int | None = None
    notes: tuple[str, ...] = ()  #: Sentences for the user about assumptions of the log's reader.

    @property
    def lost(self):
        """bool (n,), whether each packet was lost."""
        return self.delivered == NEVER

    def kept(self):
        """Return the log without the lost packets."""
        return self._some(np.flatnonzero(~self.lost)) if self.lost.any() else self

    def _some(self, chosen):
        columns = {name: getattr(self, name)[chosen] for name in ("sent", "delivered", "size", "marked", "line")}
        return replace(self, **columns)

    def least_delay(self):
        """Return the shortest delay in ns of packets whose two times are known; None if there is no such packet."""
        dated = ~self.lost & (self.sent != NEVER)
        return int((self.delivered - self.sent)[dated].min()) if dated.any() else None


def packet_log(source, sent, delivered, size, line=None, two_clocks=False, notes=(), early=None, marked=None):
    """Return the PacketLog of arrays whose packets are in any order."""
    sent, delivered, size = (np.asarray(column, np.int64) for column in (sent, delivered, size))
    line = np.arange(1, len(sent) + 1) if line is None else np.asarray(line, np.int64)
    marked = np.where(delivered == NEVER, UNKNOWN, UNKNOWN if marked is None else marked).astype(np.int8)
    log = PacketLog(source, sent, delivered, size, marked, line, two_clocks, early, tuple(notes))
    _refuse(log, size <= 0, lambda i: f"a packet of {size[i]} bytes; expected more than 0")
    if not (~log.lost).any():
        raise InputError("no packet is delivered; expected at least one", source)
    if not two_clocks:
        _refuse(log, ~log.lost & (delivered < sent), lambda i: _early(sent[i] - delivered[i]))
    if (sent[1:] < sent[:-1]).any():
        log = log._some(np.argsort(sent, kind="stable"))
    _check_order(log)
    return log


def _check_order(log):
    """Raise InputError if a packet is delivered before an earlier packet, because the models keep the order."""
    kept = np.flatnonzero(~log.lost)
    arrived = log.delivered[kept]
    latest = np.maximum.accumulate(arrived)
    overtaking = np.flatnonzero(arrived < latest)
    if len(overtaking):
        first = overtaking[0]
        behind = int(np.searchsorted(latest, latest[first]))
        ahead = f"{_ms(latest[first] - arrived[first])} before the packet of line {log.line[kept[behind]]}"
        problem = f"delivered {ahead}, which was sent before it"
        more = f", as {len(overtaking)} packets overtake others" if len(overtaking) > 1 else ""
        raise InputError(
            f"{problem}{more}; expected delivery in the order sent", log.source, int(log.line[kept[first]])
        )


def _refuse(log, wrong, message):
    places = np.flatnonzero(wrong)
    if len(places):
        raise InputError(message(places[0]), log.source, int(log.line[places[0]]))


def _early(by):
    return (
        f"delivered {_ms(by)} before it was sent; expected by one clock, or --two-clocks where sender and receiver "
        "have clocks of their own"
    )


def _ms(ns):
    return f"{ns / 1e6:.6g} ms"


def rows(log, starts, ends):
    """Return the Rows of parts of a log without losses.

    A part contains the packets from its start up to, not including, its end.
    """
    length = max(ends - starts)
    place = starts[:, None] + np.arange(length)
    beyond = place >= ends[:, None]
    place = np.minimum(place, ends[:, None] - 1)
    origin = log.delivered[starts][:, None]
    dated = log.sent[place] != NEVER
    sent = np.where(dated, (log.sent[place] - origin) / SECOND, -EARLY)
    size = np.where(beyond, 0, log.size[place])
    through = np.cumsum(size, axis=1, dtype=np.float64)
    return Rows(sent, (log.delivered[place] - origin) / SECOND, through, through - size)
