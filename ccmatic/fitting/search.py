"""Find the least value of a function that has lines below it. The search splits the cell of least bound first.

The function is neither convex nor smooth. An evaluation at a point gives the value and some lines. The minimum of these
lines equals the function at that point, and is nowhere above the function (`rows.Lines`). This minimum is concave. So
between the point and the place where the minimum has fallen to some level, the function is above the chord between
them. Therefore no value between two neighbouring points is below both chords. A search ends when no cell's bound is
below the least value found by more than the resolution.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

#: The most steps of the search for the greatest x with the least value.
STEPS = 20


@dataclass(frozen=True)
class Point:
    """A value of the function, and the places on both sides where the lines have fallen to a level below or at it.

    Attributes:
        x: The place.
        value: The value there.
        level: The level.
        left: Where the lines have fallen to the level on the left.
        right: Where they have on the right.
    """

    x: float
    value: float
    level: float
    left: float
    right: float

    def chord(self, x, foot):
        """Return the chord towards a foot, `left` or `right`, at an x that is not beyond the foot."""
        if x == self.x or foot in (inf, -inf):
            return self.value
        return self.value - (self.value - self.level) * ((x - self.x) / (foot - self.x))


@dataclass(order=True)
class Cell:
    """The interval between two neighbouring points.

    Attributes:
        bound: A lower bound of all values in the interval.
        begin: The left point.
        end: The right point.
        next: Where to evaluate the function next.
    """

    bound: float
    begin: Point = field(compare=False)
    end: Point = field(compare=False)
    next: float = field(compare=False)

    @staticmethod
    def between(begin, end, least):
        """Return the Cell of two points. `least` is a bound that is already known for it."""
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
    """Return the minimum, between low and high, of the upper one of two chords, and the place of the minimum."""
    down = begin.chord(low, begin.right) - end.chord(low, end.left)
    up = end.chord(high, end.left) - begin.chord(high, begin.right)
    x = low if down <= 0 else high if up <= 0 else low + (high - low) * (down / (down + up))
    return max(begin.chord(x, begin.right), end.chord(x, end.left)), x


class Search:
    """The search for one function's least value between two points, in any number of rounds.

    Attributes:
        x: Where to evaluate the function next; None when the search is over.
        level: The level of the Point to add next.
        best: At the end, the found point of greatest x whose value is within the resolution of the least value.
    """

    def __init__(self, begin, end, resolution):
        self._tolerance = resolution / 2  # once of the least value, and once more of the greatest x that has it
        self.best = min(begin, end, key=lambda point: point.value)
        self._cells = [Cell.between(begin, end, 0.0)]
        self._right, self._left_steps = None, STEPS
        self._choose()

    def add(self, point):
        """Add the Point at x."""
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
        """Move left from a point to where the lines again allow so small a value. There is none right of the point."""
        self.x, self._right = None, point
        self.level = self._least + self._tolerance / 2
        if point.value <= self._least + self._tolerance:
            self.best = point
        elif self._left_steps:
            self._left_steps -= 1
            x = point.x - (point.x - point.left) * (point.value - self.level) / (point.value - point.level)
            self.x = x if x > self.best.x else None
