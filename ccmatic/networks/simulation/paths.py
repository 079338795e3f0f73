"""Network paths, simulated packet by packet.

A model's bottleneck, written in C, is followed by a box that delays packets. Time is in integer ticks, so service needs
no rounding. The bottleneck serves a packet in TICKS ticks (or more, if the link's rate changes), and a whole number of
packets in a step (R_m). The simulator rounds down only the instants at which packets are sent within a step. This
rounding breaks no law of the model:

- If the sender is at most as fast as the link, neighbouring packets of a step are at least one service time apart.
- If the sender is at least as fast as the link, neighbouring packets of a step are at most one service time apart.
- The last packet of a step is sent exactly at the end of the step.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm

from ccmatic.base import InputError, exact, quantities, shown, suggest
from ccmatic.contracts import PACKETS, Model, load_definition, world
from ccmatic.networks.simulation.packets import Bottleneck, Segment


@dataclass(frozen=True)
class PathChange:
    """The change of a path. Times are in R_m from the beginning of the run, and factors multiply the path's values.

    Attributes:
        at: The beginning of the outage. Without an outage, the instant of the change.
        outage: The time without service.
        rate: The factor of the rate.
        rtt: The factor of R_m, at least 1.
        buffer: The factor of the buffer.
        loses: Whether the link loses the packets that wait at the change.
    """

    at: Fraction
    outage: Fraction = Fraction(0)
    rate: Fraction = Fraction(1)
    rtt: Fraction = Fraction(1)
    buffer: Fraction = Fraction(1)
    loses: bool = False

    def instant(self, path):
        return _whole((self.at + self.outage) * path.step, "the instant of the change in ticks")

    def delay(self, path):
        """Return the additional delay, in ticks, of packets that the link admits after the change."""
        return _whole((self.rtt - 1) * path.step, "the growth of R_m in ticks")

    def segments(self, path):
        """Return the Segments of the link's rate after the first one."""
        rate = _whole(path.packet * self.rate, "the bytes that the link serves in the time of a packet")
        room = 0 if path.room is None else int(path.room * self.buffer) * path.packet
        begin = _whole(self.at * path.step, "the beginning of the outage in ticks")
        outage = [Segment(begin, 0, 0, 0)] if self.outage else []
        return [*outage, Segment(self.instant(path), rate, room, self.loses)]


def _whole(value, what):
    if Fraction(value).denominator != 1:
        raise InputError(f"{what} is {value}; expected a whole number")
    return int(value)


#: The default number of ticks that the bottleneck takes to serve a packet.
TICKS = 1000

#: The largest number of ticks in a step of a link whose rate changes.
FINEST = 2**42


@dataclass(frozen=True)
class Path:
    """A path from sender to receiver, with one bottleneck.

    A float argument stands for the decimal number that Python prints for it.

    Attributes:
        model: The network model, or the name of a shipped model. The model's packets.h simulates the bottleneck. The
            model also determines whether packets have jitter behind the bottleneck.
        rate: The link's rate C, in bytes per unit of time.
        propagation: The propagation delay R_m, in the same unit of time as `rate`. A step lasts R_m. C·R_m must be a
            whole number of packets.
        packet: The number of bytes in every packet.
        jitter: The longest delay D of a packet after the bottleneck, in whole steps. The delay is 0 if the model has no
            jitter.
        buffer: The buffer size β: the number of bytes that may wait at the bottleneck, rounded down to whole packets.
            None means infinite.
        ticks: The number of ticks that the bottleneck takes to serve a packet.
        threshold: The waiting bytes above which the bottleneck marks a packet, in whole packets. The default is the
            model's threshold, rounded down to whole packets; None if the model marks no packets.
    """

    model: Model
    rate: Fraction
    propagation: Fraction = Fraction(1)
    packet: int = 1
    jitter: int = 0
    buffer: Fraction | None = None
    ticks: int = TICKS
    threshold: int | None = None

    def __post_init__(self):
        for name in ("rate", "propagation", "buffer"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _exact(getattr(self, name), name))
        if not isinstance(self.model, Model):
            object.__setattr__(self, "model", load_definition("models", "MODEL", self.model))
        world(self.model, PACKETS)
        if type(self.packet) is not int or self.packet < 1:
            raise InputError(f"packet is {self.packet!r}, expected whole bytes, at least 1")
        bdp = self.rate * self.propagation / self.packet
        if bdp < 1 or bdp.denominator != 1:
            raise InputError(f"rate·propagation is {float(bdp):g} packets, expected a whole number of them")
        if type(self.jitter) is not int or self.jitter < 0 or (self.jitter == 0) != (self.model.default_jitter == 0):
            expected = "whole steps, at least 1" if self.model.default_jitter else "0"
            raise InputError(f"jitter is {self.jitter!r}, expected {expected} on a path of {self.model.name}")
        for name, part in zip(("bucket", "rate of tokens"), self.model.policer or (), strict=False):
            if (part * bdp).denominator != 1:
                raise InputError(f"the {name} is {float(part * bdp):g} packets, expected a whole number of them")
        if self.room is not None and self.room < 1:
            raise InputError(f"buffer is {self.buffer}, expected at least one packet of {self.packet} bytes")
        self._round_threshold()

    def _round_threshold(self):
        """Set the threshold in whole packets, and the model of that threshold."""
        if self.model.threshold is None:
            if self.threshold is not None:
                raise InputError(f"threshold is {self.threshold}, expected none on a path of {self.model.name}")
            return
        chosen = self.model.threshold * self.bdp * self.packet if self.threshold is None else self.threshold
        packets = int(_exact(chosen, "threshold") // self.packet)
        object.__setattr__(self, "threshold", packets * self.packet)
        object.__setattr__(self, "model", self.model.with_threshold(Fraction(packets, self.bdp)))

    @cached_property
    def bdp(self):
        """C·R_m in packets: the number of packets that the bottleneck serves in a step."""
        return int(self.rate * self.propagation / self.packet)

    @property
    def room(self):
        """The buffer β in packets; None if the buffer is infinite."""
        return None if self.buffer is None else int(self.buffer // self.packet)

    @cached_property
    def step(self):
        return self.bdp * self.ticks

    def finer(self, rates):
        """Return the same path with shorter ticks, such that at each rate the service of a packet takes whole ticks."""
        step = self.ticks * lcm(self.bdp, *(replace(self, rate=rate).bdp for rate in rates))
        if step > FINEST:
            raise InputError("the rates have too few divisors in common, in packets per step")
        return replace(self, ticks=step // self.bdp)

    def at_rate(self, rate):
        """Return the same path at another rate. The number of ticks in a step stays the same."""
        path = replace(self, rate=rate)
        ticks, rest = divmod(self.step, path.bdp)
        if rest:
            raise InputError(f"the rate is {rate}, which was not among those to which it may change")
        return replace(path, ticks=ticks)

    @property
    def bound(self):
        return self.jitter * self.step

    def bottleneck(self, rng, hiding, change=None):
        """`hiding` is a key of HIDING: the pattern by which the link hides tokens, if it supports that."""
        later = change.segments(self) if change else ()
        return Bottleneck(self, _choose(HIDING, hiding, "hiding")(rng, self.bound, self.step), rng, later)

    def delays(self, rng, jitter):
        """Return a new pattern from admission to release instants: a key of JITTER, or a function like those in it."""
        return _choose(JITTER, jitter, "jitter pattern")(rng, self.bound, self.step)


def _exact(value, name):
    try:
        return exact(str(value))
    except InputError:
        raise InputError(
            f"{name} is {shown(repr(value))}, expected a number of at most {quantities.DIGITS} digits"
        ) from None


def _choose(table, key, what):
    if callable(key):
        return key
    if key not in table:
        raise InputError(f"unknown {what} '{key}'; {suggest(key, table)}")
    return table[key]


# Jitter patterns. A maker takes (random generator, D in ticks, ticks in a step) and returns a function of the time. The
# simulator calls this function at increasing times.


def _mix(patterns):
    """Return a pattern that switches between the given patterns every 1 to 4 half steps."""

    def make(rng, bound, step):
        choices = [pattern(rng, bound, step) for pattern in patterns]
        chosen, until = choices[0], 0

        def release_at(now):
            nonlocal chosen, until
            while now >= until:
                chosen, until = rng.choice(choices), until + rng.randint(1, 4) * step // 2
            return chosen(now)

        return release_at

    return make


def _constant(rng, bound, step):
    delay = rng.randint(0, bound)
    return lambda now: now + delay


def _uniform(rng, bound, step):
    random = rng.random
    return lambda now: now + int(random() * (bound + 1))


def _bursts(rng, bound, step):
    release = -1

    def release_at(now):
        nonlocal release
        if release < now:
            release = now + rng.randint(0, bound)
        return release

    return release_at


def aggregation(lost):
    """Return a pattern by which acknowledgements arrive in bursts at regular times.

    A burst acknowledges all packets admitted since the previous burst. Up to `lost` bursts in a row may be lost, each
    with probability 1/2; the next burst then acknowledges their packets. The interval between bursts ensures that a
    packet waits for at most D.
    """

    def make(rng, bound, step):
        interval, burst = max(1, bound // (lost + 1)), 0

        def release_at(now):
            nonlocal burst
            while burst < now:
                burst += interval * (1 + next((n for n in range(lost) if rng.random() < 0.5), lost))
            return burst

        return release_at

    return make


#: Patterns for the release instant of a packet that the link admits at `now`. The pattern `bursts` holds all packets
#: until a random instant, then releases all of them.
JITTER = {
    "none": lambda rng, bound, step: lambda now: now,
    "constant": _constant,
    "uniform": _uniform,
    "latest": lambda rng, bound, step: lambda now: now + bound,
    "bursts": _bursts,
}
JITTER["mixed"] = _mix(list(JITTER.values()))

#: Patterns that decide whether the link keeps a token for which no packet waits at `now`.
HIDING = {
    "never": lambda rng, bound, step: lambda now: False,
    "always": lambda rng, bound, step: lambda now: True,
    "random": lambda rng, bound, step: lambda now: rng.random() < 0.5,
}
HIDING["mixed"] = _mix(list(HIDING.values()))
