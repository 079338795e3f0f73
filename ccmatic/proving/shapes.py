"""Proofs by shapes, which are general proofs in proofs/.

The search tries all shapes that fit a controller's beliefs.
"""

from collections.abc import Generator
from dataclasses import dataclass

from ccmatic import controllers
from ccmatic.answers.verification import HOLDS, VIOLATED
from ccmatic.base import CONSTANTS, InputError, definitions
from ccmatic.contracts import load_definition
from ccmatic.logic.solving import SolverOptions
from ccmatic.proving.lemma_prover import NoValue
from ccmatic.proving.proof_search import ProofOutcome, prove
from ccmatic.proving.prover import Prover
from ccmatic.proving.result import Result


@dataclass(frozen=True)
class Attempt:
    """The outcome of one proof attempt by a shape.

    Attributes:
        shape: The name of the shape.
        verdict: The verdict, as in `ProofOutcome`.
        result: The Result with the constants and answers so far.
        missing: The constants for which no value works.
        why: If constants are missing, the reason why no value of the first missing constant works, and the file of a
            window that shows this. Otherwise, the reason why the complete proof proves nothing, or None.
        proved: The complete proof if no constant is missing, otherwise None.
    """

    shape: str
    verdict: str
    result: Result
    missing: tuple[str, ...] = ()
    why: str | None = None
    proved: ProofOutcome | None = None


def shapes(controller, network=None) -> list[str]:
    """Return the names of the shapes that fit a controller.

    The network of such a shape offers all inputs of the controller. The shape also follows each belief of the
    controller that may be false.

    Args:
        controller: The Controller.
        network: The network's model, its buffer (as text) and its jitter. None stands for any network.

    Raises:
        InputError: If no shape fits.
    """
    names = shapes_on(network) if network else definitions.chosen("proofs", "SHAPES")
    fitting = [name for name in names if _fits(load_definition("proofs", "PROOF", name), controller)]
    if not fitting:
        problem = f"no shape fits a controller that reads {', '.join(sorted(_read(controller)))}"
        raise InputError(
            f"{problem}; expected a --proof, or a controller that reads only what these follow: {_listed(names)}",
            controller.file,
        )
    return fitting


def shapes_on(network) -> list[str]:
    """Return the names of the shapes for a network, as in `shapes`. Raises InputError if no shape fits."""
    names = definitions.chosen("proofs", "SHAPES")
    fitting = [name for name in names if _network(load_definition("proofs", "PROOF", name)) == network]
    if not fitting:
        raise InputError(f"no shape fits {network[0]} with the buffer {network[1]} and D = {network[2]} R_m")
    return fitting


def window_shapes(controller) -> list[str]:
    """Return the names of the shapes that fit a window-based controller.

    The network of such a shape measures a delay if and only if the controller reads a delay.
    """

    def fits(name):
        model = load_definition("models", "MODEL", load_definition("proofs", "PROOF", name).model)
        loaded = controllers.given(controller, observations=model.observations)
        read = [model.observations[each] for each in loaded.parameters if each in model.observations]
        return bool(model.measures) == any(each.few for each in read)

    return [name for name in definitions.chosen("proofs", "WINDOW_SHAPES") if fits(name)]


def attempts(
    controller, folder, listener, network=None, horizon=None, certify=False, options=SolverOptions()
) -> Generator[Attempt]:
    """Prove a controller by each of its shapes, and yield the Attempts.

    If a proof by a shape holds on a network, the function skips the remaining shapes of that network.

    Args:
        controller: The controller, in a form that `controllers.given` accepts.
        folder: The folder for results, as in `prove`.
        listener: A Listener that receives the progress, as in `prove`.
        network: The network, as in `shapes`.
        horizon: The number of points T of a window, which spans T - 1 steps, as in `prove`.
        certify: Whether to write certificates, as in `prove`.
        options: The SolverOptions, as in `prove`.
    """
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
            yield Attempt(name, proved.verdict, proved.result, why=proved.why, proved=proved)


def _begun_anywhere(name, controller, horizon, options):
    """Widen the initial values of a controller's state until consecutive windows of a shape's proof join."""
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
    """Return the names of the beliefs and observations that a controller reads."""
    return {*controller.parameters} - {*CONSTANTS}


def _listed(names):
    """List the shapes with the beliefs that they follow."""
    followed = {name: load_definition("proofs", "PROOF", name).beliefs for name in names}
    return ", ".join(f"{name} ({', '.join(beliefs)})" for name, beliefs in followed.items())
