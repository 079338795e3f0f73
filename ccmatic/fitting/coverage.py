"""Find the shipped proofs that cover the path of a packet log, and the guarantees of these proofs.

A proof covers any jitter D if its steps are long enough (see `guarantees.translation`). But longer steps weaken the
guaranteed bounds, because bounds are in units of C·step. Here, R_m includes the transmission time of a packet.
"""

from dataclasses import dataclass, replace

import msgspec
import numpy as np

from ccmatic import controllers, records
from ccmatic.contracts import Buffer, load_definition
from ccmatic.fitting.least import unlimited
from ccmatic.fitting.log import SECOND
from ccmatic.fitting.report import milliseconds
from ccmatic.proving import guarantees as proved

#: The largest factor of a change that is ignored, and the percentage of the log's windows that the second basis covers.
SAME, SHARE = 1.1, 95


@dataclass(frozen=True)
class FittedPath:
    """The path that a fit found, for the whole log or for most of its windows."""

    basis: str  #: The part of the log that the path explains, in words.
    jitter: float  #: D in seconds.
    rate: float  #: C in bytes per second.
    rtt: float  #: R_m in seconds.
    packet: int  #: The bytes of the largest packet.
    against: tuple = ()  #: The reasons why a proof may not cover the path, as sentences.

    @property
    def delay(self):
        """The longest delay in seconds that a packet can have without queueing."""
        return self.rtt + self.jitter + self.packet / self.rate


def models(names):
    """Return the models in the shipped proofs of controllers."""
    return [result.proof.model for name in names for result in _of(name)]


def guarantees(name, fitted):
    """Yield a records.GuaranteeLine for each pair of a shipped proof of a controller and a basis.

    If no proof exists, yield one line that names no proof.
    """
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
    """Yield the path of the whole log.

    If the delay of most windows is much shorter, also yield the path of these windows.
    """
    log, least_delay = fitted.log, fitted.log.least_delay()
    rtt = fitted.rtt if least_delay is None or log.two_clocks else max(fitted.rtt, least_delay / SECOND)
    packet = int(log.size.max())
    whole = FittedPath("all of the log", fit.jitter, fit.rate, rtt, packet)
    jitter = unlimited(log.kept(), load_definition("models", "MODEL", fit.model))
    objection = ()
    if rtt + jitter <= SAME * whole.delay:
        objection = (
            f"a log that determines C, from a flow that fills the link; any larger C gives D {milliseconds(jitter)} ms",
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
        against.append(f"a constant C; from window to window it changes by {change}")
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
    """Yield, in words, each requirement of a proof that the log does not meet.

    `needed` is the number of bytes that the buffer must hold.
    """
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
    """Return the line for a proof that gives no guarantee, with the reason; `result` is None if there is no proof."""
    nothing = dict.fromkeys(records.GuaranteeLine.__struct_fields__)
    about = {} if result is None else {"proof": result.file.stem, "model": result.proof.model}
    return records.GuaranteeLine(**{**nothing, **about, "controller": name, "covered": False, "missing": [missing]})


def _of(name):
    """Return the Results of the shipped proofs of a controller."""
    return list(proved.of_controller(controllers.given(name)))
