"""The types of a model's logs.py: stretches of packet logs side by side, and the jitter that each needs at a link rate.

Packets of a stretch are numbered 1 … n in the order of their deliveries. Packet i was sent at a_i and delivered at d_i;
P_i are the bytes up to it, and Q_i = P_i - s_i those before it; x = 1/C. docs/fit.md derives what a logs.py computes:

- `least_jitter(rows, x, variation)` returns the least jitter of each row at x, and Lines: (rows,) each. variation: γ.
- `longest_per_byte(rows, x, early, largest)`, if it is there, lowers x so that propagation is not below 0, for logs by
  one clock. early: seconds by which d_i may be too early. largest: bytes that the link may let through at once.
- `departures(rows, x)`, if it is there, returns when each packet leaves the bottleneck, from which `fit` tells queues.

Arrays are of NumPy, which these types do not import.
"""

from dataclasses import dataclass
from typing import Any

Array = Any


@dataclass(frozen=True, eq=False)
class Rows:
    """Each array is (rows, packets): a stretch a row, in seconds from its first delivery and in bytes from its start. A
    row that is shorter than others repeats its last packet, without a byte, which no law notices."""

    sent: Array
    delivered: Array
    through: Array
    before: Array

    def __len__(self) -> int:
        return len(self.sent)

    def some(self, chosen: Any) -> "Rows":
        """The rows of these numbers."""
        return Rows(*(column[chosen] for column in (self.sent, self.delivered, self.through, self.before)))


@dataclass(frozen=True, eq=False)
class Lines:
    """A lower bound of the least jitter as a function of x, for each row: the least of lines, each given by its value
    at the x that was asked for and its slope; (rows, lines)."""

    value: Array
    slope: Array
