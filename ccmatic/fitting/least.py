"""The least jitter of stretches of a log, and the link rate that gives it."""

from functools import partial

import numpy as np

from ccmatic.base import InputError
from ccmatic.fitting.log import SECOND
from ccmatic.fitting.moving_rate import varying_token_bucket
from ccmatic.fitting.rows import fixed_rate, longest_per_byte, rows, token_bucket
from ccmatic.fitting.search import Point, Search

#: For each bottleneck, by the name that models give it, what jitter rows need on it, given x and γ.
NEEDED = {"fixed rate": fixed_rate, "token bucket": token_bucket, "varying token bucket": varying_token_bucket}

#: Within how many seconds the least jitter is found: a log's own unit.
RESOLUTION = 1e-9

#: How many packets are looked at together, so that they stay in a processor's cache; a longer stretch is alone.
TOGETHER = 2**16


def least(log, model, starts, ends, resolution=RESOLUTION):
    """The least jitter in seconds of each stretch of the packets of a log, none of which is lost, on a Model's link of
    the rate that is best for it; and the least such rate found, in bytes per second (inf where no finite rate has it).
    By one clock, propagation is not below 0; by two, it may be anything. Each stretch, from its start up to its end,
    which is left out, has two packets or more; arrays as long as starts. Raises InputError for a model that has no
    jitter, or no bottleneck that can be fitted."""
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
    if not model.default_jitter or model.bottleneck not in NEEDED:
        has = f"the bottleneck {model.bottleneck!r}" if model.default_jitter else "no jitter"
        raise InputError(f"the model {model.name} has {has}; expected jitter, and one of {', '.join(NEEDED)}")
    return partial(NEEDED[model.bottleneck], variation=float(model.variation))


def _lowered(log, model):
    """What keeps propagation from being below 0: takes Rows and x, gives x. On a token bucket, which may have kept
    tokens, any x will do, as no packet is delivered before it was sent."""
    if log.two_clocks or model.bottleneck != "fixed rate":
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
    each = np.arange(len(part))
    begin = _points(part, needed, np.zeros(len(part)), np.zeros(len(part)))
    span = part.delivered[:, -1] - part.delivered[:, 0]
    values = np.array([point.value for point in begin])
    slowest = needed.keywords["variation"] * (values + span) / (part.through[:, -1] - part.through[:, 0])
    end = _points(part, needed, lowered(part, slowest * (1 + 1e-9)), np.zeros(len(part)))
    searches = [Search(*points, resolution) for points in zip(begin, end, strict=True)]
    while True:
        active = [i for i in each if searches[i].x is not None]
        if not active:
            break
        asked = part if len(active) == len(part) else part.some(active)
        x, level = (np.array([getattr(searches[i], name) for i in active]) for name in ("x", "level"))
        for i, point in zip(active, _points(asked, needed, x, level), strict=True):
            searches[i].told(point)
    best = np.array([[search.best.value, search.best.x] for search in searches])
    with np.errstate(divide="ignore"):
        return best[:, 0], 1 / best[:, 1]


def _points(part, needed, x, level):
    value, lines = needed(part, x)
    left, right = lines.reach(np.minimum(level, value))
    columns = (x, value, np.minimum(level, value), x - left, x + right)
    return [Point(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
