"""The smallest jitter with which a link of constant rate explains a packet log (docs/reference/fit.md).

The notation is that of ccmatic.contracts.worlds.
"""

import numpy as np

from ccmatic.contracts import Lines


def least_jitter(row, x, variation):
    """Return the smallest jitter of each row at x (one number per row), and the Lines.

    Packet i leaves the bottleneck at time

        K_i = max(a_i, K_{i-1}) + s_i·x

    where K_0, the time at which the initial queue is served, is chosen to minimise the jitter. The delay e_i = d_i -
    K_i lies between the propagation delay and that delay + D. So D is the largest e_i minus the smallest e_i.
    """
    rows = np.arange(len(row))
    backlogged = row.delivered - x[:, None] * row.through
    arrival = row.sent - x[:, None] * row.before
    # e_i is `left` without an initial queue. While an initial queue lasts, e_i is `backlogged` minus a constant. The
    # best K_0 gives the smaller of the two distances to the minimum.
    left = backlogged - np.maximum.accumulate(arrival, axis=1)
    first, soonest = backlogged.argmin(1), left.argmin(1)
    held = np.minimum(backlogged - backlogged[rows, first, None], left - left[rows, soonest, None])
    worst = held.argmax(1)
    some = slice(max(worst.max(), soonest.max()) + 1)
    numbers = np.arange(some.stop)
    arrival, before, after = arrival[:, some], row.before[:, some], numbers > worst[:, None]
    at = np.where(numbers <= soonest[:, None], arrival, -np.inf).argmax(1)
    value = (backlogged[rows, worst] - left[rows, soonest])[:, None] - arrival
    value[after] = np.inf
    slope = before + (row.through[rows, soonest] - row.before[rows, at] - row.through[rows, worst])[:, None]
    value = np.column_stack((value, backlogged[rows, worst] - backlogged[rows, first]))
    slope = np.column_stack((slope, row.through[rows, first] - row.through[rows, worst]))
    return held[rows, worst], Lines(value, slope)


def longest_per_byte(row, x, early, largest):
    """Return the largest x up to the given x at which some link with nonnegative propagation explains each row.

    All times must come from one clock. No packet may be delivered before the bottleneck can have served its last byte:

        (P_i - P_{j-1})·x ≤ d_i - a_j  for all j ≤ i

    Newton's method, from above, finds the largest such x: the pair (i, j) with the largest violation gives the next x.

    Args:
        row: The Rows.
        x: The initial 1/C of each row.
        early: The tolerance in seconds by which a delivery d_i may be too early.
        largest: The number of bytes that the link may release at once.
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
    """Return the time K_i at x, by the sender's clock, at which each packet leaves a bottleneck of constant rate.

    The result has shape (rows, packets), in seconds.
    """
    backlogged = row.delivered - x[:, None] * row.through
    served = np.maximum.accumulate(row.sent - x[:, None] * row.before, axis=1)
    queued_before = np.min(backlogged, axis=1) - np.min(backlogged - served, axis=1)
    return x[:, None] * row.through + np.maximum(served, queued_before[:, None])
