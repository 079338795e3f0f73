"""The whole search for a proof, from the constants to the report."""

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from ccmatic.answers.verification import HOLDS, UNDECIDED, VIOLATED
from ccmatic.base import InputError, writable_folder, write_bytes
from ccmatic.contracts import RoundProof, load_definition
from ccmatic.controllers import Given
from ccmatic.logic import certificates, isolated
from ccmatic.logic.solving import SolverOptions
from ccmatic.proving import report
from ccmatic.proving.claim import sentences
from ccmatic.proving.constants import decide, search
from ccmatic.proving.lemma_prover import NoValue
from ccmatic.proving.prover import Prover
from ccmatic.proving.result import (
    ProofOutcome,
    Result,
    begin_result,
    certificate_file,
    earlier_constants,
    earlier_windows,
)
from ccmatic.proving.rounds import prove_rounds

#: The reason why a proof proves nothing if all of its constants are dropped.
BOUNDS_NOTHING = "the shapes bound nothing of this controller"


class Listener:
    """A receiver for the progress of a proof. This class ignores all messages; subclasses override methods."""

    def begins(self, shape):
        """Report that `prove` tries the shape with this name next."""

    def asks(self, lemma, values):
        """Report the next lemma to check, by name. `values` has the constants that the lemma reads, by name."""

    def constant(self, declared, optimum):
        """Report that the search found the Optimum of a Constant."""

    def lemma(self, answer):
        """Report that a lemma is decided, with this Answer."""

    def certificate(self, name):
        """Report that the certificate of the lemma with this name is written."""


@isolated
def prove(
    controller: Given,
    proof: str,
    out: str | Path | None = None,
    *,
    horizon: int | None = None,
    certify: bool = False,
    listener: Listener | None = None,
    solver: SolverOptions = SolverOptions(),
) -> ProofOutcome:
    """Prove the guarantees of a controller for all time.

    The call searches for the tightest value of each constant in a proof, and decides each lemma.

    Args:
        controller: The controller.
        proof: A name in proofs/, or the path of a file that defines a PROOF.
        out: The folder for the results, from which the same call resumes. By default, no file is written.
        horizon: T, the steps of a window. By default, the proof sets T.
        certify: Whether to write a certificate for each lemma to the folder `out`.
        listener: A function that is called with the progress.
        solver: SolverOptions; the timeout is for each lemma.

    Returns:
        The ProofOutcome, with the constants and the verdict on each lemma.

    Raises:
        InputError: If no value of a constant works.
        OutOfTime: The solver timed out before a constant had a value.
        Disagreement: Two solvers disagree.

    Examples:
        >>> cm.prove("cc_qdel", "cc_qdel", "proofs").claim
    """
    definition = load_definition("proofs", "PROOF", proof, allow_code=True)
    if isinstance(definition, RoundProof):
        if horizon or certify:
            raise InputError(f"the proof {proof} is about rounds; expected neither a horizon nor certificates")
        return prove_rounds(proof, controller, out, listener or Listener(), solver)
    return prove_windows(proof, controller, out, horizon, certify, listener, solver)


def make_certificates(result: Result, prover: Prover, names: Iterable[str]) -> Iterator[str]:
    """Write the missing certificates, and yield the name of each lemma that gets a certificate.

    A lemma gets a certificate if it holds and the proof rests on it.
    """
    for name in names:
        lemma, file = prover.lemmas[name], certificate_file(result, name)
        if result.answers[name].verdict == HOLDS and not lemma.paper and not file.exists():
            made = certificates.certify(prover.question(lemma, result.values))
            writable_folder(file.parent)
            write_bytes(file, gzip.compress(json.dumps(made, separators=(",", ":")).encode(), mtime=0))
            yield name


def prove_windows(
    proof, controller, folder=None, horizon=None, certify=False, listener=None, options=SolverOptions(), if_joined=False
) -> ProofOutcome:
    """Prove the guarantees of a controller by lemmas about windows, as `prove` does.

    If `if_joined`, NoValue is raised at once if consecutive windows do not join.
    """
    listener = listener or Listener()
    if certify and folder is None:
        raise InputError("certificates are files; expected a folder for them")
    prover = Prover(proof, controller, horizon, options)
    prover.listen = listener.asks
    folder = None if folder is None else writable_folder(folder)
    result = begin_result(folder, prover, proof)
    prover.learn(earlier_windows(folder, result))
    try:
        if if_joined and not result.constants:
            prover.require_joined()
        search(prover, result, earlier_constants(folder, result), listener)
    except NoValue as error:
        raise result.with_window(error) from None
    if prover.proof.bounds_nothing(result.values):
        result.remove()
        return ProofOutcome(result, UNDECIDED, (), (), prover.left_out, BOUNDS_NOTHING)
    verdict = decide(prover, result, listener)
    derived = prover.derivations(result.values)
    faults = [
        *prover.faults(result.values),
        *(f"not derived: {each.says} ({each.fault})" for each in derived if each.fault),
    ]
    for name in make_certificates(result, prover, prover.lemmas) if certify and not faults else ():
        listener.certificate(name)
    if folder is not None:
        report.write_report(result, prover)
    verdict = VIOLATED if faults else verdict
    claim = sentences(prover.proof, prover.query.model, result.horizon, result.values) if verdict == HOLDS else ()
    return ProofOutcome(result, verdict, tuple(faults), tuple(claim), prover.left_out)
