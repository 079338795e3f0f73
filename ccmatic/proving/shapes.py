"""Proofs that nobody writes: the shapes in proofs/ for what a controller reads, tried one after the other."""

from collections.abc import Generator
from dataclasses import dataclass

from ccmatic import controllers
from ccmatic.base import CONSTANTS, InputError, definitions
from ccmatic.contracts import load_definition
from ccmatic.proving.proof_search import Proved, prove
from ccmatic.proving.prover import NoValue, Prover
from ccmatic.proving.result import Result
from ccmatic.solving import SolverOptions
from ccmatic.verification import HOLDS, VIOLATED


@dataclass(frozen=True)
class Attempt:
    """What came of a shape. verdict: as of `Proved`. result: what was found of it. missing: its constants of which no
    value was found. why: that no value of the first of them will do, and where the window is that shows it; or None.
    proved: the whole, if nothing is missing."""

    shape: str
    verdict: str
    result: Result
    missing: tuple[str, ...] = ()
    why: str | None = None
    proved: Proved | None = None


def shapes(controller, network=None) -> list[str]:
    """The names of the shapes for a Controller: their networks offer all that it reads, and they follow each belief of
    it that may be false. network: model, buffer and jitter as text and number, of which alone they are to be. Raises
    InputError if there is none."""
    names = shapes_on(network) if network else definitions.chosen("proofs", "SHAPES")
    fitting = [name for name in names if _fits(load_definition("proofs", "PROOF", name), controller)]
    if not fitting:
        problem = f"no shape is of a controller that reads {', '.join(sorted(_read(controller)))}"
        raise InputError(f"{problem}; expected a --proof, or what these follow: {_said(names)}", controller.file)
    return fitting


def shapes_on(network) -> list[str]:
    """The names of the shapes of a network, as of `shapes`. Raises InputError if there is none."""
    names = definitions.chosen("proofs", "SHAPES")
    fitting = [name for name in names if _network(load_definition("proofs", "PROOF", name)) == network]
    if not fitting:
        raise InputError(f"no shape is of {network[0]} with the buffer {network[1]} and D = {network[2]} R_m")
    return fitting


def window_shapes(controller) -> list[str]:
    """The same for a controller that sends by a window: their networks measure a delay if it reads one."""

    def fits(name):
        model = load_definition("models", "MODEL", load_definition("proofs", "PROOF", name).model)
        loaded = controllers.given(controller, observations=model.observations)
        read = [model.observations[each] for each in loaded.parameters if each in model.observations]
        return bool(model.measures) == any(each.few for each in read)

    return [name for name in definitions.chosen("proofs", "WINDOW_SHAPES") if fits(name)]


def attempts(
    controller, folder, listener, network=None, horizon=None, certify=False, options=SolverOptions()
) -> Generator[Attempt]:
    """Prove a controller by each of its shapes, but for those of a network on which one before them holds. controller:
    as of `controllers.given`; network: as of `shapes`; the rest: as of `prove`."""
    by_window, proved_on = controllers.sends_by_window(controller), set()
    names = window_shapes(controller) if by_window else shapes(controllers.given(controller), network)
    for name in names:
        proof = load_definition("proofs", "PROOF", name)
        if _network(proof) in proved_on:
            continue
        listener.begins(name)
        try:
            sender = _begun_anywhere(name, controller, horizon, options) if by_window else controller
            proved = prove(name, sender, folder, horizon, certify, listener, by_window, options)
        except NoValue as error:
            declared = [constant.name for constant in proof.about(error.result.controller.state).constants]
            missing = tuple(each for each in declared if each not in error.result.constants)
            yield Attempt(name, VIOLATED, error.result, missing, error.message)
        else:
            if proved.verdict == HOLDS:
                proved_on.add(_network(proof))
            yield Attempt(name, proved.verdict, proved.result, proved=proved)


def _begun_anywhere(name, controller, horizon, options):
    """A controller, begun at any step of its life as far as a shape's windows ask for it."""
    prover = Prover(name, controller, horizon, options)
    while outgrown := prover.outgrown():
        prover = Prover(name, prover.controller.begun_anywhere(outgrown), horizon, options)
    return prover.controller


def _network(proof):
    return proof.model, proof.buffer, proof.jitter


def _fits(proof, controller):
    model = load_definition("models", "MODEL", proof.model)
    offered = {belief.name for belief in model.beliefs}
    unfollowed = {belief.name for belief in model.carried_over()} - {*proof.beliefs}
    return _read(controller) <= offered - unfollowed


def _read(controller):
    """The beliefs and observations that a controller reads, by name."""
    return {*controller.parameters} - {*CONSTANTS}


def _said(names):
    """The shapes, each with the beliefs that it follows."""
    followed = {name: load_definition("proofs", "PROOF", name).beliefs for name in names}
    return ", ".join(f"{name} ({', '.join(beliefs)})" for name, beliefs in followed.items())
