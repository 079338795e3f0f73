"""Search all rates of whole bits per second for one that explains a log.

Every law of `virtual_queue` is monotone in the rate: with a higher rate, packets leave no later, and queues are no
longer. So the values at both ends of an interval of rates bound the values inside the interval. The search splits
intervals until it finds a rate that explains the log, or until no interval can contain such a rate. Both answers (a
rate, or no rate) are exact.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf, isqrt

#: The largest rate in bit/s, and the largest number of rates that a search tries. After this number, the answer is
#: "undecided".
LARGEST, TRIES = 10**12, 1500

#: The search ends when no rate needs a jitter that is smaller by more than these ns.
RESOLUTION = 1


class Undecided(Exception):
    """Raised if a search tried TRIES rates without an answer."""


@dataclass(frozen=True)
class Values:
    """The values of a log's laws at a rate."""

    #: The longest time from a packet's departure to its delivery, in ns; -inf if there are no deliveries.
    latest: float
    #: The shortest time from a packet's departure to its delivery, in ns; inf if there are no deliveries.
    soonest: float
    room: object  #: The virtual_queue.Room of the losses.
    #: The largest number of ns by which a delivery may precede the departure, because the link passes whole packets at
    #: once.
    margin: int
    thresholds: object = None  #: The virtual_queue.Room of the marks; None if marks do not matter.

    @property
    def rooms(self):
        """The Room of the losses, and the Room of the marks if marks matter."""
        return (self.room,) if self.thresholds is None else (self.room, self.thresholds)

    @property
    def jitter(self):
        """The jitter in ns that the deliveries need."""
        return max(0, self.latest - self.soonest)


@dataclass(frozen=True)
class RateAnswer:
    rate: int
    values: Values


def least_jitter(values_at, limit, early, hints=(), any_will_do=False):
    """Return the RateAnswer of the rate that needs the smallest jitter; None if no rate explains the log.

    After TRIES rates, the search returns the best rate so far. If lower rates need equally little jitter, the search
    returns the lowest of these rates that bisection finds.
    """
    values = _LimitedFunction(values_at)
    best = None

    def explains(each):
        allowed = each.jitter <= limit and (early is None or each.soonest >= -early - each.margin)
        return allowed and all(room.exists for room in each.rooms)

    def consider(rate):
        nonlocal best
        each = values(rate)
        if explains(each) and (best is None or each.jitter < best.values.jitter):
            best = RateAnswer(rate, each)

    def bound(low, high):
        """Return a lower bound on the jitter that rates between the two need; inf if no such rate explains the log."""
        slow, fast = values(low), values(high)
        if early is not None and fast.soonest < -early - slow.margin:
            return inf
        pairs = zip(slow.rooms, fast.rooms, strict=True)
        if any(large.most is not None and small.least > large.most for large, small in pairs):
            return inf
        return max(0, slow.latest - fast.soonest)

    def split():
        for rate in (*hints, 1, LARGEST):
            consider(rate)
        cells = [(bound(1, LARGEST), 1, LARGEST)]
        while cells and not (best and any_will_do):
            least, low, high = heappop(cells)
            if least > limit or (best and least >= best.values.jitter):
                break
            if high - low > 1:
                middle = _middle(low, high)
                consider(middle)
                for part in ((low, middle), (middle, high)):
                    heappush(cells, (bound(*part), *part))

    try:
        split()
    except Undecided:
        if best is None:
            raise
    if best and not any_will_do:
        values, least = _LimitedFunction(values_at, inf), best.values.jitter
        best = _lowest(lambda rate: explains(values(rate)) and values(rate).jitter <= least, best.rate)
        best = RateAnswer(best, values(best))
    return best


def _middle(low, high):
    return isqrt(low * high) if high > 2 * low else (low + high) // 2


def _lowest(true, high):
    """Return a number from 1 to `high` for which the function `true` holds. Bisection looks for a small number."""
    low = 0
    while high - low > 1:
        middle = _middle(max(low, 1), high)
        low, high = (low, middle) if true(middle) else (middle, high)
        if middle == low == 1 and high == 2:
            break
    return high


def extreme_rate(values_at, largest):
    """Return the RateAnswer of the largest or the smallest rate for which a Room exists; None if no rate has a Room.

    The largest rate has the smallest Room.
    """
    values = _LimitedFunction(values_at)
    cells = [(1, LARGEST)]
    while cells:
        low, high = cells.pop()
        first = high if largest else low
        if values(first).room.exists:
            return RateAnswer(first, values(first))
        slow, fast = values(low).room, values(high).room
        if slow.most is not None and fast.least > slow.most:
            continue
        if high - low <= 1:
            cells += [(low, low)] if largest and low < high else [(high, high)] if low < high else []
            continue
        middle = _middle(low, high)
        halves = [(low, middle), (middle, high)]
        cells += halves if largest else halves[::-1]
    return None


def smallest_rate(values_at, size, rate):
    """Return the smallest rate with which a buffer size explains the losses.

    `rate` is a larger rate with which the size explains them.
    """
    # A lower rate makes loads larger, so lost packets remain refused.
    return _lowest(lambda each: values_at(each).room.least <= size, rate)


class _LimitedFunction:
    """A function of rates that remembers its values, and is called for at most `tries` rates."""

    def __init__(self, values_at, tries=TRIES):
        self._values_at, self._tries, self._known = values_at, tries, {}

    def __call__(self, rate):
        if rate not in self._known:
            if len(self._known) >= self._tries:
                raise Undecided
            self._known[rate] = self._values_at(rate)
        return self._known[rate]
