"""The proved bounds of a sender on a link, from the results in proofs/. Figures and checks of runs use these bounds."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from ccmatic.base import counted
from ccmatic.deployment import exporting
from ccmatic.proving import guarantees


@dataclass(frozen=True)
class ProvedBounds:
    """Proved bounds in the steady state. A bound is None if no proof states it."""

    utilisation: float | None = None  #: the lowest utilisation in many successive windows
    lost_in_step: int | None = None  #: the largest number of packets lost in a step
    inflight_bdp: float | None = None  #: the most bytes in flight, in C·R_m, with those that propagate

    def _violations(self, row):
        if self.utilisation is not None and row.utilisation < self.utilisation - 0.01:
            yield f"utilisation {row.utilisation:.3f}, proved: at least {self.utilisation:.3f}"
        if self.lost_in_step is not None and row.lost_max_in_step > self.lost_in_step:
            yield f"{counted(row.lost_max_in_step, 'packet')} lost in a step, proved: at most {self.lost_in_step}"
        if self.inflight_bdp is not None and row.inflight_max_bdp > self.inflight_bdp:
            yield f"{row.inflight_max_bdp:.2f} C·R_m inflight, proved: at most {self.inflight_bdp:.2f}"


def broken(row):
    """Yield, as text, each proved bound that a ResultRecord breaks.

    A run may have a utilisation that is lower than the bound by 0.01, because the warm-up and the end of the run cut
    windows. The function checks only simulated runs in which the link rate is constant.
    """
    if row.stack == "simulated" and len(row.rates_mbit) == 1:
        yield from bounds(row.sender, row.buffer_bdp, row.at_start)._violations(row)


def bounds(sender, buffer_bdp, at_start=False):
    """Return the ProvedBounds of an exported controller on a link of any rate.

    The bounds come from a proof whose windows are as long as those of the exported controller. `at_start`: the sender
    still runs its start controller, which it replaces after the first large loss.
    """
    export = _export(sender)
    if export.remembers:
        return ProvedBounds()  # a sender without proved bounds
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
