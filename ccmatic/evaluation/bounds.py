"""What is proved of a sender on a link, from the results in proofs/, to draw and to hold runs against."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from ccmatic import exporting, guarantees


@dataclass(frozen=True)
class ProvedBounds:
    """In the steady state: utilisation, at least, over many windows; packets lost in a step, and inflight in C·R_m with
    what propagates, at most. None where nothing is proved."""

    utilisation: float | None = None
    lost_in_step: int | None = None
    inflight_bdp: float | None = None

    def _broken(self, row):
        if self.utilisation is not None and row.utilisation < self.utilisation - 0.01:
            yield f"utilisation {row.utilisation:.3f}, proved: at least {self.utilisation:.3f}"
        if self.lost_in_step is not None and row.lost_max_in_step > self.lost_in_step:
            yield f"{row.lost_max_in_step} packets lost in a step, proved: at most {self.lost_in_step}"
        if self.inflight_bdp is not None and row.inflight_max_bdp > self.inflight_bdp:
            yield f"{row.inflight_max_bdp:.2f} C·R_m inflight, proved: at most {self.inflight_bdp:.2f}"


def broken(row):
    """How a row of results is outside what is proved, as text each; with room for the windows that the warm-up and the
    end of the run cut. Nothing is held against a run whose link rate changes, nor against one on a real stack."""
    if row.stack == "simulated" and len(row.rates_mbit) == 1:
        yield from bounds(row.sender, row.buffer_bdp, row.at_start)._broken(row)


def bounds(sender, buffer_bdp, at_start=False):
    """The ProvedBounds of an exported controller, by its file or shipped name, on a link of any rate with a buffer in
    C·R_m: of the proof for windows as long as its own.

    at_start: for one that runs another until a large loss, and still does."""
    export = _export(sender)
    if export.remembers:
        return ProvedBounds()  # nothing is proved yet
    path = guarantees.DeployedPath(export.jitter, buffer=Fraction(buffer_bdp))
    wanted = " at its start" if at_start else ""
    for where, guarantee in export.guarantees(path):
        if where == wanted and not guarantee.missing:
            return ProvedBounds(_float(guarantee.utilisation), guarantee.lost_in_step, _float(guarantee.inflight))
    return ProvedBounds()


@cache
def _export(sender):
    return exporting.make(sender)


def _float(number):
    return None if number is None else float(number)
