"""The smallest jitter with which a token bucket explains a packet log (docs/reference/fit.md).

The notation is that of ccmatic.contracts.worlds.
"""

import numpy as np

from ccmatic.contracts import Lines


def least_jitter(row, x, variation):
    """Return the smallest jitter of each row at x (one number per row), and the Lines.

    Packet i has its token at T_i. The propagation delay p is the smallest delay, and T_0 minimises the jitter. Then

           T_{i-1} + s_i·x ≤ T_i ≤ max(a_i + p, T_{i-1}) + s_i·x,  T_i ≤ d_i

    The link never wastes a token while a packet waits; at other times it keeps or wastes the token. The latest T_i is
    the minimum of the right side and of d_j - (P_j - P_i)·x for all j ≥ i. D is the largest d_i - T_i.
    """
    rows = np.arange(len(row))
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
    value = backlogged[rows, worst, None] - token[:, some]
    value[np.arange(some.stop) > worst[:, None]] = np.inf
    ahead = np.where(queued[:, some], follower[:, some], row.before[:, some])
    return held[rows, worst], Lines(value, ahead - row.through[rows, worst, None])
