"""The change of a simulated path: an outage, and then another rate, R_m or buffer."""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import InputError
from ccmatic.networks.simulation.packets import Segment


@dataclass(frozen=True)
class PathChange:
    """The change of a path. Times are in R_m from the beginning of the run, and factors multiply the path's values.

    Attributes:
        at: The beginning of the outage. Without an outage, the instant of the change.
        outage: The time without service.
        rate: The factor of the rate.
        rtt: The factor of R_m, at least 1.
        buffer: The factor of the buffer.
        loses: Whether the link loses the packets that wait at the change.
    """

    at: Fraction
    outage: Fraction = Fraction(0)
    rate: Fraction = Fraction(1)
    rtt: Fraction = Fraction(1)
    buffer: Fraction = Fraction(1)
    loses: bool = False

    def instant(self, path):
        return _whole((self.at + self.outage) * path.step, "the instant of the change in ticks")

    def delay(self, path):
        """Return the additional delay, in ticks, of packets that the link admits after the change."""
        return _whole((self.rtt - 1) * path.step, "the growth of R_m in ticks")

    def segments(self, path):
        """Return the Segments of the link's rate after the first one."""
        rate = _whole(path.packet * self.rate, "the bytes that the link serves in the time of a packet")
        room = 0 if path.room is None else int(path.room * self.buffer) * path.packet
        begin = _whole(self.at * path.step, "the beginning of the outage in ticks")
        outage = [Segment(begin, 0, 0, 0)] if self.outage else []
        return [*outage, Segment(self.instant(path), rate, room, self.loses)]


def _whole(value, what):
    if Fraction(value).denominator != 1:
        raise InputError(f"{what} is {value}; expected a whole number")
    return int(value)
