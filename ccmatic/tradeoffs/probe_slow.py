"""The sender cc_probe_slow_k, which generalises cc_probe_slow (section 6.2.1), on exact links. It has two parameters.

The parameters are the loss allowance f and the probe duration T*.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import InputError

#: D and R_m are both equal to the unit of time, and a packet is the unit of bytes. A sender sends at least one packet
#: per R_m.
JITTER = PROPAGATION = PACKET = Fraction(1)

#: The rate of the slowest link, which serves five packets per R_m (docs/reference/encoding.md, notation).
LEAST_RATE = 5 * PACKET / PROPAGATION


@dataclass(frozen=True)
class Phase:
    """A phase of a cycle.

    Attributes:
        name: The name of the phase.
        duration: The duration in R_m.
        bytes: The number of packets sent at a constant rate over the duration.
        more: The number of packets sent at once at the end of the phase.
    """

    name: str
    duration: Fraction
    bytes: Fraction
    more: Fraction = Fraction(0)


@dataclass
class ProbeSlow:
    """The sender cc_probe_slow_k.

    Attributes:
        allowance: The allowance f, a function from a rate to packets.
        probe: The probe duration T*, in R_m, above 0.
        rate: The lower bound C_Llambda on the link's rate, in packets per R_m.
        queue: The upper bound q_U on the queue, in packets.

    Raises:
        InputError: If T* or the rate is too small.
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
        """The allowed loss f at the rate C_Llambda, in packets."""
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
    """A completed phase, in packets.

    Attributes:
        phase: The Phase.
        served: The number of packets served during the phase.
        lost: The number of packets lost during the phase.
        queue: The queue at the end of the phase.
        q_U: The sender's upper bound on the queue at the end of the phase.
    """

    phase: Phase
    served: Fraction
    lost: Fraction
    queue: Fraction
    q_U: Fraction


def run(sender, link):
    """Run one cycle of a ProbeSlow over a FluidLink, and return each phase as a PhaseRecord.

    The function advances both objects. At the end of the cycle, the sender learns whether the probe lost packets.
    """
    passed = []
    for phase in sender.cycle():
        served, lost = link.served, link.lost
        link.send(phase.bytes, phase.duration)
        link.burst(phase.more)
        passed.append(PhaseRecord(phase, link.served - served, link.lost - lost, link.queue, sender.queue))
    sender.learn(any(each.lost for each in passed))
    return passed
