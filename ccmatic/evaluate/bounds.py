"""What is proved of a sender on a link, from the results in proofs/, to draw and to hold runs against."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from ccmatic import language, proving
from ccmatic.base import definitions
from ccmatic.codegen import header
from ccmatic.contracts import Buffer, load_definition


@dataclass(frozen=True)
class Bounds:
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
    """The Bounds of an exported controller, by its file or shipped name, on a link of any rate with a buffer in C·R_m:
    of the proof for windows as long as its own.

    at_start: for one that runs another until a large loss, and still does."""
    export = _export(sender)
    if export.remembers:
        return Bounds()  # nothing is proved yet
    proved_of = (export.at_start if at_start else export.controller).body, export.horizon
    for result in results():
        if (result.controller.body, result.horizon) == proved_of:
            return _of(result, Fraction(buffer_bdp) / export.step, export.step)
    return Bounds()


def _of(result, buffer, step):
    """buffer: in C·step; step: in R_m."""
    proof, c = load_definition("proofs", "PROOF", result.proof), result.values
    needs = Buffer.parse(proof.buffer)
    if (needs.size is not None and buffer < needs.size) or needs.kind == "infinite":
        return Bounds()
    window = result.horizon - 1
    rounds = 1 + proof.jitter
    lost = c.get("loss")
    if lost is None and "lossless_buffer" in c and buffer >= c["lossless_buffer"] * rounds:
        lost = 0
    return Bounds(
        float(c["utilisation"] * (window - proof.jitter) / window) if "utilisation" in c else None,
        None if lost is None else int(lost),
        float(c["inflight"] * rounds * step) if "inflight" in c else None,
    )


@cache
def _export(sender):
    return header.make(sender)


@cache
def results():
    """What is proved in proofs/ of functions of beliefs, a Result each; none of those that bound nothing, nor of links
    without jitter, as in the models what propagates is jitter."""
    files = [definitions.find_file(["proofs"], name, ".json") for name in definitions.shipped("proofs", ".json")]
    found = map(proving.load_result, files)
    of_beliefs = [each for each in found if each.constants and isinstance(each.controller, language.Controller)]
    return [each for each in of_beliefs if load_definition("proofs", "PROOF", each.proof).jitter]
