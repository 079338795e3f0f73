"""Exact executions of the sender cc_probe_slow_k over a link of fixed rate with a drop-tail buffer.

The sender generalises cc_probe_slow (section 6.2.1). Its parameters are the loss allowance f and the probe duration T*.
Bytes are counted in packets, and time is in R_m.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest

from ccmatic.base import InputError

#: D and R_m are both equal to the unit of time, and a packet is the unit of bytes. A sender sends at least one packet
#: per R_m.
JITTER = PROPAGATION = PACKET = Fraction(1)

#: The rate of the slowest link, which serves five packets per R_m (docs/reference/encoding.md, notation).
LEAST_RATE = 5 * PACKET / PROPAGATION


@dataclass(frozen=True)
class Phase:
    """A phase of a cycle: `bytes` packets at a constant rate over the duration, and `more` at once at its end."""

    name: str
    duration: Fraction
    bytes: Fraction
    more: Fraction = Fraction(0)


@dataclass
class ProbeSlow:
    """The sender cc_probe_slow_k.

    Attributes:
        allowance: The allowance f, a function from a rate to packets.
        probe: The probe duration T*.
        rate: The lower bound C_Llambda on the link's rate.
        queue: The upper bound q_U on the queue.
    """

    allowance: Callable
    probe: Fraction
    rate: Fraction
    queue: Fraction = Fraction(0)

    def __post_init__(self):
        self.probe, self.rate = Fraction(self.probe), Fraction(self.rate)
        if self.probe <= 0:
            raise InputError(f"T* is {self.probe} R_m; expected more than 0")
        if self.rate < LEAST_RATE:
            raise InputError(f"C_Llambda is {self.rate} packets per R_m; expected at least {LEAST_RATE}")

    @property
    def allowed(self):
        """The allowed loss f at the rate C_Llambda."""
        return Fraction(self.allowance(self.rate))

    def cycle(self):
        """Yield the phases from one probe to the next.

        The probe is paced, followed by a burst of f(C_Llambda) packets. Then the queue drains. The sender knows the
        outcome of the probe after another round trip of R_m + D.
        """
        yield self._sends(Phase("probe", self.probe, self.rate * (self.probe + JITTER), self.allowed))
        elapsed = Fraction(0)
        while elapsed < PROPAGATION + JITTER or self.queue > self.allowed:
            bytes = max(PACKET, self.rate * PROPAGATION - self.queue)
            yield self._sends(Phase("drain", PROPAGATION, bytes))
            elapsed += PROPAGATION

    def learn(self, lost):
        """Raise the rate C_Llambda, unless the probe lost packets (Eq. 6.2)."""
        if not lost:
            self.rate += self.allowed / (self.probe + JITTER)

    def _sends(self, phase):
        sent = phase.bytes + phase.more
        self.queue = max(Fraction(0), self.queue + sent - self.rate * phase.duration)
        return phase


@dataclass(frozen=True)
class PhaseRecord:
    """A completed phase: the packets served and lost, the queue at its end, and the sender's upper bound q_U on it."""

    phase: Phase
    served: Fraction
    lost: Fraction
    queue: Fraction
    q_U: Fraction


def run(sender, link):
    """Run one cycle of a ProbeSlow over a FluidLink, and return each phase as a PhaseRecord.

    At the end of the cycle, the sender learns whether the probe lost packets.
    """
    passed = []
    for phase in sender.cycle():
        served, lost = link.served, link.lost
        link.send(phase.bytes, phase.duration)
        link.burst(phase.more)
        passed.append(PhaseRecord(phase, link.served - served, link.lost - lost, link.queue, sender.queue))
    sender.learn(any(each.lost for each in passed))
    return passed


@dataclass(frozen=True)
class Loss:
    """A loss at a constant rate from `begin` to `end`. If both are equal, all bytes are lost at once."""

    begin: Fraction
    end: Fraction
    lost: Fraction


@dataclass
class FluidLink:
    """A link of fixed rate with a drop-tail buffer. The methods `send` and `burst` advance it in exact arithmetic.

    Attributes:
        service: Pairs (time, bytes served by this time), one for each change of the service rate. Between two pairs,
            the rate is constant.
    """

    rate: Fraction
    buffer: Fraction
    queue: Fraction = Fraction(0)
    time: Fraction = Fraction(0)
    served: Fraction = Fraction(0)
    lost: Fraction = Fraction(0)
    service: list = field(default_factory=lambda: [(Fraction(0), Fraction(0))])
    losses: list = field(default_factory=list)

    def send(self, bytes, duration):
        rising = Fraction(bytes) / duration - self.rate
        if rising > 0:
            until = min(duration, (self.buffer - self.queue) / rising)
            self._serve(self.rate * duration, duration)
            self.queue += rising * until
            self._lose(rising * (duration - until), duration - until)
        else:
            until = min(duration, self.queue / -rising) if rising else duration
            self._serve(self.rate * until, until)
            self.queue += rising * until
            self._serve((rising + self.rate) * (duration - until), duration - until)

    def burst(self, bytes):
        fits = min(Fraction(bytes), self.buffer - self.queue)
        self.queue += fits
        self._lose(bytes - fits, Fraction(0))

    def served_by(self, time):
        """Return the bytes served from the start until an instant. A future instant counts as now."""
        after = bisect_right(self.service, time, key=lambda point: point[0])
        if after == 0:
            return Fraction(0)
        before, served = self.service[after - 1]
        if after == len(self.service):
            return served
        then, more = self.service[after]
        return served + (more - served) * (time - before) / (then - before)

    def _serve(self, bytes, duration):
        if duration:
            self.time += duration
            self.served += bytes
            self.service.append((self.time, self.served))

    def _lose(self, bytes, duration):
        if bytes:
            self.lost += bytes
            self.losses.append(Loss(self.time - duration, self.time, bytes))


def alike(links, jitter):
    """Return the first instant at which links can no longer look the same to a sender, or None.

    Links look the same if they lose the same bytes, and if delay boxes behind the links can deliver the same bytes at
    each instant. Each box delays bytes by at most `jitter`. The deliveries that are possible on all links lie between
    two limits. The lower limit is the largest number of bytes that any link had served `jitter` earlier. The upper
    limit is the smallest number of bytes that any link has served by now. Both limits are linear between the instants
    that the function compares. All links have run for the same time.
    """
    end = links[0].time
    changes = {time for link in links for time, _ in link.service}
    for time in sorted(changes | {time + jitter for time in changes if time + jitter <= end}):
        if max(link.served_by(time - jitter) for link in links) > min(link.served_by(time) for link in links):
            return time
    losses = [link.losses for link in links]
    for same in zip_longest(*losses):
        if len(set(same)) > 1:
            return min(loss.begin for loss in same if loss)
    return None
