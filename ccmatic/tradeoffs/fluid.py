"""Exact executions of fluid over a link of fixed rate with a drop-tail buffer: what is queued, served, lost, when."""

from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest


@dataclass(frozen=True)
class Loss:
    """`lost` bytes, at an even rate from one instant to another; all at once where the two are one."""

    begin: Fraction
    end: Fraction
    lost: Fraction


@dataclass
class FluidLink:
    """A link of fixed rate with a drop-tail buffer, advanced by `send` and `burst`. All is exact; in this package
    bytes are counted in packets and time in R_m.

    rate: C. buffer: β. queue: what waits now. time, served, lost: since the start.
    service: (time, bytes served by then) wherever the rate of service changes; between these it is even.
    losses: each Loss, in order.
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
        """Bytes arrive at an even rate over a duration > 0."""
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
        """Bytes arrive at once."""
        fits = min(Fraction(bytes), self.buffer - self.queue)
        self.queue += fits
        self._lose(bytes - fits, Fraction(0))

    def served_by(self, time):
        """Bytes served from the start until an instant; all so far, where that is yet to come."""
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
    """Whether delay boxes of at most `jitter` behind links that ran as long can deliver the same at each instant, and
    the links lose the same bytes: the first instant at which they cannot, or None.

    What all may deliver lies between the most that any had served `jitter` ago and the least that any has served by
    now. All of that is even between the instants that are looked at."""
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
