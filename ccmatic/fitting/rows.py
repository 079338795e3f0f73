"""Stretches of a log side by side, and the jitter that each needs at a link rate.

Of packets 1 … n, delivered in this order, let a_i be when packet i was sent, d_i when it was delivered, P_i the bytes
up to it and Q_i = P_i - s_i those before it; x = 1/C. docs/fit.md derives what stands here.
"""

from dataclasses import dataclass

import numpy as np

from ccmatic.fitting.log import NEVER, SECOND

#: Seconds before its stretch at which a packet is taken to have been sent of which that is not known: any time before
#: all that is known will do.
EARLY = 1e6


@dataclass(frozen=True, eq=False)
class Rows:
    """Each array is (rows, packets): a stretch a row, in seconds from its first delivery and in bytes from its start. A
    row that is shorter than others repeats its last packet, without a byte, which no law notices."""

    sent: np.ndarray
    delivered: np.ndarray
    through: np.ndarray
    before: np.ndarray

    def __len__(self):
        return len(self.sent)

    def some(self, chosen):
        """The rows of these numbers."""
        return Rows(*(column[chosen] for column in (self.sent, self.delivered, self.through, self.before)))


def rows(log, starts, ends):
    """The Rows of stretches of the packets of a log, none of which is lost: from each start up to its end, left out."""
    length = max(ends - starts)
    place = starts[:, None] + np.arange(length)
    beyond = place >= ends[:, None]
    place = np.minimum(place, ends[:, None] - 1)
    origin = log.delivered[starts][:, None]
    known = log.sent[place] != NEVER
    sent = np.where(known, (log.sent[place] - origin) / SECOND, -EARLY)
    size = np.where(beyond, 0, log.size[place])
    through = np.cumsum(size, axis=1, dtype=np.float64)
    return Rows(sent, (log.delivered[place] - origin) / SECOND, through, through - size)


@dataclass(frozen=True, eq=False)
class Lines:
    """A lower bound of the least jitter as a function of x, for each row: the least of lines, each given by its value
    at the x that was asked for and its slope; (rows, lines)."""

    value: np.ndarray
    slope: np.ndarray

    def reach(self, level):
        """By how much x may fall, and rise, until some line has fallen to the level, at most its value; (rows,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            far = (self.value - level[:, None]) / self.slope
        rising, falling = self.slope > 0, self.slope < 0
        left = np.where(rising, far, np.inf).min(axis=1)
        right = np.where(falling, far, -np.inf).max(axis=1)
        return left, -right


def fixed_rate(row, x, variation):
    """The least jitter of each row at x, (rows,) each; and Lines. A packet leaves the bottleneck at

        K_i = max(a_i, K_{i-1}) + s_i·x

    where K_0, which is what queued before the stretch, is as is best. e_i = d_i - K_i is between propagation and
    propagation + D, so D is its greatest less its least.
    """
    each = np.arange(len(row))
    backlogged = row.delivered - x[:, None] * row.through
    arrival = row.sent - x[:, None] * row.before
    left = backlogged - np.maximum.accumulate(arrival, axis=1)
    first, soonest = backlogged.argmin(1), left.argmin(1)
    held = np.minimum(backlogged - backlogged[each, first, None], left - left[each, soonest, None])
    worst = held.argmax(1)
    some = slice(max(worst.max(), soonest.max()) + 1)
    numbers = np.arange(some.stop)
    arrival, before, after = arrival[:, some], row.before[:, some], numbers > worst[:, None]
    at = np.where(numbers <= soonest[:, None], arrival, -np.inf).argmax(1)
    value = (backlogged[each, worst] - left[each, soonest])[:, None] - arrival
    value[after] = np.inf
    slope = before + (row.through[each, soonest] - row.before[each, at] - row.through[each, worst])[:, None]
    value = np.column_stack((value, backlogged[each, worst] - backlogged[each, first]))
    slope = np.column_stack((slope, row.through[each, first] - row.through[each, worst]))
    return held[each, worst], Lines(value, slope)


def longest_per_byte(row, x, early, largest):
    """Lower x, (rows,), for a log by one clock to the greatest at which some link of fixed rate whose propagation is
    not below 0 leaves each row: no packet is delivered before its last byte can have left the bottleneck,

        (P_i - P_{j-1})·x ≤ d_i - a_j  for all j ≤ i

    early: seconds by which d_i may be too early; largest: bytes that the link may let through at once. By
    Newton's method, from above: the pair that is violated most says where to go on.
    """
    each, numbers = np.arange(len(row)), np.arange(row.sent.shape[1])
    while True:
        left = row.delivered - x[:, None] * row.through
        arrival = row.sent - x[:, None] * row.before
        left -= np.maximum.accumulate(arrival, axis=1)
        soonest = left.argmin(1)
        arrival[numbers > soonest[:, None]] = -np.inf
        first = arrival.argmax(1)
        span = row.delivered[each, soonest] - row.sent[each, first] + early
        load = row.through[each, soonest] - row.before[each, first] - largest
        violated = (left[each, soonest] < -early - x * largest) & (load > 0)
        lower = np.divide(span, load, out=x.copy(), where=violated)
        if not (lower < x).any():
            return x
        x = np.minimum(x, lower)


def departures(row, x):
    """When each packet leaves a bottleneck of fixed rate, K_i at x, by the sender's clock; (rows, packets) seconds."""
    backlogged = row.delivered - x[:, None] * row.through
    served = np.maximum.accumulate(row.sent - x[:, None] * row.before, axis=1)
    queued_before = np.min(backlogged, axis=1) - np.min(backlogged - served, axis=1)
    return x[:, None] * row.through + np.maximum(served, queued_before[:, None])


def token_bucket(row, x, variation):
    """As fixed_rate. Packet i has its token at T_i, where propagation p is the least delay, T_0 is as is best, and

        T_i-1 + s_i·x ≤ T_i ≤ max(a_i + p, T_{i-1}) + s_i·x,  T_i ≤ d_i

    A token is never wasted while a packet waits; one for which none waits is kept, or wasted. The latest T_i is the
    least of the right side and of d_j - (P_j - P_i)·x for all j ≥ i; D is the greatest d_i - T_i.
    """
    each = np.arange(len(row))
    propagation = np.min(row.delivered - row.sent, axis=1)
    arrival = row.sent + propagation[:, None] - x[:, None] * row.before
    backlogged = row.delivered - x[:, None] * row.through
    latest = np.minimum.accumulate(backlogged[:, ::-1], axis=1)[:, ::-1]
    queued = latest <= arrival
    queued[:, 0] = True
    token = np.where(queued, latest, arrival)
    held = backlogged - np.maximum.accumulate(token, axis=1)
    worst = held.argmax(1)
    follower = np.where(backlogged == latest, row.through, np.inf)
    follower = np.minimum.accumulate(follower[:, ::-1], axis=1)[:, ::-1]
    some = slice(worst.max() + 1)
    value = backlogged[each, worst, None] - token[:, some]
    value[np.arange(some.stop) > worst[:, None]] = np.inf
    ahead = np.where(queued[:, some], follower[:, some], row.before[:, some])
    return held[each, worst], Lines(value, ahead - row.through[each, worst, None])
