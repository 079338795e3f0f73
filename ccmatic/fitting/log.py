"""A log of packets: when each was sent, when it was delivered, and its size."""

from dataclasses import dataclass, replace

import numpy as np

from ccmatic.base import InputError

#: Nanoseconds in a second, and the value of an instant that does not exist.
SECOND = 10**9
NEVER = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class PacketLog:
    """The packets of a path in one direction, of all flows together, in the order sent; made by `packet_log`.

    Attributes:
        source: The file, as a person named it.
        sent: int64 (n,), when each packet came to the link, in ns from any origin. NEVER if it has waited since before
            the log.
        delivered: int64 (n,), when each packet was delivered, in ns from the same origin. NEVER if it was lost.
        size: int64 (n,), the bytes with which each packet loads the link.
        line: int64 (n,), the place in the file, for messages: the number of a line of text or of a record, from 1.
        two_clocks: Whether clocks of two machines gave `sent` and `delivered`, with an unknown constant between them.
        early: If None, a packet is delivered once its last byte has left the link. If it is a number, the link passes
            whole packets at once, so a delivery may be early by the largest packet's transmission time plus this number
            of ns.
        notes: Sentences for people about how the log was read.
    """

    source: str
    sent: np.ndarray
    delivered: np.ndarray
    size: np.ndarray
    line: np.ndarray
    two_clocks: bool = False
    early: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def lost(self):
        """bool (n,): whether each packet was lost."""
        return self.delivered == NEVER

    def kept(self):
        """Return the log without the lost packets."""
        return self._some(np.flatnonzero(~self.lost)) if self.lost.any() else self

    def _some(self, chosen):
        columns = {name: getattr(self, name)[chosen] for name in ("sent", "delivered", "size", "line")}
        return replace(self, **columns)

    def least_delay(self):
        """Return the shortest delay in ns of the packets with both instants known; None if there are none."""
        dated = ~self.lost & (self.sent != NEVER)
        return int((self.delivered - self.sent)[dated].min()) if dated.any() else None


def packet_log(source, sent, delivered, size, line=None, two_clocks=False, notes=(), early=None):
    """Return the PacketLog of arrays in any order.

    Args:
        source: The file, as a person named it.
        sent: See PacketLog.
        delivered: See PacketLog.
        size: See PacketLog.
        line: See PacketLog; if None, a packet's place in the arrays, from 1.
        two_clocks: See PacketLog.
        notes: See PacketLog.
        early: See PacketLog.

    Raises:
        InputError: No path that keeps the order can leave such a log. The message names the file and the packet's line.
            Either no packet is delivered; or a size is not above 0; or a packet is delivered before it was sent (with
            one clock), or before an earlier packet.
    """
    sent, delivered, size = (np.asarray(column, np.int64) for column in (sent, delivered, size))
    line = np.arange(1, len(sent) + 1) if line is None else np.asarray(line, np.int64)
    log = PacketLog(source, sent, delivered, size, line, two_clocks, early, tuple(notes))
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
    """Refuse a packet that is delivered before one that was sent earlier: the models keep the order."""
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
