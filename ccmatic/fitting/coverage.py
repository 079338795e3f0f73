"""What the shipped proofs say of a path of which there is a log: which of them cover it, and with what guarantee.

A proof covers any D with steps that are long enough (see `guarantees.translation`). Its price is in the bounds, which
are in C times the step. R_m is here with a packet's own time.
"""

from dataclasses import dataclass, replace

import msgspec
import numpy as np

from ccmatic import controllers, records
from ccmatic import guarantees as proved
from ccmatic.contracts import Buffer, load_definition
from ccmatic.fitting.least import unlimited
from ccmatic.fitting.log import SECOND
from ccmatic.fitting.report import milliseconds
from ccmatic.guarantees import sentence

__all__ = ["guarantees", "models", "sentence"]

#: Factors up to this are none; and the percentage of windows that is looked at beside all of the log.
SAME, SHARE = 1.1, 95


@dataclass(frozen=True)
class FittedPath:
    """What a fit says of a path, of the whole log or of most windows: jitter, C, R_m in seconds and bytes per second;
    bytes of the largest packet; and what speaks against taking it for the path of a proof, in sentences."""

    basis: str
    jitter: float
    rate: float
    rtt: float
    packet: int
    against: tuple = ()

    @property
    def delay(self):
        """The most delay but for queueing, in seconds."""
        return self.rtt + self.jitter + self.packet / self.rate


def models(names):
    """The models of the shipped proofs of controllers, by their names or files. Raises InputError."""
    return [result.proof.model for name in names for result in _of(name)]


def guarantees(name, fitted):
    """For each shipped proof of a controller, by its name or file, and each basis, a records.GuaranteeLine. One without
    a proof if there is none. Raises InputError where there is no such controller."""
    results = _of(name)
    if not results:
        names = sorted({result.controller.name for result in proved.shipped()})
        yield _none(name, None, f"a proof of it; there are proofs of {', '.join(names)}")
    for result in results:
        model = result.proof.model
        # A proof may name its model by an alias.
        name_of_model = load_definition("models", "MODEL", model).name
        fit = next((fit for fit in fitted.fits if fit.model == name_of_model), None)
        if fit is None or not np.isfinite(fit.rate):
            yield _none(name, result, "a finite C of the log" if fit else f"a fit of the model {model}")
        else:
            yield from (_guarantee(name, result, path, fitted) for path in _paths(fitted, fit))


def _paths(fitted, fit):
    """All of the log; and most of its windows, where that is a much better path."""
    log, seen = fitted.log, fitted.log.least_delay()
    rtt = fitted.rtt if seen is None or log.two_clocks else max(fitted.rtt, seen / SECOND)
    packet = int(log.size.max())
    whole = FittedPath("all of the log", fit.jitter, fit.rate, rtt, packet)
    jitter = unlimited(log.kept(), load_definition("models", "MODEL", fit.model))
    objection = ()
    if rtt + jitter <= SAME * whole.delay:
        objection = (
            f"a log that tells C, of a flow that fills the link; any larger C gives D {milliseconds(jitter)} ms",
        )
    yield replace(whole, against=objection)
    rates = fit.rates[np.isfinite(fit.rates)]
    if not len(rates):
        return
    against = [*objection, f"the other {100 - SHARE} % of the windows"]
    changes = fit.changes()
    low, high = np.percentile(changes, (100 - SHARE, SHARE)) if len(changes) else (1, 1)
    if low < 1 / SAME or high > SAME:
        change = f"×{low:.3g} to ×{high:.3g} (p{100 - SHARE}, p{SHARE})"
        against.append(f"a C that stays, where from window to window it changes by {change}")
    jitter = float(np.percentile(fit.jitters, SHARE))
    most = FittedPath(f"{SHARE} % of the windows", jitter, float(np.median(rates)), rtt, packet, tuple(against))
    if most.delay * SAME < whole.delay:
        yield most


def _guarantee(name, result, path, fitted):
    rtt = path.rtt + path.packet / path.rate
    deployed = proved.DeployedPath(path.jitter / rtt, rtt, path.rate, path.packet)
    line = proved.translate(result, deployed).record(name, path.basis)
    missing = [*line.missing, *_missing(Buffer.parse(result.proof.buffer), line.buffer, path, fitted)]
    return msgspec.structs.replace(line, missing=missing, covered=not missing)


def _missing(buffer, needed, path, fitted):
    """What a proof is about and the log does not show, in words. needed: bytes that the buffer has to hold."""
    yield from path.against
    lost = int(fitted.log.lost.sum())
    if not lost:
        return
    longest = fitted.queues.longest if fitted.queues else 0
    if buffer.kind == "infinite":
        yield f"a buffer that never overflows; {lost} packets were lost"
    elif needed and longest < needed:
        yield f"a buffer of {needed:.0f} bytes; {lost} packets were lost, and the longest queue is of {longest:.0f}"
    if fitted.queues:
        room = longest - path.packet - path.jitter * path.rate
        early = int((fitted.queues.at_losses < room).sum())
        if early:
            yield f"losses by overflow only; {early} of {lost} packets were lost before shorter queues than others met"


def _none(name, result, missing):
    """Of a proof, or of none: that it says nothing, and why."""
    nothing = dict.fromkeys(records.GuaranteeLine.__struct_fields__)
    about = {} if result is None else {"proof": result.file.stem, "model": result.proof.model}
    return records.GuaranteeLine(**{**nothing, **about, "controller": name, "covered": False, "missing": [missing]})


def _of(name):
    """The Results of the shipped proofs of a controller."""
    return list(proved.of_controller(controllers.given(name)))
