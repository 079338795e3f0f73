"""Schedules: a file format of the emulator for the times of a link's admissions and deliveries, in bytes and ns.

This module makes a schedule from a trace at a scale, and reads schedule files.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor
from operator import ge, gt

from ccmatic.base import InputError, located, read_text
from ccmatic.networks.trace_export import head
from ccmatic.networks.trace_export.scaled import packet_notes, require_queue

FORMAT = "# ccmatic schedule 1"
COLUMNS = ["time_ns", "admitted", "served"]

_NS = Fraction(1, 10**9)


@dataclass(frozen=True)
class Schedule:
    """Two cumulative curves: of a bottleneck, and of the path behind it.

    They count from the first byte that waits at time 0.

    Attributes:
        rate: The link's rate C in bytes per second. After the last point, both curves continue at this rate.
        step: The propagation delay R_m in ns.
        packet: The number of bytes in a packet.
        buffer: The buffer in bytes, or None if it is infinite.
        queue: The bytes sent by time 0 and not yet served.
        points: Points (ns, bytes admitted, bytes served) in order of time. The first point is at time 0, and straight
            lines connect the points.
        lost: The bytes that the trace loses after time 0; 0 if the file lacks this number.
        beliefs: The sender's beliefs at time 0 by name, in bytes per step, bytes and steps. It is empty if the file has
            no beliefs.
    """

    rate: Fraction
    step: int
    packet: int
    buffer: int | None
    queue: int
    points: tuple
    lost: int = 0
    beliefs: dict = field(default_factory=dict)

    @property
    def duration(self):
        return self.points[-1][0]

    @cached_property
    def jitter(self):
        """The longest time between the admission and the service of a byte, in ns, rounded up."""
        levels = {level for _, *point in self.points for level in point}
        held = (
            self._at(2, level, is_there) - self._at(1, level, is_there) for level in levels for is_there in (ge, gt)
        )
        return ceil(max(held))

    def _at(self, column, level, is_there):
        """Return the time in ns at which a curve reaches a level (`ge`), or exceeds the level (`gt`)."""
        if is_there(self.points[0][column], level):
            return Fraction(0)
        for before, after in pairwise(self.points):
            if is_there(after[column], level):
                share = Fraction(level - before[column], after[column] - before[column])
                return before[0] + share * (after[0] - before[0])
        return self.duration + (level - self.points[-1][column]) / (self.rate * _NS)

    def segments(self, bits):
        """Return the points, each with the length in ns and both curves' growth to the next point.

        The last segment continues at the link's rate of `bits` per second.
        """
        gains = [tuple(b - a for a, b in zip(*pair, strict=True)) for pair in pairwise(self.points)]
        return [(*point, *gain) for point, gain in zip(self.points, [*gains, (8 * 10**9, bits, bits)], strict=True)]

    def text(self):
        values = {
            "rate": self.rate,
            "step": self.step,
            "packet": self.packet,
            "buffer": "infinite" if self.buffer is None else self.buffer,
            "queue": self.queue,
            "lost": self.lost,
            "beliefs": ",".join(f"{name}={value}" for name, value in self.beliefs.items()) or "none",
        }
        return head.text(FORMAT, values, COLUMNS, (",".join(map(str, point)) for point in self.points))

    @staticmethod
    def begins(path):
        return read_text(path).startswith("#")

    @staticmethod
    def load(path):
        with located(str(path)):
            return _parse(read_text(path).splitlines())


def _parse(lines):
    given, rows, start = head.read_head(lines, "schedule", FORMAT, COLUMNS)
    return Schedule(
        rate=head.exactly(given, "rate"),
        step=head.number(given, "step", 1),
        packet=head.number(given, "packet", *head.PACKETS),
        buffer=head.buffer(given),
        queue=head.number(given, "queue", 0),
        points=_points(rows, start),
        lost=head.number(given, "lost", 0) if "lost" in given else 0,
        beliefs=head.pairs(given, "beliefs", int, "whole numbers below 2^63"),
    )


def _points(lines, start):
    points, before = [], (-1, 0, 0)
    for count, line in enumerate(lines, start):
        time, admitted, served = point = head.numbers(line, count, len(COLUMNS))
        if time <= before[0] or admitted < before[1] or served < before[2]:
            raise InputError("expected later than the line before, with no fewer bytes admitted or served", line=count)
        if served > admitted:
            raise InputError(f"{served} bytes are served and {admitted} admitted; expected no more served", line=count)
        points.append(point)
        before = point
    if not points or points[0][0] != 0:
        raise InputError("expected a first point at time 0", line=start)
    return tuple(points)


def content(scaled):
    return of_trace(scaled).text(), list(_notes(scaled))


def of_trace(scaled):
    """Return the Schedule of a scaled trace.

    Numbers are rounded down, except for upper bounds. So true beliefs remain true.
    """
    require_queue(scaled)
    scale, columns = scaled.scale, scaled.columns
    if scaled.step < _NS:
        raise InputError("a schedule counts nanoseconds; expected a step of 1 ns or more")
    instants = [floor(scaled.instant(t) / _NS) for t in range(scaled.trace.horizon)]
    made = Schedule(
        rate=scale.rate,
        step=floor(scale.rtt / _NS),
        packet=scale.packet,
        buffer=None if scaled.buffer is None else floor(scaled.buffer),
        queue=floor(scaled.queue),
        points=tuple(zip(instants, map(floor, columns["K"]), map(floor, columns["S"]), strict=True)),
        lost=floor(columns["L"][-1] - columns["L"][0]),
        beliefs=dict(_believed(scaled)),
    )
    largest = max(made.queue, made.lost, made.buffer or 0, *map(max, made.points))
    if largest > head.LARGEST:
        raise InputError(
            f"a schedule has numbers of at most 10^15; at this scale the trace has {largest}; expected a lower rate or "
            "rtt"
        )
    return made


def _believed(scaled):
    """Yield the beliefs of the trace's model at t = 0, in whole bytes per step, bytes and steps."""
    for belief in scaled.model.beliefs:
        if belief.name in scaled.trace.columns:
            value = scaled.trace.columns[belief.name][0] * scaled.byte**belief.unit.bytes_power
            yield belief.name, belief.whole(value)


def _notes(scaled):
    scale = scaled.scale
    yield from scaled.left_out()
    if (scaled.step / _NS).denominator > 1:
        yield "instants are rounded down to whole nanoseconds"
    yield from packet_notes(scaled.packet_limit, scale)
    if scaled.lossy():
        yield "whole packets are lost, so after a loss up to a packet less may be left to serve than in the trace"
    yield "after the trace both curves continue at the link's rate"
