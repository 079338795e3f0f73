"""Random loss, described by two numbers: a share of the bytes in any interval, and a burst of further bytes."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

#: Shares are whole multiples of 1/PARTS. An explanation loses at most the share MOST and a burst of BURST packets.
PARTS, MOST, BURST = 10_000, Fraction(1, 10), 10


@dataclass(frozen=True)
class RandomLoss:
    """A bound on losses: of the bytes sent in any interval, at most share · bytes + burst are lost."""

    share: Fraction  #: The share of bytes that may be lost, a multiple of 1/PARTS.
    burst: int  #: The number of further bytes that may be lost.


def front(size, lost):
    """Return the RandomLosses that explain a log's losses: the smallest share for each burst of whole packets."""
    packet = int(size.max())
    found = [RandomLoss(_least_share(size, lost, count * packet), count * packet) for count in range(1, BURST + 1)]
    return [
        each for each, before in zip(found, [None, *found], strict=False) if before is None or each.share < before.share
    ]


def explains(size, lost):
    """Return whether random loss within the limits explains the losses."""
    return burst(size, lost, MOST) <= BURST * int(size.max())


def choose(front, size, lost):
    """Return the RandomLoss that represents a front of RandomLosses; None if all shares of the front are above MOST.

    The result has the smallest burst whose share is at most twice the share of the lost bytes. Without such a burst,
    the result has the largest burst.
    """
    allowed = min(MOST, 2 * Fraction(int(size[lost].sum()), int(size.sum())) + Fraction(1, PARTS))
    some = [each for each in front if each.share <= allowed] or front[-1:]
    return some[0] if some[0].share <= MOST else None


def burst(size, lost, share):
    """Return the smallest burst, as a Fraction in bytes, that explains the losses with the given share."""
    excess = np.cumsum(np.where(lost, size, 0) * share.denominator - size * share.numerator)
    before = np.minimum.accumulate(np.concatenate(([0], excess[:-1])))
    return Fraction(max(0, int((excess - before).max())), share.denominator)


def _least_share(size, lost, most):
    """Return the smallest share whose burst is at most `most` bytes."""
    low, high = -1, PARTS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if burst(size, lost, Fraction(middle, PARTS)) <= most else (middle, high)
    return Fraction(high, PARTS)
