"""Queueing delay: bytes that wait at the bottleneck are served within a given number of R_m, if they were at first."""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic.contracts import Property, WayToFail
from ccmatic.logic import every, implies, no


@dataclass(frozen=True)
class QueueingDelay(Property):
    """most: R_m for which bytes wait at most."""

    name = "queueing_delay"

    most: Fraction = Fraction(3)

    def ways_to_fail(self, model, buffer):
        """One: the queue gets too long."""
        yield WayToFail("waits too long", lambda x: no(self._stays_short(x)))

    def objectives(self, model, x):
        """The same, by name."""
        return {f"waits at most {self.most} R_m": self._stays_short(x)}

    def holds(self, objectives):
        """There is one only."""
        return all(objectives.values())

    def _stays_short(self, x):
        short = [x.queue(t) <= self.most * x.C for t in range(x.horizon)]
        return implies(short[0], every(short))


PROPERTY = QueueingDelay
