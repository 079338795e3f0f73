"""What senders believe at the end of each step, beside what the link was: a belief is true or false of it.

A sender counts its bytes in full packets of `packet` bytes, without what the kernel puts before them. So what the link
has is counted in such, too, for packets as large as the link takes.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import SimpleNamespace

import numpy as np

from ccmatic.base import RATE, read_text
from ccmatic.contracts import Buffer, RunningMax, is_bound
from ccmatic.emulation.link import ENDLESS, SECOND

#: A bound has converged when it says so much of what it says half of the time from then on.
CLOSE = 0.9


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of a sender. columns: int64 arrays by name, as a log has them (docs/deploy.md), a value a step; and
    `time`, when it was over, in ns of the run. log: the flows.Log that they are from."""

    columns: dict
    log: object

    def __len__(self):
        return len(self.columns["time"])

    @cached_property
    def converged(self):
        """When beliefs had converged: how many windows were over when all bounds on the link's rate had, and the time
        then, in ns of the run. None if they had not in the first half."""
        bounds = [belief for belief in self.log.model.beliefs if is_bound(belief) and belief.unit == RATE]
        for i in range(self.log.window, len(self) // 2 + 1, self.log.window):
            if all(self._has_converged(belief, i) for belief in bounds):
                return i // self.log.window, int(self.columns["time"][i])
        return None

    def _has_converged(self, belief, i):
        values = self.columns[belief.name][i:] / self.columns["step_ns"][i:]
        now, usual = values[0], np.median(values)
        return now >= CLOSE * usual if isinstance(belief, RunningMax) else CLOSE * now <= usual

    @cached_property
    def outside(self):
        """Return by how many packets each step but the last left the envelope of the sender: above 0 it sent more than
        the most, below 0 less than the least. A step that the log lacks, or whose length changed, has 0."""
        sent, time, length = (self.columns[name] for name in ("sent", "time", "step_ns"))
        regular = np.diff(time) == length[:-1]
        return np.array([self._off(i, int(sent[i + 1] - sent[i])) if regular[i] else 0.0 for i in range(len(regular))])

    def _off(self, i, sent):
        packet = int(self.columns["packet"][i])
        beliefs = {belief.name: int(self.columns[belief.name][i]) for belief in self.log.model.beliefs}
        constants = {"MSS": packet, "R_m": 1, "D": self.log.model.default_jitter}
        low, high = self.log.envelope.allowed(beliefs | constants)
        return float(min(0, sent - low) + max(0, sent - high)) / packet

    def missing(self, end):
        """For how long, in ns, the sender took no step: between two steps, and after the last until `end`, in ns of the
        run. Of a sender that takes its steps by a clock."""
        time, length = self.columns["time"], self.columns["step_ns"]
        if not len(time):
            return 0
        between = np.diff(time) - np.maximum(length[:-1], length[1:])
        return int(between[between > 0].sum() + max(0, end - time[-1] - length[-1]))

    def false(self, link, packets, until):
        """The beliefs that are false of a link at the end of steps that are over by `until`, in ns of the run, up to
        which the link is the flow's alone and has one rate: (step, belief's name, Truth). packets: of the run's log,
        those that were not lost."""
        for i in np.flatnonzero((self.columns["time"] >= 0) & (self.columns["time"] <= until)):
            row = {name: int(column[i]) for name, column in self.columns.items()}
            truth = _truth(link, packets, row)
            view = truth.view(row, self.log.model)
            for belief in self.log.model.beliefs:
                if not _is_true(belief, view):
                    yield int(i), belief.name, truth


@dataclass(frozen=True)
class Truth:
    """What a link is at an instant, as its sender counts: C in bytes per step; bytes of the buffer, None if infinite,
    and in the queue."""

    C: Fraction
    beta: Fraction | None
    queue: Fraction

    def __str__(self):
        return f"C was {float(self.C):.0f} bytes a step and {float(self.queue):.0f} bytes waited"

    def view(self, row, model):
        """The same for the conditions of beliefs, as of the first step of an execution (contracts.NetworkView)."""
        return SimpleNamespace(
            C=self.C,
            beta=self.beta,
            buffer=Buffer("infinite") if self.beta is None else Buffer("exactly", self.beta),
            D=model.default_jitter,
            beliefs={belief.name: [row[belief.name]] for belief in model.beliefs},
            queue=lambda t: self.queue,
        )


def _truth(link, packets, row):
    rate, share = Fraction(link.rates[0][1], 8 * SECOND), Fraction(row["packet"], link.mtu)
    return Truth(
        C=rate * row["step_ns"] * share,
        beta=None if link.buffer == ENDLESS else link.buffer * share,
        queue=_queue(link.mtu, packets, row["time"]) * share,
    )


def _queue(size, packets, now):
    """Bytes that wait, the packet that is being served left out: senders believe of a fluid. So are packets of another
    size, of which the sender does not know: handshakes."""
    arrived = np.searchsorted(packets["arrival"], now, side="right")
    waiting = packets[np.searchsorted(packets["admitted"], now, side="right") : arrived]
    return Fraction(int(waiting["size"][1:][waiting["size"][1:] == size].sum()))


def _is_true(belief, view):
    if is_bound(belief):
        return belief.holds(view, view.beliefs[belief.name][0])
    return not belief.holds_at or belief.holds_at(view, 0)


def read_steps(log, origin):
    """Read the Steps of a flows.Log; None if its sender ended before its first step.

    origin: the time 0 of the run, in ns by the clock of the log. An incomplete last line, which the sender was writing
    when it ended, is left out."""
    text = read_text(log.file) if log.file.exists() else ""
    head, *lines = text.split("\n")[:-1] or [""]
    if not head:
        return None
    rows = np.array([line.split(",") for line in lines], np.int64).reshape(len(lines), head.count(",") + 1)
    columns = dict(zip(head.split(","), rows.T, strict=True))
    return Steps(columns | {"time": columns["time_ns"] - origin}, log)
