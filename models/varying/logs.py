"""The smallest jitter with which a link of a rate from C to γ·C explains a packet log (docs/reference/fit.md)."""

import numpy as np

from ccmatic.contracts import Lines


def least_jitter(row, x, variation):
    """Return the smallest jitter of each row at x (one number per row), and the Lines.

    The link is the token bucket of `ccac` with one difference. Tokens come up to γ times as fast, and while a packet
    waits they come at least at rate C:

        T_{i-1} + s_i·x/γ ≤ T_i ≤ max(a_i + p, T_{i-1}) + s_i·x,  T_i ≤ d_i
    """
    each, numbers = np.arange(len(row)), np.arange(row.sent.shape[1])
    fastest = x[:, None] / variation
    propagation = np.min(row.delivered - row.sent, axis=1)
    arrival = row.sent + propagation[:, None] - x[:, None] * row.before
    soonest = row.delivered - fastest * row.through
    in_time = np.minimum.accumulate(soonest[:, ::-1], axis=1)[:, ::-1]
    latest = in_time - (x[:, None] - fastest) * row.through
    backlogged = row.delivered - x[:, None] * row.through
    held = backlogged - _clamped(arrival, latest)
    worst = held.argmax(1)
    followed = np.where(soonest == in_time, row.through, np.inf)
    followed = np.minimum.accumulate(followed[:, ::-1], axis=1)[:, ::-1]
    before_worst = np.where(numbers <= worst[:, None], latest, np.inf)
    bound = np.minimum.accumulate(before_worst[:, ::-1], axis=1)[:, ::-1]
    by = np.where(before_worst == bound, numbers, numbers[-1])
    by = np.minimum.accumulate(by[:, ::-1], axis=1)[:, ::-1]
    ahead = np.take_along_axis((followed - row.through) / variation + row.through, by, axis=1)
    queued = bound <= arrival
    queued[:, 0] = True
    value = backlogged[each, worst, None] - np.where(queued, bound, arrival)
    value[numbers > worst[:, None]] = np.inf
    return held[each, worst], Lines(value, np.where(queued, ahead, row.before) - row.through[each, worst, None])


def _clamped(low, high):
    """Return w_i = min(high_i, max(low_i, w_{i-1})) for each i of each row. The initial w_0 is infinite.

    Two steps of this form in sequence again have this form. So each pass combines twice as many steps as the previous
    pass.
    """
    low, high = np.minimum(low, high), high.copy()
    together = 1
    while together < low.shape[1]:
        below, above = low[:, together:].copy(), high[:, together:].copy()
        low[:, together:] = np.clip(low[:, :-together], below, above)
        high[:, together:] = np.clip(high[:, :-together], below, above)
        together *= 2
    return high
