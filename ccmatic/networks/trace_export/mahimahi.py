"""Link traces of mahimahi (Netravali et al., ATC 2015), for the command `mm-link`: read, or made from a trace.

A line of the file is a delivery opportunity: at this millisecond, up to 1504 bytes leave the queue. These bytes belong
to packets that arrived in an earlier millisecond. The unused bytes of an opportunity are lost. After the last line,
mm-link reads the file again from the beginning.

The opportunities follow the served bytes S instead of the tokens K, because the file cannot express a delay behind the
link. If K is larger than the bytes that have arrived, opportunities that follow K would be lost. S is never larger: S ≤
A - L (sent minus lost). By the end of each step, ⌊S/1504⌋ opportunities have passed.
"""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, lcm

from ccmatic.base import InputError, located, read_text
from ccmatic.networks.trace_export.scaled import milliseconds, number, require_queue

#: Bytes of IP packets in an opportunity. (mm-link counts 1504 bytes, because it adds 4 bytes to every packet.)
OPPORTUNITY = 1500

#: The last millisecond that a link trace may have: almost three hours. No run is longer than one hour.
LATEST = 10**7


@dataclass(frozen=True)
class Opportunities:
    """Instants at which up to OPPORTUNITY bytes of waiting packets may leave a queue. Unused opportunities are lost.

    Attributes:
        milliseconds: The instants in order, from 0 on. The last instant is above 0. After the last instant, the
            sequence repeats.
    """

    milliseconds: tuple

    @property
    def period(self):
        """The time in ms after which the opportunities repeat."""
        return self.milliseconds[-1]

    def instant(self, number):
        """Return the time in ms of the n-th delivery opportunity (n starts at 1)."""
        cycle, place = divmod(number - 1, len(self.milliseconds))
        return cycle * self.period + self.milliseconds[place]

    def by(self, milliseconds):
        """Return the number of opportunities up to and including an instant in ms."""
        cycle, within = divmod(milliseconds, self.period)
        return cycle * len(self.milliseconds) + bisect_right(self.milliseconds, within)

    @staticmethod
    def load(path):
        with located(str(path)):
            return _parse(read_text(path).splitlines())


def _parse(lines):
    for count, line in enumerate(lines, 1):
        if not (line.isascii() and line.isdecimal()) or len(line) > 8 or int(line) > LATEST:
            raise InputError(
                f"found '{line:.40}'; expected whole milliseconds, at most {LATEST}, as in a link trace of mahimahi "
                "(a schedule of ccmatic begins with #)",
                line=count,
            )
    times = tuple(map(int, lines))
    for count, (before, after) in enumerate(pairwise(times), 2):
        if after < before:
            raise InputError(f"{after} ms comes after {before} ms; expected no earlier time", line=count)
    if not times or not times[-1]:
        raise InputError("a link trace of mahimahi without an opportunity after 0 ms; expected one at least")
    return Opportunities(times)


#: The number of bytes in an opportunity, including the 4 bytes that mahimahi's tunnel adds to every packet.
TUNNELLED = 1504

#: The largest number of lines in a file.
MOST = 10**7

_MS = Fraction(1, 1000)


def content(scaled, lead=0):
    """Return the file's text for a ScaledTrace that begins after `lead` whole ms, and notes on omissions."""
    _check(scaled)
    lines = [lead + ms for ms in _lines(scaled)]
    return "".join(f"{ms}\n" for ms in lines), list(_notes(scaled, lead, lines[-1]))


def _check(scaled):
    require_queue(scaled)
    scale = scaled.scale
    if scale.packet > TUNNELLED:
        raise InputError(f"the mss is {scale.packet}; mm-link takes packets of at most {TUNNELLED} bytes")
    if scaled.step < _MS:
        raise InputError(f"a step is {milliseconds(scaled.step)}; mahimahi counts milliseconds, expected 1 ms or more")
    lines = floor(scaled.columns["S"][-1] / TUNNELLED)
    if lines > MOST:
        raise InputError(f"the file would have {lines} lines, more than {MOST}; expected a lower rate or rtt")


def _lines(scaled):
    """Yield the millisecond of each opportunity: the time at which S reaches its last byte, rounded up within the step.

    If the opportunities would end before the trace, one further opportunity follows: the next opportunity of a link
    that continues at rate C.
    """
    S, step = scaled.columns["S"], scaled.step / _MS
    last = 0
    for t in range(1, len(S)):
        end = floor(t * step)
        numbers = range(floor(S[t - 1] / TUNNELLED) + 1, floor(S[t] / TUNNELLED) + 1)
        if numbers:
            # Whole numbers are fast, and there may be millions of opportunities. S reaches the last byte of an
            # opportunity at (slope·number + start) / whole.
            slope = TUNNELLED * step / (S[t] - S[t - 1])
            start = (t - 1) * step - S[t - 1] / TUNNELLED * slope
            whole = lcm(slope.denominator, start.denominator)
            slope, start = int(slope * whole), int(start * whole)
            moments = [min(-(-(slope * n + start) // whole), end) for n in numbers]
            yield from moments
            last = moments[-1]
    if last < end:
        missing = TUNNELLED - S[-1] % TUNNELLED
        yield ceil(scaled.steps * step + missing / scaled.scale.rate / _MS)


def _notes(scaled, lead, period):
    scale = scaled.scale
    yield from scaled.left_out()
    yield from _start(scaled, lead)
    ahead = max(k - s for k, s in zip(scaled.columns["K"], scaled.columns["S"], strict=True))
    if ahead:
        yield (
            "the file has no delay behind the link: it follows the delivered bytes, S; bytes that the trace admits "
            f"earlier, up to {number(ahead)} bytes of K, wait in the link's queue instead"
        )
    yield from _buffer(scaled)
    yield from _late(scaled)
    yield (
        f"the propagation delay is not in the file: mm-delay takes half of R_m, {milliseconds(scale.rtt / 2)}, "
        "in whole ms"
    )
    yield (
        f"the file begins again after {period} ms; the trace ends after "
        f"{milliseconds(scaled.instant(scaled.steps) + lead * _MS)}"
    )
    yield (
        f"an opportunity is {TUNNELLED} bytes, of which mahimahi takes 4 for itself with every packet: a full packet "
        f"of 1500 bytes is --mss {TUNNELLED}, and rates count these too"
    )


def _start(scaled, lead):
    """Yield notes on the beginning of the trace. Without a lead, the trace begins when mm-link starts."""
    if lead:
        yield f"the trace begins {lead} ms after mm-link's clock starts: send nothing of what it sends earlier"
    if scaled.queue:
        moment = "then" if lead else "when mm-link's clock starts; --lead gives time to send them"
        yield (
            f"the initial queue is not in the file: {number(scaled.queue)} bytes, "
            f"{ceil(scaled.queue / scaled.scale.packet)} packets, have to wait at the link {moment}; otherwise the "
            "first opportunities are lost"
        )


def _buffer(scaled):
    """Yield a note on the size of mm-link's queue, which counts all bytes that S has not served."""
    if scaled.buffer is None:
        yield "the buffer is not in the file: it is infinite, as mm-link's is by default"
        return
    largest = scaled.largest()
    room = _room(scaled)
    note = (
        f"the buffer is not in the file: β is {number(scaled.buffer)} bytes before the jitter; mm-link's queue drops "
        f"as much as the trace, to a few packets, if it has room for A - L - S when bytes are lost, and a packet, "
        f'{room} bytes (--uplink-queue=droptail --uplink-queue-args="bytes={room}")'
    )
    missed = [t for t in scaled.lossy() if scaled.inflight_when_full(t)[-1] < largest]
    if missed:
        note += f"; but not what the trace loses in the steps {_listed(missed)}, with a shorter queue"
    yield note


def _room(scaled):
    """Return the size in bytes of a queue that has the trace's losses: the bytes queued at a loss, plus one packet.

    In steps without losses, the trace may serve bytes up to one millisecond before their opportunity. The queue also
    has room for these bytes.
    """
    lossy, behind = scaled.lossy(), TUNNELLED + _MS * scaled.fastest(scaled.columns["S"])
    kept = [waiting + behind for t, waiting in enumerate(scaled.inflight()) if t not in lossy]
    return ceil(max(scaled.largest(), *kept) + scaled.scale.packet)


def _late(scaled):
    """Yield a note if bytes are served soon after they arrive: a packet that arrives with its opportunity misses it."""
    lead = Fraction(scaled.scale.packet)
    if (scaled.step / _MS).denominator > 1:
        lead += _MS * scaled.fastest(scaled.through)
    short = [t for t, queue in enumerate(scaled.inflight()) if queue < lead]
    if short:
        yield (
            f"at t = {_listed(short)} the trace's queue is nearly empty: a packet that arrives with its opportunity, "
            f"rather than before it, misses it, and service may fall behind S by up to {number(lead)} bytes more"
        )


def _listed(steps):
    return ", ".join(map(str, steps))
