"""Link traces of mahimahi, read: `mahimahi.py` writes them."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from ccmatic.base import InputError, located, read_text

#: Bytes of IP packets that an opportunity carries. (mm-link counts 1504, and 4 of its own in every packet.)
OPPORTUNITY = 1500

#: The last millisecond that a link trace may have: almost three hours, and no run lasts longer than one.
LATEST = 10**7


@dataclass(frozen=True)
class Opportunities:
    """When up to OPPORTUNITY bytes may leave a queue, of packets that are there; what is not used is lost.

    milliseconds: in order, from 0 on; the last is above 0, and after it they begin again.
    """

    milliseconds: tuple

    @property
    def period(self):
        """In ms, after which they begin again."""
        return self.milliseconds[-1]

    def instant(self, number):
        """In ms, when the opportunity of that number, from 1 on, is."""
        cycle, place = divmod(number - 1, len(self.milliseconds))
        return cycle * self.period + self.milliseconds[place]

    def by(self, milliseconds):
        """How many there were by that instant, itself included."""
        cycle, within = divmod(milliseconds, self.period)
        return cycle * len(self.milliseconds) + bisect_right(self.milliseconds, within)

    @staticmethod
    def load(path):
        """Read a link trace. Raises InputError that says where it is not one."""
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
