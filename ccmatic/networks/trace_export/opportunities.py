"""Read link traces of mahimahi. The module `mahimahi` writes such traces."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from ccmatic.base import InputError, located, read_text

#: Bytes of IP packets in an opportunity. (mm-link counts 1504 bytes, because it adds 4 bytes to every packet.)
OPPORTUNITY = 1500

#: The last millisecond that a link trace may have: almost three hours. No run is longer than one hour.
LATEST = 10**7


@dataclass(frozen=True)
class Opportunities:
    """Instants at which up to OPPORTUNITY bytes of waiting packets may leave a queue. Unused opportunities are lost.

    Attributes:
        milliseconds: The instants in order, from 0 on. The last instant is above 0. After the last instant, the
            sequence repeats.
    """

    milliseconds: tuple

    @property
    def period(self):
        """The time in ms after which the opportunities repeat."""
        return self.milliseconds[-1]

    def instant(self, number):
        """Return the time in ms of the n-th delivery opportunity (n starts at 1)."""
        cycle, place = divmod(number - 1, len(self.milliseconds))
        return cycle * self.period + self.milliseconds[place]

    def by(self, milliseconds):
        """Return the number of opportunities up to and including an instant in ms."""
        cycle, within = divmod(milliseconds, self.period)
        return cycle * len(self.milliseconds) + bisect_right(self.milliseconds, within)

    @staticmethod
    def load(path):
        with located(str(path)):
            return _parse(read_text(path).splitlines())


def _parse(lines):
    for count, line in enumerate(lines, 1):
        if not (line.isascii() and line.isdecimal()) or len(line) > 8 or int(line) > LATEST:
            raise InputError(
                f"found '{line:.40}'; expected whole milliseconds, at most {LATEST}, as in a link trace of mahimahi "
                "(a schedule of ccmatic begins with #)",
                line=count,
            )
    times = tuple(map(int, lines))
    for count, (before, after) in enumerate(pairwise(times), 2):
        if after < before:
            raise InputError(f"{after} ms comes after {before} ms; expected no earlier time", line=count)
    if not times or not times[-1]:
        raise InputError("a link trace of mahimahi without an opportunity after 0 ms; expected one at least")
    return Opportunities(times)
