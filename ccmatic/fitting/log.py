"""A log of packets: when each was sent, when it was delivered, how large it was."""

from dataclasses import dataclass, replace

import numpy as np

from ccmatic.base import InputError

#: Nanoseconds in a second; and, in place of an instant, that there was none.
SECOND = 10**9
NEVER = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class PacketLog:
    """The packets of a path in one direction, all flows together, in the order sent; made by `packet_log`.

    source:    the file, as a person named it.
    sent:      int64 (n,), ns from any origin: when it came to the link; NEVER: it has waited since before the log.
    delivered: int64 (n,), ns from the same origin: when it was delivered; NEVER: it was lost.
    size:      int64 (n,), bytes, as they load the link.
    line:      int64 (n,), where the file has it, for messages: a line of text or the number of a record, from 1 on.
    two_clocks: sent and delivered are by clocks of two machines, so that a constant between them is unknown.
    early:     None: a packet is delivered once its last byte has left the link. A number: the link lets whole packets
               through at once, so that a delivery may be early by the largest packet's own time, and by so many ns.
    notes:     what a person has to know of how it was read, a sentence each.
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
        """bool (n,): which packets were lost."""
        return self.delivered == NEVER

    def kept(self):
        """The log without the packets that were lost."""
        return self._some(np.flatnonzero(~self.lost)) if self.lost.any() else self

    def _some(self, chosen):
        columns = {name: getattr(self, name)[chosen] for name in ("sent", "delivered", "size", "line")}
        return replace(self, **columns)

    def least_delay(self):
        """ns, of the packets of which both instants are known; None if there are none."""
        dated = ~self.lost & (self.sent != NEVER)
        return int((self.delivered - self.sent)[dated].min()) if dated.any() else None


def packet_log(source, sent, delivered, size, line=None, two_clocks=False, notes=(), early=None):
    """The PacketLog of arrays in any order; a packet's number is its place in them, from 1 on, unless `line` says
    otherwise. Raises InputError, naming the file and the packet's line, where they are no log that a path in order may
    leave: no packet is delivered, a size is not above 0, a packet is delivered before it was sent (by one clock) or
    before one that was sent before it."""
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
    """Refuse a packet that is delivered before one that was sent before it: the models keep order."""
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


def _refuse(log, wrong, says):
    places = np.flatnonzero(wrong)
    if len(places):
        raise InputError(says(places[0]), log.source, int(log.line[places[0]]))


def _early(by):
    return (
        f"delivered {_ms(by)} before it was sent; expected by one clock, or --two-clocks where sender and receiver "
        "have clocks of their own"
    )


def _ms(ns):
    return f"{ns / 1e6:.6g} ms"
