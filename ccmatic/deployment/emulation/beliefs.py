"""The beliefs of senders at the end of each step, and whether these beliefs were true of the link.

A sender counts bytes in full packets of `packet` bytes, without the headers that the kernel adds. Therefore, the link's
bytes are multiplied by `packet` and divided by the size of the link's largest packet.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import SimpleNamespace

import numpy as np

from ccmatic.base import RATE, read_text
from ccmatic.contracts import Buffer, RunningMax, is_bound
from ccmatic.deployment.emulation.link import ENDLESS, SECOND

#: A bound has converged at the first step from which on it stays within this factor of its median.
CLOSE = 0.9


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of one sender in a run."""

    #: int64 arrays by name, as in docs/reference/senders.md; `time`: the end of the step in ns of the run
    columns: dict
    log: object  #: the flows.Log from which the steps were read

    def __len__(self):
        return len(self.columns["time"])

    @cached_property
    def converged(self):
        """The time at which the beliefs converged, as a pair: (finished windows, time in ns of the run).

        Beliefs have converged once all bounds on the link's rate have converged. The pair is None if the beliefs did
        not converge in the first half of the run.
        """
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
        """The number of packets by which the sender left its envelope in each step except the last.

        A positive number is the excess over the highest allowed rate. A negative number is the shortfall below the
        lowest allowed rate. The number is 0 if the log lacks the step, or if the step's length changed.
        """
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
        """Return the total time in ns for which a sender that steps by a clock took no steps.

        The result is the sum of the gaps between steps and of the gap from the last step to `end`, an instant in ns of
        the run.
        """
        time, length = self.columns["time"], self.columns["step_ns"]
        if not len(time):
            return 0
        between = np.diff(time) - np.maximum(length[:-1], length[1:])
        return int(between[between > 0].sum() + max(0, end - time[-1] - length[-1]))

    def false(self, link, packets, until):
        """Yield each false belief at the end of a step: (step, the belief's name, Truth).

        The checked steps end at `until`, in ns of the run. Before this time, no other flow uses the link, and the link
        has a constant rate. The packets are those that were not lost.
        """
        for i in np.flatnonzero((self.columns["time"] >= 0) & (self.columns["time"] <= until)):
            row = {name: int(column[i]) for name, column in self.columns.items()}
            truth = _truth(link, packets, row)
            view = truth.view(row, self.log.model)
            for belief in self.log.model.beliefs:
                if not _is_true(belief, view):
                    yield int(i), belief.name, truth


@dataclass(frozen=True)
class Truth:
    """The true state of a link at an instant, in the sender's units."""

    C: Fraction  #: the link's rate in bytes per step
    beta: Fraction | None  #: the size of the buffer in bytes; None if it is infinite
    queue: Fraction  #: the bytes in the queue

    def __str__(self):
        return f"C was {float(self.C):.0f} bytes a step and {float(self.queue):.0f} bytes waited"

    def view(self, row, model):
        """Return the state in the form that the conditions of beliefs read: the first step of an execution."""
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
    """Return the waiting bytes without the packet in service, because the sender's model treats traffic as a fluid.

    The function also omits packets of another size, such as handshakes, because the sender does not know of them.
    """
    arrived = np.searchsorted(packets["arrival"], now, side="right")
    waiting = packets[np.searchsorted(packets["admitted"], now, side="right") : arrived]
    return Fraction(int(waiting["size"][1:][waiting["size"][1:] == size].sum()))


def _is_true(belief, view):
    if is_bound(belief):
        return belief.holds(view, view.beliefs[belief.name][0])
    return not belief.holds_at or belief.holds_at(view, 0)


def read_steps(log, origin):
    """Read the Steps from a flows.Log; None if the sender ended before its first step was over.

    Time 0 of the run is `origin`, in ns on the clock of the log. If the sender ended while it wrote the last line, the
    function ignores this incomplete line.
    """
    text = read_text(log.file) if log.file.exists() else ""
    head, *lines = text.split("\n")[:-1] or [""]
    if not head:
        return None
    rows = np.array([line.split(",") for line in lines], np.int64).reshape(len(lines), head.count(",") + 1)
    columns = dict(zip(head.split(","), rows.T, strict=True))
    return Steps(columns | {"time": columns["time_ns"] - origin}, log)
