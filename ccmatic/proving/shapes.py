"""Proofs by shapes, which are general proofs in proofs/, and the expectations that they imply.

The search tries all shapes that fit a controller's beliefs.
"""

import operator
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ccmatic import controllers
from ccmatic.answers.verification import HOLDS, VIOLATED
from ccmatic.base import CONSTANTS, InputError, definitions
from ccmatic.contracts import Buffer, load_definition
from ccmatic.controllers import Given
from ccmatic.logic import isolated_steps
from ccmatic.logic.solving import SolverOptions
from ccmatic.proving.lemma_prover import NoValue
from ccmatic.proving.proof_search import Listener, prove_windows
from ccmatic.proving.prover import Prover
from ccmatic.proving.result import ProofOutcome, Result
from ccmatic.questions import Question

#: For each quantity of an expectation, the constant of shapes that bounds the quantity, and the unit of that constant.
DECIDED = {"utilisation": ("utilisation", ""), "queue": ("inflight", "bdp"), "loss": ("loss", "packets")}

_RELATIONS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}


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
    """Return the names of the shapes for a network. Raise InputError if no shape fits."""
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


def prove_by_shapes(
    controller: Given,
    out: str | Path | None = None,
    *,
    horizon: int | None = None,
    certify: bool = False,
    listener: Listener | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Iterator[Attempt]:
    """Prove the guarantees of a controller for all time without a proof that was written for this controller.

    A shape is a general proof that fits many controllers. The call tries each shape in proofs/ whose lemmas cover the
    beliefs that the controller reads. For a window sender with state, the call tries the shape that searches for bounds
    on the state. This shape allows any initial state.

    Args:
        controller: The controller.
        out: As in `prove`.
        horizon: As in `prove`.
        certify: As in `prove`.
        listener: As in `prove`.
        solver: As in `prove`.

    Returns:
        An iterator over an Attempt for each shape. The field `proved` of an Attempt is the result that `prove` would
        return. If the shape gives no proof, the field `why` names a broken lemma.

    Raises:
        InputError: If no shape fits the beliefs that the controller reads.
    """
    return isolated_steps(attempts(controller, out, listener or Listener(), None, horizon, certify, solver))


def attempts(
    controller, folder, listener, network=None, horizon=None, certify=False, options=SolverOptions()
) -> Generator[Attempt]:
    """Prove a controller by each of its shapes, and yield the Attempts.

    If a proof by a shape holds on a network, the function skips the remaining shapes of that network.
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
            proved = prove_windows(name, sender, folder, horizon, certify, listener, options, by_window)
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
    return {*controller.parameters} - {*CONSTANTS}


def _listed(names):
    followed = {name: load_definition("proofs", "PROOF", name).beliefs for name in names}
    return ", ".join(f"{name} ({', '.join(beliefs)})" for name, beliefs in followed.items())


def prove_expected(
    question: Question,
    out: str | Path | None = None,
    *,
    certify: bool = False,
    listener: Listener | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Iterator[tuple[Attempt, bool]]:
    """Prove by shapes that a controller, once it has converged, meets an expectation for all time.

    Args:
        question: A Question that `ask` returned, with the start `any`.
        out: The folder for the results, as in `prove`.
        certify: Whether to write a certificate for each lemma.
        listener: A function that is called with the progress.
        solver: SolverOptions; the timeout is for each lemma.

    Returns:
        An iterator over pairs: an Attempt for each shape, and whether its constants imply the expectation. The iterator
        ends with the first pair whose constants imply the expectation. Without such a pair, the expectation is
        undecided. For an expectation that no constants could imply, such as `… while …`, the iterator is empty.

    Raises:
        InputError: If no shape decides the expectation, or no shape fits the network or the controller.
    """
    subject, start = question.expectation.comparison.subject, question.query.record()["property"]["start"]
    if subject not in DECIDED:
        raise InputError(f"no shape decides '{question.expectation}'; expected one about {', '.join(DECIDED)}")
    if start != "any":
        raise InputError(f"the start is '{start}'; a proof is about all time, expected any")
    return isolated_steps(_by_networks(question, out, certify, listener or Listener(), solver))


def _by_networks(
    question: Question, out: str | Path | None, certify: bool, listener: Listener, solver: SolverOptions
) -> Generator[tuple[Attempt, bool]]:
    if undecided(question.expectation):
        return
    refused, covering = [], _networks(question.query)
    for network in covering:
        try:
            for attempt in attempts(question.controller, out, listener, network, None, certify, solver):
                result = attempt.result
                proof = load_definition("proofs", "PROOF", result.proof)
                expects = implies(question.expectation, proof, result.horizon, result.values)
                implied = attempt.verdict == "holds" and expects
                yield attempt, implied
                if implied:
                    return
        except InputError as error:
            refused.append(error)
    if len(refused) == len(covering):
        raise refused[0]


def _networks(query):
    """Return the networks whose proofs cover a query: one with the query's buffer, and one with any buffer."""
    buffer = query.buffer
    covering = [str(buffer)] if buffer == Buffer("any") else [str(buffer), "any"]
    return [(query.network.model_name, each, query.jitter) for each in covering]


def undecided(expectation):
    """Return the reason, in words, why no proof by a shape can imply an expectation; None if some proof could."""
    comparison = expectation.comparison
    if expectation.by is not None:
        return "as the constants of a shape are about all steps, not about the first step of a condition"
    constant, unit = DECIDED[comparison.subject]
    if expectation.conditions:
        return "as the constants of a shape are about all steps, not about those of a condition"
    if unit != comparison.unit:
        return f"as the constant '{constant}' of a shape is in {unit or 'parts of the link'}"
    if (comparison.relation in ("<", "<=")) == (constant == "utilisation"):
        return f"as the constant '{constant}' of a shape bounds it from the other side"
    return None


def implies(expectation, proof, horizon, constants):
    """Return whether a proof's constants imply that a converged sender meets an expectation."""
    comparison = expectation.comparison
    name, _ = DECIDED.get(comparison.subject, (None, None))
    value = constants.get(name)
    if value is None or undecided(expectation):
        return False
    if name == "inflight":  # The constant is in units of C(R_m + D), but the expectation is in units of C·R_m.
        return _within(value * (1 + proof.jitter), comparison)
    if name == "loss":  # The constant bounds the loss in each step.
        return _within(value * (expectation.interval or 1), comparison)
    window = horizon - proof.common
    of_window = value * (window - proof.jitter)
    if expectation.interval is None:
        return _within(of_window / window, comparison)
    # The windows of a proof follow each other without gaps, and an interval may begin anywhere in a window. Only
    # windows that lie entirely within the interval count.
    whole = max(0, (expectation.interval - (window - 1)) // window)
    return _within(Fraction(whole * of_window, expectation.interval), comparison)


def _within(value, comparison):
    return _RELATIONS[comparison.relation](value, comparison.amount)
