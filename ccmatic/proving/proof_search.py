"""The whole search for a proof, from the constants to the report."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ccmatic.answers.verification import HOLDS, UNDECIDED, VIOLATED
from ccmatic.base import InputError, markup, writable_folder
from ccmatic.contracts import Exclusion
from ccmatic.logic.solving import SolverOptions
from ccmatic.proving import report
from ccmatic.proving.certificate_files import make_certificates
from ccmatic.proving.claim import sentences
from ccmatic.proving.constants import search, verdicts
from ccmatic.proving.lemma_prover import NoValue
from ccmatic.proving.prover import Prover
from ccmatic.proving.result import Result, begin_result, earlier_constants, earlier_windows

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


@dataclass(frozen=True, repr=False)
class ProofOutcome:
    """The outcome of the search for a proof.

    Attributes:
        result: The Result with all constants and answers.
        verdict: The verdict. The verdict is `holds` if every lemma holds and the lemmas add up to a proof. The verdict
            is `violated` if a lemma does not hold, or if the lemmas do not add up. The verdict is `unknown` if the
            solver timed out on a lemma, or if no bound is left.
        faults: The reasons why the lemmas do not add up, in words.
        claim: The guarantees for all time, in sentences; empty unless the verdict is `holds`.
        left_out: The exclusions that apply to the whole proof.
        why: If no bound is left, the reason why the lemmas prove nothing; otherwise None.
    """

    result: Result
    verdict: str
    faults: tuple[str, ...]
    claim: tuple[str, ...]
    left_out: tuple[Exclusion, ...]
    why: str | None = None

    @property
    def constants(self) -> dict[str, Fraction]:
        """The value of each constant, by name."""
        return self.result.values

    @property
    def lemmas(self) -> dict[str, str]:
        """The verdict on each lemma, by name. The dict includes lemmas for comparison only."""
        return {name: answer.verdict for name, answer in self.result.answers.items()}

    @property
    def file(self) -> Path | None:
        """The file of the proof, for `check`; None if it was not saved."""
        return self.result.file

    def __repr__(self):
        values = ", ".join(f"{name} = {value}" for name, value in self.constants.items())
        return f"<proof {self.result.proof} of {self.result.controller.name}: {self.verdict}; {values}>"

    def _repr_html_(self):
        lines = [f"{self.result.proof} of {self.result.controller.name}: {self.verdict}", *self.faults, *self.claim]
        constants = markup.table(("constant", "value"), self.constants.items())
        return markup.paragraphs(lines) + constants + markup.table(("lemma", "verdict"), self.lemmas.items())


def prove(
    proof,
    controller,
    folder=None,
    horizon=None,
    certify=False,
    listener=None,
    if_joined=False,
    options=SolverOptions(),
) -> ProofOutcome:
    """Find the constants of a proof, each to its edge, and decide every lemma.

    Args:
        proof: A name in proofs/, or the path of a file that defines a PROOF.
        controller: The controller, in a form that `controllers.given` accepts.
        folder: A folder. The folder receives the results after each step, traces, and a report. The same call resumes
            from this folder. If `folder` is None, nothing is saved.
        horizon: The number of points T of a window, which spans T - 1 steps; None stands for the proof's own T.
        certify: Whether to write a certificate for each lemma that holds.
        listener: A Listener that receives the progress.
        if_joined: Whether to raise NoValue at once if consecutive windows do not join.
        options: The SolverOptions. The timeout applies to each question about a lemma.

    Returns:
        A ProofOutcome, with the constants and the verdicts.

    Raises:
        InputError: If the input is invalid.
        NoValue: If no value of a constant works. NoValue is a subclass of InputError.
        OutOfTime: If the solver timed out before a constant had a value.
        Disagreement: If two solvers disagree.
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
        for constant in search(prover, result.constants, earlier_constants(folder, result)):
            result.save()
            listener.constant(constant, result.constants[constant.name])
    except NoValue as error:
        raise result.with_window(error) from None
    if prover.proof.bounds_nothing(result.values):
        result.remove()
        return ProofOutcome(result, UNDECIDED, (), (), prover.left_out, BOUNDS_NOTHING)
    for answer in verdicts(prover, result.values, result.answers):
        result.answers[answer.lemma] = answer
        result.save()
        listener.lemma(answer)
    faults = [*prover.faults(result.values), *_not_derived(prover, result.values)]
    for name in make_certificates(result, prover, prover.lemmas) if certify and not faults else ():
        listener.certificate(name)
    if folder is not None:
        report.write_report(result, prover)
    return _proved(result, prover, faults)


def _not_derived(prover, values):
    """Yield a sentence for each corollary that does not follow from the lemmas."""
    for derivation in prover.derivations(values):
        if derivation.fault:
            yield f"not derived: {derivation.says} ({derivation.fault})"


def _proved(result, prover, faults):
    verdicts = {result.answers[name].verdict for name, lemma in prover.lemmas.items() if not lemma.paper}
    verdict = VIOLATED if faults or VIOLATED in verdicts else HOLDS if verdicts == {HOLDS} else UNDECIDED
    claim = sentences(prover.proof, prover.query.model, result.horizon, result.values) if verdict == HOLDS else ()
    return ProofOutcome(result, verdict, tuple(faults), tuple(claim), prover.left_out)
