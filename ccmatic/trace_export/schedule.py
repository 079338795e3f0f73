"""Schedules: what a link admits and what it delivers by when, in whole bytes and nanoseconds, for the emulator. Made of
a trace at a scale, written and read here."""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import floor

from ccmatic.base import InputError, exact, located, read_text
from ccmatic.trace_export.scaled import number

FORMAT = "# ccmatic schedule 1"
COLUMNS = ["time_ns", "admitted", "served"]

#: The largest number in a schedule, and of a belief.
LARGEST, MOST_BELIEVED = 10**15, 2**63 - 1


@dataclass(frozen=True)
class Schedule:
    """Cumulative curves of a bottleneck and of what is behind it, counted from the first byte that waits at time 0.

    rate:   C, bytes per second; after the last point both curves go on at it.
    step:   R_m in ns.
    packet: bytes in a packet.
    buffer: bytes, or None if infinite.
    queue:  bytes sent by time 0 and not yet served.
    points: (ns, bytes admitted, bytes served), in order of time, the first at 0; linear in between.
    lost:   bytes that are lost in the trace whose schedule it is, after time 0; 0 if the file does not say.
    beliefs: a sender's at time 0, by name, in bytes per step, bytes and steps, as far as the file says.
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
        """To the last point, in ns."""
        return self.points[-1][0]

    def segments(self, bits):
        """Each point with how the curves go on from there: (…, length in ns, bytes admitted in it, bytes served in it).
        bits: the link's rate per second, with which the last goes on."""
        gains = [tuple(b - a for a, b in zip(*pair, strict=True)) for pair in pairwise(self.points)]
        return [(*point, *gain) for point, gain in zip(self.points, [*gains, (8 * 10**9, bits, bits)], strict=True)]

    def text(self):
        """The schedule as a file's text, which `load` reads."""
        head = {
            "rate": self.rate,
            "step": self.step,
            "packet": self.packet,
            "buffer": "infinite" if self.buffer is None else self.buffer,
            "queue": self.queue,
            "lost": self.lost,
            "beliefs": ",".join(f"{name}={value}" for name, value in self.beliefs.items()) or "none",
        }
        lines = [FORMAT, *(f"# {key} {value}" for key, value in head.items()), ",".join(COLUMNS)]
        return "\n".join([*lines, *(",".join(map(str, point)) for point in self.points)]) + "\n"

    @staticmethod
    def begins(path):
        """Whether a file begins as a schedule does, of whatever version. Raises InputError if it cannot be read."""
        return read_text(path).startswith("#")

    @staticmethod
    def load(path):
        """Read a schedule file. Raises InputError that says where it is not one."""
        with located(str(path)):
            return _parse(read_text(path).splitlines())


def _parse(lines):
    if not lines or lines[0].strip() != FORMAT:
        raise InputError(f"expected a schedule, whose first line is '{FORMAT}'", line=1)
    head = {}
    for count, line in enumerate(lines[1:], 2):  # noqa: B007 (read below: where the head ends)
        if not line.startswith("#"):
            break
        key, _, value = line[1:].strip().partition(" ")
        head[key] = value.split()[0] if value.strip() else ""
    else:
        raise InputError("the schedule has no points")
    if (names := line.strip().split(",")) != COLUMNS:
        raise InputError(f"columns {','.join(names):.80}; expected {','.join(COLUMNS)}", line=count)
    return Schedule(
        rate=_exact(head, "rate"),
        step=_number(head, "step", 1),
        packet=_number(head, "packet", 576, 65535),
        buffer=None if head.get("buffer") == "infinite" else _number(head, "buffer", 1),
        queue=_number(head, "queue", 0),
        points=_points(lines[count:], count + 1),
        lost=_number(head, "lost", 0) if "lost" in head else 0,
        beliefs=_beliefs(head.get("beliefs", "none")),
    )


def _beliefs(text):
    if text == "none":
        return {}
    try:
        found = {name: int(value) for name, value in (pair.split("=") for pair in text.split(","))}
        if all(0 <= value <= MOST_BELIEVED for value in found.values()):
            return found
    except ValueError:
        pass
    raise InputError(f"the header has beliefs '{text:.80}'; expected NAME=NUMBER,… of whole numbers below 2^63")


def _points(lines, start):
    points, before = [], (-1, 0, 0)
    for count, line in enumerate(lines, start):
        try:
            time, admitted, served = point = tuple(map(int, line.split(",")))
        except ValueError:
            raise InputError(f"found '{line:.80}'; expected three whole numbers", line=count) from None
        if max(point) > LARGEST:
            raise InputError(f"found '{line:.80}'; expected numbers of at most 10^15", line=count)
        if time <= before[0] or admitted < before[1] or served < before[2]:
            raise InputError("expected later than the line before, with no fewer bytes admitted or served", line=count)
        if served > admitted:
            raise InputError(f"{served} bytes are served and {admitted} admitted; expected no more served", line=count)
        points.append(point)
        before = point
    if not points or points[0][0] != 0:
        raise InputError("expected a first point at time 0", line=start)
    return tuple(points)


def _exact(head, key):
    try:
        value = exact(head.get(key, ""), 30)
    except InputError as error:
        raise InputError(f"the header's {key}: {error.message}") from None
    if value <= 0:
        raise InputError(f"the header has {key} {value}; expected more than 0")
    return value


def _number(head, key, least, most=LARGEST):
    text = head.get(key, "")
    if not text.isdecimal() or len(text) > 16 or not least <= int(text) <= most:
        raise InputError(f"the header has {key} '{text:.40}'; expected a whole number, {least} to {most}")
    return int(text)


_NS = Fraction(1, 10**9)


def content(scaled):
    """The text of a Scaled trace's schedule, and notes, a list of sentences, on what it rounds. Raises InputError as
    `of_trace`."""
    return of_trace(scaled).text(), list(_notes(scaled))


def of_trace(scaled):
    """The Schedule of a scaled trace: all is rounded down but upper bounds, so that beliefs that are true stay so.
    Raises InputError where R_m is less than a nanosecond."""
    scale, columns = scaled.scale, scaled.columns
    if scale.rtt < _NS:
        raise InputError("a schedule counts nanoseconds; expected an rtt of 1 ns or more")
    instants = [floor(scaled.instant(t) / _NS) for t in range(scaled.trace.horizon)]
    return Schedule(
        rate=scale.rate,
        step=floor(scale.rtt / _NS),
        packet=scale.packet,
        buffer=None if scaled.buffer is None else floor(scaled.buffer),
        queue=floor(scaled.queue),
        points=tuple(zip(instants, map(floor, columns["K"]), map(floor, columns["S"]), strict=True)),
        lost=floor(columns["L"][-1] - columns["L"][0]),
        beliefs=dict(_believed(scaled)),
    )


def _believed(scaled):
    """Those of the trace's model at t = 0, in whole bytes per step, bytes and steps."""
    for belief in scaled.model.beliefs:
        if belief.name in scaled.trace.columns:
            value = scaled.trace.columns[belief.name][0] * scaled.byte**belief.unit.bytes_power
            yield belief.name, belief.whole(value)


def _notes(scaled):
    scale = scaled.scale
    yield from scaled.left_out()
    if (scale.rtt / _NS).denominator > 1:
        yield "instants are rounded down to whole nanoseconds"
    if scaled.packet_limit != scale.packet:
        yield (
            f"the trace's MSS is {number(scaled.packet_limit)} bytes at this scale, a packet is {scale.packet}: a "
            "controller that reads MSS, or sends at MSS/R_m, its least, will do otherwise than in the trace; "
            f"rate·rtt = {number(scale.packet / (scaled.packet_limit / scale.bdp))} bytes makes them the same"
        )
    if scaled.lossy():
        yield "losses are of whole packets, so after one up to a packet less may be there to serve than in the trace"
    yield "after the trace both curves go on at the link's rate"
