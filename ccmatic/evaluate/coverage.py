"""What the shipped proofs say of a path of which there is a log: which of them cover it, and with what guarantee.

In the models nothing propagates. A proof for a jitter of J steps is about a path whose delay but for queueing, which is
R_m + D and a packet's own time, is at most J steps (docs/deploy.md: J = 1). So it covers any D with steps that are long
enough, at a price: its bounds are in C times the step.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ccmatic import language, records
from ccmatic.contracts import Buffer, load_definition
from ccmatic.evaluate.bounds import results
from ccmatic.fitting import SECOND, milliseconds, unlimited
from ccmatic.verification import HOLDS

#: Factors up to this are none; and the percentage of windows that is looked at beside all of the log.
SAME, SHARE = 1.1, 95


@dataclass(frozen=True)
class Path:
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
    return [_proof(result).model for name in names for result in _of(name)]


def guarantees(name, fitted):
    """For each shipped proof of a controller, by its name or file, and each basis, a records.GuaranteeLine. One without
    a proof if there is none. Raises InputError where there is no such controller."""
    found = _of(name)
    if not found:
        proved = sorted({result.controller.name for result in results()})
        yield _none(name, None, f"a proof of it; there are proofs of {', '.join(proved)}")
    for result in found:
        proof = _proof(result)
        fit = next((fit for fit in fitted.fits if fit.model == proof.model), None)
        if fit is None or not np.isfinite(fit.rate):
            what = "a finite C of the log" if fit else f"a fit of the model {proof.model}"
            yield _none(name, result, what)
        else:
            yield from (_guarantee(name, result, proof, path, fitted) for path in _paths(fitted, fit))


def sentence(line):
    """A GuaranteeLine in words."""
    named = f"{line.controller}, {line.proof}" if line.proof else line.controller
    missing = "; ".join(line.missing)
    if line.step is None:
        return f"{named}: not covered; what is missing: {missing}"
    times = f"D {milliseconds(line.jitter)} ms, in steps of {milliseconds(line.step)} ms"
    verdict = f"not covered; what is missing: {missing}. With that" if missing else "covered"
    return f"{named} ({line.model}), {line.basis}, {times}: {verdict}: {_bounds(line)}"


def _bounds(line):
    says = []
    if line.utilisation is not None:
        says.append(f"at least {line.utilisation:.1%} of C is used")
    if line.inflight is not None:
        of_link = milliseconds(line.inflight / line.rate)
        says.append(f"at most {line.inflight:.0f} bytes are inflight, {of_link} ms of C")
    if line.lost_in_step is not None:
        says.append(f"at most {line.lost_in_step} packets are lost in a step")
    if line.lossless_buffer is not None:
        says.append(f"none is lost if the buffer holds {line.lossless_buffer:.0f} bytes")
    if line.buffer:
        says.append(f"all that if it holds {line.buffer:.0f} bytes")
    return ", ".join(says)


def _paths(fitted, fit):
    """All of the log; and most of its windows, where that is a much better path."""
    log, seen = fitted.log, fitted.log.least_delay()
    rtt = fitted.rtt if seen is None or log.two_clocks else max(fitted.rtt, seen / SECOND)
    packet = int(log.size.max())
    whole = Path("all of the log", fit.jitter, fit.rate, rtt, packet)
    jitter = unlimited(log.kept(), load_definition("models", "MODEL", fit.model))
    untold = ()
    if rtt + jitter <= SAME * whole.delay:
        untold = (f"a log that tells C, of a flow that fills the link; any larger C gives D {milliseconds(jitter)} ms",)
    yield replace(whole, against=untold)
    rates = fit.rates[np.isfinite(fit.rates)]
    if not len(rates):
        return
    against = [*untold, f"the other {100 - SHARE} % of the windows"]
    changes = fit.changes()
    low, high = np.percentile(changes, (100 - SHARE, SHARE)) if len(changes) else (1, 1)
    if low < 1 / SAME or high > SAME:
        change = f"×{low:.3g} to ×{high:.3g} (p{100 - SHARE}, p{SHARE})"
        against.append(f"a C that stays, where from window to window it changes by {change}")
    jitter = float(np.percentile(fit.jitters, SHARE))
    most = Path(f"{SHARE} % of the windows", jitter, float(np.median(rates)), rtt, packet, tuple(against))
    if most.delay * SAME < whole.delay:
        yield most


def _guarantee(name, result, proof, path, fitted):
    constants, window, steps = result.values, result.horizon - 1, proof.jitter
    step = path.delay / steps
    bdp, rounds = path.rate * step, 1 + steps
    buffer = Buffer.parse(proof.buffer)
    missing = [*_unproved(result, proof), *_missing(buffer, bdp, path, fitted)]
    utilisation, inflight, lossless, loss = map(constants.get, ("utilisation", "inflight", "lossless_buffer", "loss"))
    inflight = None if inflight is None else float(inflight * rounds) * bdp
    return records.GuaranteeLine(
        controller=name,
        proof=result.file.stem,
        model=proof.model,
        basis=path.basis,
        jitter=path.jitter,
        rate=path.rate,
        step=step,
        utilisation=None if utilisation is None else float(utilisation * Fraction(window - steps, window)),
        inflight=inflight,
        lost_in_step=None if loss is None else int(loss),
        lossless_buffer=None if lossless is None else float(lossless * rounds) * bdp,
        buffer=_needs(buffer, bdp, inflight),
        covered=not missing,
        missing=missing,
    )


def _needs(buffer, bdp, inflight):
    """Bytes that the buffer of a path has to hold: one that holds all that is inflight is as good as infinite."""
    if buffer.kind == "infinite":
        return inflight
    return None if buffer.size is None else float(buffer.size) * bdp


def _unproved(result, proof):
    """The lemmas on which a proof rests and that its result does not say to hold, in words."""
    for lemma in proof.all_lemmas(None):
        answer = result.answers.get(lemma.name)
        if not lemma.paper and (answer is None or answer.verdict != HOLDS):
            yield f"the lemma '{lemma.name}', which is {answer.verdict if answer else 'not decided'}"
    if Buffer.parse(proof.buffer).kind == "infinite" and "inflight" not in result.values:
        yield "a bound of what waits, which the buffer has to hold"


def _missing(buffer, bdp, path, fitted):
    """What a proof is about and the log does not show, in words."""
    yield from path.against
    if path.packet * 5 >= bdp:
        yield f"a step of more than five packets; it is of {bdp / path.packet:.2g}"
    lost = int(fitted.log.lost.sum())
    if not lost:
        return
    longest = fitted.queues.longest if fitted.queues else 0
    if buffer.kind == "infinite":
        yield f"a buffer that never overflows; {lost} packets were lost"
    elif buffer.size is not None and longest < float(buffer.size) * bdp:
        needed = float(buffer.size) * bdp
        yield f"a buffer of {needed:.0f} bytes; {lost} packets were lost, and the longest queue is of {longest:.0f}"
    if fitted.queues:
        room = longest - path.packet - path.jitter * path.rate
        early = int((fitted.queues.at_losses < room).sum())
        if early:
            yield f"losses by overflow only; {early} of {lost} packets were lost before shorter queues than others met"


def _none(name, result, missing):
    """Of a proof, or of none: that it says nothing, and why."""
    proof, model = None, None
    if result is not None:
        proof, model = result.file.stem, _proof(result).model
    nothing = dict.fromkeys(
        ("basis", "jitter", "rate", "step", "utilisation", "inflight", "lost_in_step", "lossless_buffer", "buffer")
    )
    return records.GuaranteeLine(controller=name, proof=proof, model=model, **nothing, covered=False, missing=[missing])


def _of(name):
    """The Results of the shipped proofs of a controller."""
    controller = language.given(name)
    return [result for result in results() if result.controller.body == controller.body]


def _proof(result):
    return load_definition("proofs", "PROOF", result.proof)
