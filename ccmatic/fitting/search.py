"""Find the smallest value of a function that lies above known lines.

The search always splits the interval with the smallest bound. The function is neither convex nor smooth. An evaluation
at a point returns the function's value at this point and some lines (`rows.Lines`). The minimum of these lines is a
concave lower bound on the function, and equals the function at the point. Consider a place on one side of the point
where this bound has fallen to some level. A chord is the straight line from the point to the bound at this place. The
bound is concave, so it lies above the chord, and so does the function. Therefore, between two neighbouring points, each
value lies above at least one of their two chords. The search ends when no interval's bound is below
the smallest known value by more than the resolution.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

#: The largest number of steps in the search for the largest x that has the smallest value.
STEPS = 20


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
        """Add the evaluated Point at x."""
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
