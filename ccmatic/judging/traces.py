"""Windows of a recording as executions of the models, in exact numbers.

A packet's bytes pass the bottleneck one by one, as the models' bytes do. Each byte stays in the jitter box for as long
as its packet does, or until the packet before leaves. So bytes, like packets, leave in order and at most D later.
Packets may arrive at any instant of a step. The models allow this in steps in which the application limits the sender.
So every step counts as one.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil
from typing import Any

import numpy as np

from ccmatic import records
from ccmatic.base import InputError, definitions
from ccmatic.contracts import Model, load_definition
from ccmatic.judging.laws import FULL, PERIOD, Curve, propagations
from ccmatic.judging.scenario import Scenario
from ccmatic.networks.simulation import delays, sampled
from ccmatic.networks.traces import Trace

#: The most steps of a window, unless D is long.
MOST = 20

#: The expectation of the trace's query, which every execution meets. The trace only shows that the network is lawful.
_ASKED = "loss <= 100%"

#: The parameter of models whose senders may be limited by their application.
_PAUSES = "application=pauses"


def trace(recording: Any, at: int | None = None) -> Trace:
    """Return a window of a lawful recording as a Trace. A step is R_m, and D is rounded up to whole steps."""
    s: Scenario = recording.scenario
    packets = recording.packets.tolist()
    fluid = _Fluid(s, packets)
    at = _instant(s, packets) if at is None else at
    start, horizon = _window(s, fluid, at)
    lost = [packet for packet in packets if packet[5] and start < packet[0] <= start + horizon * s.rtt]
    bdp, room = fluid.curve.rate(start + 1) * s.rtt, fluid.curve.buffer(start + 1) * PERIOD
    least = min(s.packet * PERIOD, bdp // 6, room // 2)
    model = _model(s, lost, Fraction(least, PERIOD))
    samples = _samples(s, fluid, start, horizon, least)
    first = len(samples["A"]) - horizon
    made: Trace = sampled(samples, model, _jitter(s), bdp, room, first, horizon, Fraction(least, bdp), s.seed)
    asked = {"name": definitions.chosen("properties", "EXPECTS"), "what": _ASKED, "start": "any"}
    return replace(made.measuring(model.measures), query={**made.query, "property": asked})


def _instant(s: Scenario, packets: Sequence[Any]) -> int:
    holds = [event.at for event in s.events if isinstance(event, records.HoldEvent)]
    losses = (packet[0] for packet in packets if packet[5])
    return holds[0] if holds else next(losses, s.duration // 2)


def _jitter(s: Scenario) -> int:
    return max(1, ceil(Fraction(s.jitter, s.rtt)))


def _window(s: Scenario, fluid: "_Fluid", at: int) -> tuple[int, int]:
    """Return the instant before the first step of a window, and the number of its steps.

    The rate and the buffer are constant in the window, and have been since its bytes arrived.
    """
    end = s.duration - max([s.rtt, *(event.rtt for event in s.events if isinstance(event, records.RttEvent))])
    end -= max((flow.rtt or s.rtt) - s.rtt for flow in s.flows)
    edges = [0, *(time for time in fluid.curve.changes() if 0 < time < end), end]
    least, longest = max(3, _jitter(s) + 2), max(MOST, 2 * _jitter(s))
    place = min(max(bisect_right(edges, at) - 1, 0), len(edges) - 2)
    for near in sorted(range(len(edges) - 1), key=lambda other: abs(other - place)):
        begin, most = edges[near], edges[near + 1]
        start = begin + (_jitter(s) * s.rtt if begin else 0)
        while start < most and not fluid.settled(begin, start, s.rtt):
            start += s.rtt
        steps = (most - start) // s.rtt
        if steps > least and fluid.curve.rate(start + 1):
            wanted = max(0, (at - start) // s.rtt - longest // 2) if near == place else 0
            skipped = min(wanted, max(0, steps - longest))
            return start + skipped * s.rtt, min(longest, steps - skipped)
    raise InputError(f"no trace: no {least} R_m of the run have one rate and one buffer")


def _model(s: Scenario, lost: Sequence[Any], packet: Fraction) -> Model:
    """Return the model of a window. If packets are lost for other reasons than a full buffer, its links lose bytes."""
    others = any(each[5] != FULL for each in lost)
    name = definitions.chosen("models", "LOSSY" if others else "EMULATED")
    share = s.loss.share if s.loss and s.loss.share else Fraction(1, 10**9)
    burst = ceil(sum(each[3] for each in lost) / packet) if others else 0
    loss = f"loss_rate={share},loss_burst={burst}," if others else ""
    model: Model = load_definition("models", "MODEL", f"{name}:{loss}{_PAUSES}")
    return model


class _Fluid:
    """The bytes of a recording as a fluid: bytes that have arrived, passed the bottleneck, and left the jitter box."""

    def __init__(self, s: Scenario, packets: Sequence[Any]) -> None:
        self.curve = Curve(s)
        self._jitter = s.jitter
        kept, propagation = [packet for packet in packets if not packet[5]], propagations(s)
        self._arrivals, self._sent = [packet[0] for packet in packets], _sums(packet[3] for packet in packets)
        self._came, self._accepted = [packet[0] for packet in kept], _sums(packet[3] for packet in kept)
        self._ends = [0]
        for arrival, _, _, size, *_ in kept:
            self._ends.append(max(self._ends[-1], self.curve.served(arrival)) + size * PERIOD)
        self._admitted = [packet[1] for packet in kept]
        self._left: list[int] = []
        shrinks = _shrinks(s)
        for _, admitted, released, _, flow, *_ in kept:
            if released >= 0:
                left = released - propagation(flow, admitted)
                self._left.append(self._waited(left, admitted) if shrinks else left)

    def settled(self, begin: int, start: int, step: int) -> bool:
        """Return whether the queue fits the buffer after a change at `begin`, and only bytes from then on leave."""
        if not begin:
            return True
        before, now = self.left(start - step), self.left(start)
        fits = self.backlog(start + step) <= self.curve.buffer(start + 1) * PERIOD
        return fits and now > before >= self.accepted(begin)

    def _waited(self, left: int, admitted: int) -> int:
        """Return when a packet left the box, on a path whose R_m shrinks: it may wait behind the box for others."""
        return max(min(left, admitted + self._jitter), self._left[-1] if self._left else 0)

    def sent(self, time: int) -> int:
        """Return the bytes sent by an instant, times PERIOD, as all amounts of this class."""
        return self._sent[bisect_right(self._arrivals, time)] * PERIOD

    def accepted(self, time: int) -> int:
        """Return the bytes that the link has accepted."""
        return self._accepted[bisect_right(self._came, time)] * PERIOD

    def backlog(self, time: int) -> int:
        """Return the bytes that wait at the bottleneck."""
        return max(0, self._ends[bisect_right(self._came, time)] - self.curve.served(time))

    def admitted(self, time: int) -> int:
        """Return the bytes that have passed the bottleneck."""
        return self.accepted(time) - self.backlog(time) if time >= 0 else 0

    def left(self, time: int) -> int:
        """Return the bytes that have left the jitter box."""
        whole = bisect_right(self._left, time)
        low = self._accepted[whole] * PERIOD
        if whole == len(self._admitted):
            return low
        held = self._left[whole] - self._admitted[whole] if whole < len(self._left) else self._jitter
        return min(max(low, self.admitted(time - held)), self._accepted[whole + 1] * PERIOD)


def _shrinks(s: Scenario) -> bool:
    values = [s.rtt, *(event.rtt for event in s.events if isinstance(event, records.RttEvent))]
    return any(later < now for now, later in pairwise(values))


def _sums(sizes: Any) -> list[int]:
    return [0, *accumulate(sizes)]


def _samples(s: Scenario, fluid: _Fluid, start: int, horizon: int, least: int) -> dict[str, Any]:
    """Return the columns at the ends of all steps until the end of a window, for `networks.simulation.sampled`."""
    before = start // s.rtt
    ends = [start + (number - before) * s.rtt for number in range(before + horizon + 1)]
    accepted = [fluid.accepted(end) for end in ends]
    columns = {
        "A": [fluid.sent(end) for end in ends],
        "K": [fluid.admitted(end) for end in ends],
        "S": [fluid.left(end) for end in ends],
    }
    columns["L"] = [sent - came for sent, came in zip(columns["A"], accepted, strict=True)]
    columns["chance"] = columns["L"]
    columns["r"] = [least, *(now - then + least for then, now in zip(columns["A"], columns["A"][1:], strict=False))]
    arrays = {name: np.array(column, dtype=object) for name, column in columns.items()}
    return {**arrays, **delays(np.array(accepted, dtype=object), arrays["S"])}
