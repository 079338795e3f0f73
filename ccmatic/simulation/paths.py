"""Network paths, packet by packet: a model's bottleneck in C, then a box that delays.

Time is in integer ticks: TICKS for the bottleneck to serve a packet (or more, for links whose rate changes),
a whole number of packets to a step (R_m). So service never rounds. Only the instants within a step at which
packets are sent are rounded, down, and no law notices: of a step's packets, two neighbours are at least (at
most) one service time apart where the sender is at most (at least) as fast as the link, and the last is sent
exactly at the step's end.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm

from ccmatic.base import InputError, exact, quantities, shown, suggest
from ccmatic.contracts import PACKETS, Model, load_definition, world
from ccmatic.simulation.packets import Bottleneck

#: How many ticks the bottleneck takes to serve a packet, unless a path says otherwise.
TICKS = 1000

#: The most ticks in a step of a link whose rate changes.
FINEST = 2**42


@dataclass(frozen=True)
class Path:
    """A path from sender to receiver, with one bottleneck.

    model:       the network model of which this is a path, or its name among those shipped. Its packets.h is the
                 bottleneck; it says whether there is jitter behind it.
    rate:        C, bytes per unit of time.
    propagation: R_m, in that unit of time; one step. C·R_m is a whole number of packets.
    packet:      bytes in every packet.
    jitter:      D, the most that a packet is delayed after the bottleneck, in whole steps; 0 if the model has none.
    buffer:      β, bytes that may wait at the bottleneck, used in whole packets; None: infinite.
    ticks:       how many the bottleneck takes to serve a packet.

    A float is read as the decimal number that it prints as. Raises InputError.
    """

    model: Model
    rate: Fraction
    propagation: Fraction = Fraction(1)
    packet: int = 1
    jitter: int = 0
    buffer: Fraction | None = None
    ticks: int = TICKS

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
        if self.room is not None and self.room < 1:
            raise InputError(f"buffer is {self.buffer}, expected at least one packet of {self.packet} bytes")

    @cached_property
    def bdp(self):
        """C·R_m in packets: how many the bottleneck serves in a step."""
        return int(self.rate * self.propagation / self.packet)

    @property
    def room(self):
        """β in packets, None if infinite."""
        return None if self.buffer is None else int(self.buffer // self.packet)

    @cached_property
    def step(self):
        """Ticks in a step."""
        return self.bdp * self.ticks

    def finer(self, rates):
        """The same path with ticks so fine that packets are served in whole ones at each of the rates, too."""
        step = self.ticks * lcm(self.bdp, *(replace(self, rate=rate).bdp for rate in rates))
        if step > FINEST:
            raise InputError("the rates have too few divisors in common, in packets per step")
        return replace(self, ticks=step // self.bdp)

    def at_rate(self, rate):
        """The same path at another rate, its steps of as many ticks. Raises InputError if a packet were not served in
        whole ticks."""
        path = replace(self, rate=rate)
        ticks, rest = divmod(self.step, path.bdp)
        if rest:
            raise InputError(f"the rate is {rate}, which was not among those to which it may change")
        return replace(path, ticks=ticks)

    @property
    def bound(self):
        """D in ticks."""
        return self.jitter * self.step

    def bottleneck(self, rng, hiding):
        """A fresh bottleneck. `hiding`, a key of HIDING, says how it hides tokens, if it can."""
        return Bottleneck(self, _chosen(HIDING, hiding, "hiding")(rng, self.bound, self.step), rng)

    def delays(self, rng, jitter):
        """A fresh jitter pattern, a key of JITTER or such a function: when to release a packet, given when it is
        admitted."""
        return _chosen(JITTER, jitter, "jitter pattern")(rng, self.bound, self.step)


def _exact(value, name):
    try:
        return exact(str(value))
    except InputError:
        raise InputError(
            f"{name} is {shown(repr(value))}, expected a number of at most {quantities.DIGITS} digits"
        ) from None


def _chosen(table, key, what):
    if callable(key):
        return key
    if key not in table:
        raise InputError(f"unknown {what} '{key}'; {suggest(key, table)}")
    return table[key]


# Patterns. Each is made from (random generator, D in ticks, ticks in a step) and asked in order of time.


def _mixed(patterns):
    """Another pattern every few half steps."""

    def make(rng, bound, step):
        choices = [pattern(rng, bound, step) for pattern in patterns]
        chosen, until = choices[0], 0

        def ask(now):
            nonlocal chosen, until
            while now >= until:
                chosen, until = rng.choice(choices), until + rng.randint(1, 4) * step // 2
            return chosen(now)

        return ask

    return make


def _constant(rng, bound, step):
    delay = rng.randint(0, bound)
    return lambda now: now + delay


def _uniform(rng, bound, step):
    random = rng.random
    return lambda now: now + int(random() * (bound + 1))


def _bursts(rng, bound, step):
    release = -1

    def ask(now):
        nonlocal release
        if release < now:
            release = now + rng.randint(0, bound)
        return release

    return ask


#: When a packet admitted at `now` is released. `bursts`: all are held until a random instant, then let go.
JITTER = {
    "none": lambda rng, bound, step: lambda now: now,
    "constant": _constant,
    "uniform": _uniform,
    "latest": lambda rng, bound, step: lambda now: now + bound,
    "bursts": _bursts,
}
JITTER["mixed"] = _mixed(list(JITTER.values()))

#: Whether a token that nobody waits for at `now` is kept.
HIDING = {
    "never": lambda rng, bound, step: lambda now: False,
    "always": lambda rng, bound, step: lambda now: True,
    "random": lambda rng, bound, step: lambda now: rng.random() < 0.5,
}
HIDING["mixed"] = _mixed(list(HIDING.values()))
