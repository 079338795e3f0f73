"""Exact fluid executions over a link of fixed rate with a drop-tail buffer: bytes queued, served and lost over time."""

from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest


@dataclass(frozen=True)
class Loss:
    """A loss of `lost` bytes, at a constant rate from `begin` to `end`.

    If both are equal, all bytes are lost at once.
    """

    begin: Fraction
    end: Fraction
    lost: Fraction


@dataclass
class FluidLink:
    """A link of fixed rate with a drop-tail buffer. The methods `send` and `burst` advance it in exact arithmetic.

    In this package, bytes are counted in packets, and time is in R_m.

    Attributes:
        rate: The link's rate C.
        buffer: The buffer β.
        queue: The bytes in the queue.
        time: The time since the start.
        served: The bytes served since the start.
        lost: The bytes lost since the start.
        service: Pairs (time, bytes served by this time), one for each change of the service rate. Between two pairs,
            the rate is constant.
        losses: All Losses, in order.
    """

    rate: Fraction
    buffer: Fraction
    queue: Fraction = Fraction(0)
    time: Fraction = Fraction(0)
    served: Fraction = Fraction(0)
    lost: Fraction = Fraction(0)
    service: list = field(default_factory=lambda: [(Fraction(0), Fraction(0))])
    losses: list = field(default_factory=list)

    def send(self, bytes, duration):
        """Let bytes arrive at a constant rate over a positive duration."""
        rising = Fraction(bytes) / duration - self.rate
        if rising > 0:
            until = min(duration, (self.buffer - self.queue) / rising)
            self._serve(self.rate * duration, duration)
            self.queue += rising * until
            self._lose(rising * (duration - until), duration - until)
        else:
            until = min(duration, self.queue / -rising) if rising else duration
            self._serve(self.rate * until, until)
            self.queue += rising * until
            self._serve((rising + self.rate) * (duration - until), duration - until)

    def burst(self, bytes):
        """Let bytes arrive at once."""
        fits = min(Fraction(bytes), self.buffer - self.queue)
        self.queue += fits
        self._lose(bytes - fits, Fraction(0))

    def served_by(self, time):
        """Return the bytes served from the start until an instant. A future instant counts as now."""
        after = bisect_right(self.service, time, key=lambda point: point[0])
        if after == 0:
            return Fraction(0)
        before, served = self.service[after - 1]
        if after == len(self.service):
            return served
        then, more = self.service[after]
        return served + (more - served) * (time - before) / (then - before)

    def _serve(self, bytes, duration):
        if duration:
            self.time += duration
            self.served += bytes
            self.service.append((self.time, self.served))

    def _lose(self, bytes, duration):
        if bytes:
            self.lost += bytes
            self.losses.append(Loss(self.time - duration, self.time, bytes))


def alike(links, jitter):
    """Return the first instant at which links can no longer look the same to a sender, or None.

    Links look the same if they lose the same bytes, and if delay boxes behind the links can deliver the same bytes at
    each instant. Each box delays bytes by at most `jitter`. The deliveries that are possible on all links lie between
    two limits. The lower limit is the largest number of bytes that any link had served `jitter` earlier. The upper
    limit is the smallest number of bytes that any link has served by now. Both limits are linear between the instants
    that the function compares.

    Args:
        links: FluidLinks that have run for the same time.
        jitter: The largest delay of a box.
    """
    end = links[0].time
    changes = {time for link in links for time, _ in link.service}
    for time in sorted(changes | {time + jitter for time in changes if time + jitter <= end}):
        if max(link.served_by(time - jitter) for link in links) > min(link.served_by(time) for link in links):
            return time
    losses = [link.losses for link in links]
    for same in zip_longest(*losses):
        if len(set(same)) > 1:
            return min(loss.begin for loss in same if loss)
    return None
