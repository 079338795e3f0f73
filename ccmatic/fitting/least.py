"""The smallest jitter that explains parts of a log, and the link rate at which this jitter suffices.

The needed jitter is a function of the seconds per byte. Its smallest value is the one sought.
The search always splits the interval with the smallest bound. The function is neither convex nor smooth. An evaluation
at a point returns the function's value at this point and some lines (`rows.Lines`). The minimum of these lines is a
concave lower bound on the function, and equals the function at the point. Consider a place on one side of the point
where this bound has fallen to some level. A chord is the straight line from the point to the bound at this place. The
bound is concave, so it lies above the chord, and so does the function. Therefore, between two neighbouring points, each
value lies above at least one of their two chords. The search ends when no interval's bound is below
the smallest known value by more than the resolution.
"""

from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from math import inf

import numpy as np

from ccmatic.base import InputError
from ccmatic.contracts import load_logs
from ccmatic.fitting.log import SECOND, rows

#: The resolution of the smallest jitter in seconds, equal to the resolution of a log.
RESOLUTION = 1e-9

#: The number of packets that are processed together, so that they fit into a processor's cache. A longer part of a
#: log is processed alone.
TOGETHER = 2**16

#: The largest number of steps in the search for the largest x that has the smallest value.
STEPS = 20


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


# ---- the search for the smallest value ----


@dataclass(frozen=True)
class Point:
    """An evaluated point of the function, with the nearest places on both sides where its lines reach a level."""

    x: float  #: The argument of the function.
    value: float  #: The function's value at x.
    level: float  #: The level, which is at most `value`.
    left: float  #: The place left of x where the lines have fallen to the level.
    right: float  #: The place right of x where the lines have fallen to the level.

    def chord(self, x, foot):
        """Return the value at x of the chord from this point to a foot, `left` or `right`. x lies between both."""
        if x == self.x or foot in (inf, -inf):
            return self.value
        return self.value - (self.value - self.level) * ((x - self.x) / (foot - self.x))


@dataclass(order=True)
class Cell:
    """The interval between two neighbouring evaluated points."""

    bound: float  #: A lower bound on all values of the function in the interval.
    begin: Point = field(compare=False)  #: The point at the left end.
    end: Point = field(compare=False)  #: The point at the right end.
    next: float = field(compare=False)  #: The argument at which to evaluate the function next.

    @staticmethod
    def between(begin, end, least):
        """Return the Cell between two points. `least` is an already known lower bound for this cell."""
        low, high = max(end.left, begin.x), min(begin.right, end.x)
        if high < low:
            return Cell(least, begin, end, (low + high) / 2)
        bounds = [_crossing(begin, end, low, high)]
        if low > begin.x:
            bounds.append((begin.chord(low, begin.right), low))
        if high < end.x:
            bounds.append((end.chord(high, end.left), high))
        bound, x = min(bounds)
        return Cell(max(least, bound), begin, end, x if begin.x < x < end.x else (begin.x + end.x) / 2)


def _crossing(begin, end, low, high):
    """Return the minimum, between `low` and `high`, of the larger of two chords, and the place of this minimum."""
    down = begin.chord(low, begin.right) - end.chord(low, end.left)
    up = end.chord(high, end.left) - begin.chord(high, begin.right)
    x = low if down <= 0 else high if up <= 0 else low + (high - low) * (down / (down + up))
    return max(begin.chord(x, begin.right), end.chord(x, end.left)), x


class Search:
    """The search for the least value of one function between two points, in any number of rounds.

    Attributes:
        x: The argument at which to evaluate the function next; None once the search is over.
        level: The level that the next Point must have.
        best: At the end of the search, the point with the largest x whose value is within the resolution of the
            smallest value.
    """

    def __init__(self, begin, end, resolution):
        self._tolerance = resolution / 2  # half for the smallest value, half for the largest x with this value
        self.best = min(begin, end, key=lambda point: point.value)
        self._cells = [Cell.between(begin, end, 0.0)]
        self._right, self._left_steps = None, STEPS
        self._choose()

    def add(self, point):
        if self._right is None:
            cell = heappop(self._cells)
            self.best = min(self.best, point, key=lambda point: point.value)
            heappush(self._cells, Cell.between(cell.begin, point, cell.bound))
            heappush(self._cells, Cell.between(point, cell.end, cell.bound))
            self._choose()
        else:
            self._go_left(point)

    def _choose(self):
        cell = self._cells[0]
        if cell.bound < self.best.value - self._tolerance and cell.begin.x < cell.next < cell.end.x:
            self.x, self.level = cell.next, cell.bound
        else:
            self._least = self.best.value
            ends = [cell.end for cell in self._cells if cell.bound <= self._least + self._tolerance]
            self._go_left(max(ends, key=lambda point: point.x))

    def _go_left(self, point):
        """Move left from a point, to the next place where the lines allow a value as small.

        No such place lies to the right.
        """
        self.x, self._right = None, point
        self.level = self._least + self._tolerance / 2
        if point.value <= self._least + self._tolerance:
            self.best = point
        elif self._left_steps:
            self._left_steps -= 1
            x = point.x - (point.x - point.left) * (point.value - self.level) / (point.value - point.level)
            self.x = x if x > self.best.x else None
