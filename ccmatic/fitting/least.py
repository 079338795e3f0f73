"""The smallest jitter that explains parts of a log, and the link rate at which this jitter suffices."""

from functools import partial

import numpy as np

from ccmatic.base import InputError
from ccmatic.contracts import load_logs
from ccmatic.fitting.log import SECOND
from ccmatic.fitting.rows import rows
from ccmatic.fitting.search import Point, Search

#: The resolution of the smallest jitter in seconds, equal to the resolution of a log.
RESOLUTION = 1e-9

#: The number of packets that are processed together, so that they fit into a processor's cache. A longer part of a
#: log is processed alone.
TOGETHER = 2**16


def least(log, model, starts, ends, resolution=RESOLUTION):
    """Return the smallest jitter that explains each part of a log, with the link rate that is best for the part.

    With one clock, the propagation delay is at least 0. With two clocks, it may have any value. A part of a log has at
    least two packets. The jitter is in seconds. The rate, in bytes per second, is the lowest that the search found for
    this jitter; it is inf if every finite rate needs more jitter.
    """
    needed, lowered = _jitter_function(model), _propagation_floor(log, model)
    order = np.argsort(ends - starts, kind="stable")
    jitter, rate = np.empty(len(starts)), np.empty(len(starts))
    for chosen in _batches(order, (ends - starts)[order]):
        jitter[chosen], rate[chosen] = _least(rows(log, starts[chosen], ends[chosen]), needed, lowered, resolution)
    return jitter, rate


def unlimited(log, model):
    """Return the jitter in seconds that a log needs if C is unlimited, so that no packet waits."""
    part = rows(log, np.array([0]), np.array([len(log.sent)]))
    return float(_jitter_function(model)(part, np.zeros(1))[0][0])


def _jitter_function(model):
    if not model.default_jitter:
        raise InputError(f"the model {model.name} has no jitter; expected a model with jitter")
    return partial(load_logs(model).least_jitter, variation=float(model.variation))


def _propagation_floor(log, model):
    """Return a function of Rows and x (seconds per byte). The function lowers x until no propagation delay is negative.

    For a token bucket, any x is possible, because the bucket may have kept tokens, and each packet is delivered after
    it was sent.
    """
    longest_per_byte = getattr(load_logs(model), "longest_per_byte", None)
    if log.two_clocks or longest_per_byte is None:
        return lambda part, x: x
    largest = 0 if log.early is None else int(log.size.max())
    return partial(longest_per_byte, early=(log.early or 0) / SECOND, largest=largest)


def _batches(order, lengths):
    """Yield the parts in order of length, in batches.

    A batch, padded to rows of equal length, has at most TOGETHER packets.
    """
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and (end + 1 - begin) * lengths[end] <= TOGETHER:
            end += 1
        yield order[begin:end]
        begin = end


def _least(part, needed, lowered, resolution):
    indices = np.arange(len(part))
    begin = _points(part, needed, np.zeros(len(part)), np.zeros(len(part)))
    span = part.delivered[:, -1] - part.delivered[:, 0]
    values = np.array([point.value for point in begin])
    slowest = needed.keywords["variation"] * (values + span) / (part.through[:, -1] - part.through[:, 0])
    end = _points(part, needed, lowered(part, slowest * (1 + 1e-9)), np.zeros(len(part)))
    searches = [Search(*points, resolution) for points in zip(begin, end, strict=True)]
    while True:
        active = [i for i in indices if searches[i].x is not None]
        if not active:
            break
        rows = part if len(active) == len(part) else part.some(active)
        x, level = (np.array([getattr(searches[i], name) for i in active]) for name in ("x", "level"))
        for i, point in zip(active, _points(rows, needed, x, level), strict=True):
            searches[i].add(point)
    best = np.array([[search.best.value, search.best.x] for search in searches])
    with np.errstate(divide="ignore"):
        return best[:, 0], 1 / best[:, 1]


def _points(part, needed, x, level):
    value, lines = needed(part, x)
    left, right = _reach(lines, np.minimum(level, value))
    columns = (x, value, np.minimum(level, value), x - left, x + right)
    return [Point(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _reach(lines, level):
    """Return two arrays (rows,): the largest fall and the largest rise of x before some line reaches the level."""
    with np.errstate(divide="ignore", invalid="ignore"):
        far = (lines.value - level[:, None]) / lines.slope
    rising, falling = lines.slope > 0, lines.slope < 0
    left = np.where(rising, far, np.inf).min(axis=1)
    right = np.where(falling, far, -np.inf).max(axis=1)
    return left, -right
