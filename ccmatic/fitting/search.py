"""The least of a function that is bounded from below by lines: by cells, each with a bound, the least bound first.

The function is neither convex nor smooth. Where it is asked for, at a point, it comes with lines of which the least is
its value there and nowhere above it (`rows.Lines`). That least is concave: from the point to where it has fallen to
some level it is above its chord. So between two points no value is below both chords. A search ends when no cell's
bound is below the least value found by more than the resolution.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

#: How many steps are spent on finding the greatest x at which the least value is had.
STEPS = 20


@dataclass(frozen=True)
class Point:
    """A value, and where to the left and to the right the lines have fallen to a level, at most the value."""

    x: float
    value: float
    level: float
    left: float
    right: float

    def chord(self, x, foot):
        """The chord towards a foot, `left` or `right`, at an x that is not beyond."""
        if x == self.x or foot in (inf, -inf):
            return self.value
        return self.value - (self.value - self.level) * ((x - self.x) / (foot - self.x))


@dataclass(order=True)
class Cell:
    """Between two neighbouring points. bound: no value is less. next: where to ask."""

    bound: float
    begin: Point = field(compare=False)
    end: Point = field(compare=False)
    next: float = field(compare=False)

    @staticmethod
    def between(begin, end, least):
        """Return the Cell of two points. least: a bound that holds in it anyway."""
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
    """The least of the greater of both chords where there are both, from low to high; and where."""
    down = begin.chord(low, begin.right) - end.chord(low, end.left)
    up = end.chord(high, end.left) - begin.chord(high, begin.right)
    x = low if down <= 0 else high if up <= 0 else low + (high - low) * (down / (down + up))
    return max(begin.chord(x, begin.right), end.chord(x, end.left)), x


class Search:
    """The search for one function's least between two points, in any number of rounds: `x` and `level` are what to ask
    next, `add` takes the Point found there; x is None when it is over. `best` is then the point of the greatest x that
    was found with a value within the resolution of the least."""

    def __init__(self, begin, end, resolution):
        self._tolerance = resolution / 2  # once of the least value, and once more of the greatest x that has it
        self.best = min(begin, end, key=lambda point: point.value)
        self._cells = [Cell.between(begin, end, 0.0)]
        self._right, self._left_steps = None, STEPS
        self._choose()

    def add(self, point):
        """Add the Point found at x."""
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
        """From a point to the right of which no value is as small: to where the lines allow one again."""
        self.x, self._right = None, point
        self.level = self._least + self._tolerance / 2
        if point.value <= self._least + self._tolerance:
            self.best = point
        elif self._left_steps:
            self._left_steps -= 1
            x = point.x - (point.x - point.left) * (point.value - self.level) / (point.value - point.level)
            self.x = x if x > self.best.x else None
