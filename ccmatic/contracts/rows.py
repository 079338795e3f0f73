"""The types of a model's logs.py: stretches of packet logs in parallel, and the jitter that each needs at a link rate.

Packets of a stretch are numbered 1 … n in the order of their deliveries. Packet i was sent at a_i and delivered at d_i.
P_i are the bytes up to and including it, Q_i = P_i - s_i those before it, and x = 1/C. docs/reference/fit.md derives
the functions of a logs.py:

- `least_jitter(rows, x, variation)` returns the smallest jitter of each row at x, of shape (rows,), and Lines.
  `variation` is γ.
- `longest_per_byte(rows, x, early, largest)`, optional, lowers x until propagation is not negative. It is for logs with
  one clock. `early` are the seconds by which d_i may be too early; `largest` are the bytes that the link may release at
  once.
- `departures(rows, x)`, optional, returns when each packet leaves the bottleneck; `fit` infers queues from it.

The arrays are NumPy arrays; this module does not import NumPy.
"""

from dataclasses import dataclass
from typing import Any

Array = Any


@dataclass(frozen=True, eq=False)
class Rows:
    """Stretches of packet logs, one per row; each array is (rows, packets).

    Times are in seconds from the stretch's first delivery, bytes are counted from its start. A shorter row repeats its
    last packet with zero bytes, which affects no law.

    Attributes:
        sent: a_i.
        delivered: d_i.
        through: P_i.
        before: Q_i.
    """

    sent: Array
    delivered: Array
    through: Array
    before: Array

    def __len__(self) -> int:
        return len(self.sent)

    def some(self, chosen: Any) -> "Rows":
        """Return the chosen rows."""
        return Rows(*(column[chosen] for column in (self.sent, self.delivered, self.through, self.before)))


@dataclass(frozen=True, eq=False)
class Lines:
    """A lower bound on the smallest jitter as a function of x, per row: the minimum of lines.

    Attributes:
        value: (rows, lines) The value of each line at the given x.
        slope: (rows, lines) Its slope.
    """

    value: Array
    slope: Array
