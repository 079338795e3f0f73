"""Network paths, packet by packet: a bottleneck with a drop-tail buffer, then a box that delays.

Time is in integer ticks: TICKS for the bottleneck to serve a packet (or more, for links whose rate changes),
a whole number of packets to a step (R_m). So service never rounds. Only the instants within a step at which
packets are sent are rounded, down, and no law notices: of a step's packets, two neighbours are at least (at
most) one service time apart where the sender is at most (at least) as fast as the link, and the last is sent
exactly at the step's end.
"""

from collections import deque
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import floor, lcm

from ccmatic.base import InputError, exact, quantities, shown, suggest
from ccmatic.contracts import Model, load_definition

#: How many ticks the bottleneck takes to serve a packet, unless a path says otherwise.
TICKS = 1000

#: Later than any instant of a run, and the most ticks in a step of a link whose rate changes.
NEVER, FINEST = 2**62, 2**42


@dataclass(frozen=True)
class Path:
    """A path from sender to receiver, with one bottleneck.

    model:       the network model of which this is a path, or its name among those shipped; it says which of
                 BOTTLENECKS there is, and whether there is jitter behind it.
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
        if self.model.bottleneck not in BOTTLENECKS:
            has = f"the model {self.model.name} has the bottleneck {self.model.bottleneck!r}"
            raise InputError(f"{has}, so there is nothing to simulate; expected one of {', '.join(BOTTLENECKS)}")
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
        keep = _chosen(HIDING, hiding, "hiding")(rng, self.bound, self.step)
        return BOTTLENECKS[self.model.bottleneck](self, keep, rng)

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


class FixedRate:
    """A FIFO link of fixed rate: a packet is admitted when it arrives, or `ticks` after the one before it."""

    def __init__(self, path, keep, rng):
        self._fit(path)
        self.last = -self.ticks

    def _fit(self, path):
        self.ticks = path.ticks
        self.patience = NEVER if path.room is None else (path.room - 1) * path.ticks

    def change(self, path, now, waiting, last):
        """The rate changes to that of the path; packets wait, and one was admitted last, if any. Returns the instants
        at which those that wait are admitted."""
        self._fit(path)
        first = max(last + self.ticks, now + 1)
        self.last = first + (waiting - 1) * self.ticks
        return [first + i * self.ticks for i in range(waiting)]

    def offer(self, arrivals):
        """Packets arrive, the last of them at a step's end.

        Returns for each arrival whether it is lost, then for each packet newly known to be admitted, in
        order, when it is, and when the token that it uses was generated (here the same).
        """
        last, patience, ticks = self.last, self.patience, self.ticks
        lost, admitted = [], []
        for now in arrivals:
            # Packets wait to be admitted at last, last - ticks, …, so ceil((last - now) / ticks) of them.
            if last - now > patience:
                lost.append(True)
            else:
                lost.append(False)
                last += ticks
                if last < now:
                    last = now
                admitted.append(last)
        self.last = last
        return lost, admitted, admitted


class TokenBucket:
    """A FIFO link that may keep a token that nobody waits for, and admit a later packet with it, so that congestion is
    hidden (Arun et al., SIGCOMM 2021).

    A token is generated every `ticks`. The head of the queue uses it at once. If none waits, `keep` decides
    whether it goes into the bucket, where it lives for D, or is wasted. The oldest is used first.
    """

    def __init__(self, path, keep, rng):
        self.path, self.keep, self.rng = path, keep, rng
        self.room = NEVER if path.room is None else path.room
        self.tick = self.interval()
        self.waiting = 0
        self.bucket = deque()

    def interval(self):
        """Ticks from one token to the next."""
        return self.path.ticks

    def change(self, path, now, waiting, last):
        """The rate changes to that of the path; the bucket keeps at most D worth of tokens, the youngest. Which packets
        are admitted when is not known before."""
        self.path = path
        self.tick = now + self.interval()
        while len(self.bucket) > path.jitter * path.bdp:
            self.bucket.popleft()
        return []

    def offer(self, arrivals):
        """As FixedRate.offer."""
        bucket, keep, room, life = self.bucket, self.keep, self.room, self.path.bound
        tick, waiting = self.tick, self.waiting
        wastable = self._wastable(arrivals)
        lost, admitted, tokens = [], [], []
        for now in arrivals:
            while tick <= now:
                if waiting:
                    waiting -= 1
                    admitted.append(tick)
                    tokens.append(tick)
                elif tick == now or not wastable or keep(tick):
                    bucket.append(tick)
                else:
                    wastable -= 1
                tick += self.interval()
            while bucket and bucket[0] + life < now:
                bucket.popleft()
            if bucket:
                admitted.append(now)
                tokens.append(bucket.popleft())
            elif waiting < room:
                waiting += 1
            else:
                lost.append(True)
                continue
            lost.append(False)
        self.tick, self.waiting = tick, waiting
        return lost, admitted, tokens

    def _wastable(self, arrivals):
        """How many tokens this step may waste and yet end without a queue: none may wait in hindsight."""
        excess = len(arrivals) - self.path.bdp
        if excess <= 0:
            return self.path.bdp
        oldest = arrivals[-1] - self.path.bound
        return max(0, sum(token >= oldest for token in self.bucket) - excess)


class VaryingTokenBucket(TokenBucket):
    """A token bucket whose rate is between the path's and γ times that. In each step it changes once; a token comes at
    each step's end."""

    def __init__(self, path, keep, rng):
        self.planned = deque()
        super().__init__(path, keep, rng)

    def change(self, path, now, waiting, last):
        """As TokenBucket.change."""
        self.planned.clear()
        return super().change(path, now, waiting, last)

    def interval(self):
        """Ticks from one token to the next."""
        if not self.planned:
            early = self.rng.randint(0, self.path.bdp)
            for least in filter(None, (early, self.path.bdp - early)):
                most = floor(least * self.path.model.variation)
                count = self.rng.choice((least, self.rng.randint(least, most), most))
                instants = [number * least * self.path.ticks // count for number in range(count + 1)]
                self.planned += [after - before for before, after in pairwise(instants)]
        return self.planned.popleft()


#: The bottlenecks, by the names that models give them.
BOTTLENECKS = {"fixed rate": FixedRate, "token bucket": TokenBucket, "varying token bucket": VaryingTokenBucket}


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
