"""The types in a model's logs.py. This file computes the jitter that explains stretches of packet logs at a link rate.

The packets of a stretch have the numbers 1 … n, in the order of their deliveries. Packet i was sent at a_i and
delivered at d_i, and has s_i bytes. P_i is the number of bytes up to and including packet i, Q_i = P_i - s_i the number
of bytes before it, and x = 1/C. docs/reference/fit.md derives the functions of a logs.py:

- `least_jitter(rows, x, variation)` returns two things: an array of shape (rows,) with the smallest jitter of each row
  at x, and the Lines. `variation` is γ.
- `longest_per_byte(rows, x, early, largest)` is optional. The function lowers x until the propagation delay is not
  negative, for logs with one clock. `early` is the number of seconds by which d_i may be too early. `largest` is the
  number of bytes that the link may release at once.
- `departures(rows, x)` is optional. The function returns the time at which each packet leaves the bottleneck. `fit`
  infers queues from these times.

The arrays are NumPy arrays; this module does not import NumPy.
"""

from dataclasses import dataclass
from typing import Any

Array = Any


@dataclass(frozen=True, eq=False)
class Rows:
    """Stretches of packet logs, one stretch per row. Each array has the shape (rows, packets).

    Times are in seconds from the first delivery of the stretch, and bytes are counted from its start. A row with fewer
    packets repeats its last packet with zero bytes, which affects no law.

    Attributes:
        sent: The sending times a_i.
        delivered: The delivery times d_i.
        through: The byte counts P_i.
        before: The byte counts Q_i.
    """

    sent: Array
    delivered: Array
    through: Array
    before: Array

    def __len__(self) -> int:
        return len(self.sent)

    def some(self, chosen: Any) -> "Rows":
        return Rows(*(column[chosen] for column in (self.sent, self.delivered, self.through, self.before)))


@dataclass(frozen=True, eq=False)
class Lines:
    """A lower bound on the smallest jitter of each row, as a function of x. The bound is the minimum of several lines.

    Attributes:
        value: Array (rows, lines). The value of each line at the given x.
        slope: Array (rows, lines). The slope of each line.
    """

    value: Array
    slope: Array
