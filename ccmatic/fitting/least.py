"""The least jitter of stretches of a log, and the link rate that gives it."""

from functools import partial

import numpy as np

from ccmatic.base import InputError
from ccmatic.contracts import load_logs
from ccmatic.fitting.log import SECOND
from ccmatic.fitting.rows import rows
from ccmatic.fitting.search import Point, Search

#: Within how many seconds the least jitter is found: a log's own unit.
RESOLUTION = 1e-9

#: How many packets are looked at together, so that they stay in a processor's cache; a longer stretch is alone.
TOGETHER = 2**16


def least(log, model, starts, ends, resolution=RESOLUTION):
    """The least jitter in seconds of each stretch of the packets of a log, none of which is lost, on a Model's link of
    the rate that is best for it; and the least such rate found, in bytes per second (inf where no finite rate has it).
    By one clock, propagation is not below 0; by two, it may be anything. Each stretch, from its start up to its end,
    which is left out, has two packets or more; arrays as long as starts. Raises InputError for a model that has no
    jitter, or no logs.py."""
    needed, lowered = _needed(model), _lowered(log, model)
    order = np.argsort(ends - starts, kind="stable")
    jitter, rate = np.empty(len(starts)), np.empty(len(starts))
    for chosen in _batches(order, (ends - starts)[order]):
        jitter[chosen], rate[chosen] = _least(rows(log, starts[chosen], ends[chosen]), needed, lowered, resolution)
    return jitter, rate


def unlimited(log, model):
    """The jitter in seconds that the packets of a log, none of which is lost, need on a Model's link on which none
    waits, as C has no limit. Raises InputError as `least`."""
    part = rows(log, np.array([0]), np.array([len(log.sent)]))
    return float(_needed(model)(part, np.zeros(1))[0][0])


def _needed(model):
    if not model.default_jitter:
        raise InputError(f"the model {model.name} has no jitter; expected a model with jitter")
    return partial(load_logs(model).least_jitter, variation=float(model.variation))


def _lowered(log, model):
    """What keeps propagation from being below 0: takes Rows and x, gives x. On a token bucket, which may have kept
    tokens, any x will do, as no packet is delivered before it was sent."""
    longest_per_byte = getattr(load_logs(model), "longest_per_byte", None)
    if log.two_clocks or longest_per_byte is None:
        return lambda part, x: x
    largest = 0 if log.early is None else int(log.size.max())
    return partial(longest_per_byte, early=(log.early or 0) / SECOND, largest=largest)


def _batches(order, lengths):
    """Stretches, in order of their lengths, in parts of at most TOGETHER packets with what is repeated."""
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
    """By how much x may fall, and rise, until some line has fallen to the level, at most its value; (rows,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        far = (lines.value - level[:, None]) / lines.slope
    rising, falling = lines.slope > 0, lines.slope < 0
    left = np.where(rising, far, np.inf).min(axis=1)
    right = np.where(falling, far, -np.inf).max(axis=1)
    return left, -right
