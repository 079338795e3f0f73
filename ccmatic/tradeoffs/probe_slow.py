"""cc_probe_slow_k, the generalised cc_probe_slow of section 6.2.1, over exact links: its parameters are f and T*."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import InputError

#: D and R_m are the unit of time, a packet that of bytes: the least that is sent in an R_m.
JITTER = PROPAGATION = PACKET = Fraction(1)

#: A packet is at most a fifth of what the slowest link serves in an R_m (docs/encoding.md, notation).
LEAST_RATE = 5 * PACKET / PROPAGATION


@dataclass(frozen=True)
class Phase:
    """A part of a cycle. duration: in R_m. bytes: sent at an even rate over it; more: sent at its end, at once; in
    packets."""

    name: str
    duration: Fraction
    bytes: Fraction
    more: Fraction = Fraction(0)


@dataclass
class ProbeSlow:
    """The sender. allowance: f, from a rate to packets. probe: T*, in R_m, above 0. rate: C_Llambda, a lower bound of
    the link's rate, in packets per R_m. queue: q_U, the most that may wait, in packets. Raises InputError for T* or a
    rate that is too small."""

    allowance: Callable
    probe: Fraction
    rate: Fraction
    queue: Fraction = Fraction(0)

    def __post_init__(self):
        self.probe, self.rate = Fraction(self.probe), Fraction(self.rate)
        if self.probe <= 0:
            raise InputError(f"T* is {self.probe} R_m; expected a probe of some length")
        if self.rate < LEAST_RATE:
            raise InputError(f"C_Llambda is {self.rate} packets per R_m; expected at least {LEAST_RATE}")

    @property
    def allowed(self):
        """f(C_Llambda), packets."""
        return Fraction(self.allowance(self.rate))

    def cycle(self):
        """The phases of a probe until the next: it is paced, f(C_Llambda) at its end; then the queue drains, and
        what came of the probe is known, a round trip of R_m + D later."""
        yield self._sends(Phase("probe", self.probe, self.rate * (self.probe + JITTER), self.allowed))
        elapsed = Fraction(0)
        while elapsed < PROPAGATION + JITTER or self.queue > self.allowed:
            bytes = max(PACKET, self.rate * PROPAGATION - self.queue)
            yield self._sends(Phase("drain", PROPAGATION, bytes))
            elapsed += PROPAGATION

    def learn(self, lost):
        """The probe lost something, or C_Llambda is what it now is at least (Eq. 6.2)."""
        if not lost:
            self.rate += self.allowed / (self.probe + JITTER)

    def _sends(self, phase):
        sent = phase.bytes + phase.more
        self.queue = max(Fraction(0), self.queue + sent - self.rate * phase.duration)
        return phase


@dataclass(frozen=True)
class Passed:
    """A phase that is over, in packets. q_U: as the sender has it, queue: as it is, both at its end."""

    phase: Phase
    served: Fraction
    lost: Fraction
    queue: Fraction
    q_U: Fraction


def run(sender, link):
    """One cycle of a ProbeSlow over a FluidLink: what Passed, phase by phase. The sender then learns whether the probe
    lost anything. Both are advanced."""
    passed = []
    for phase in sender.cycle():
        served, lost = link.served, link.lost
        link.send(phase.bytes, phase.duration)
        link.burst(phase.more)
        passed.append(Passed(phase, link.served - served, link.lost - lost, link.queue, sender.queue))
    sender.learn(any(each.lost for each in passed))
    return passed
