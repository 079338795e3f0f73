"""The whole of a proof, from its constants to its report."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ccmatic.base import InputError, markup, writable_folder
from ccmatic.contracts import Exclusion
from ccmatic.proving import report
from ccmatic.proving.certificate_files import make_certificates
from ccmatic.proving.claim import sentences
from ccmatic.proving.constants import search, verdicts
from ccmatic.proving.prover import NoValue, Prover
from ccmatic.proving.result import Result, begin_result, earlier_constants, earlier_windows
from ccmatic.solving import SolverOptions
from ccmatic.verification import HOLDS, UNDECIDED, VIOLATED


class Listener:
    """Is told of a proof as it goes on; this one says nothing of it."""

    def begins(self, shape):
        """A shape, by name, is being tried."""

    def asks(self, lemma, values):
        """A lemma, by name, is being asked; values: of the constants that it reads, by name."""

    def constant(self, declared, optimum):
        """The Optimum of a Constant of the proof was found."""

    def lemma(self, answer):
        """A lemma was decided; answer: an Answer."""

    def certificate(self, name):
        """The certificate of a lemma, by name, has been written."""


@dataclass(frozen=True, repr=False)
class Proved:
    """What a search for a proof found.

    verdict: `holds` if every lemma does and they add up, `violated` if one does not, or they do not add up, `unknown`
    if one was not decided in time. faults: why the lemmas would not add up, in words. claim: what is so for all time,
    in sentences; none unless the verdict is `holds`. result: all that was found, lemma by lemma. left_out: the
    exclusions that apply to all of it.
    """

    result: Result
    verdict: str
    faults: tuple[str, ...]
    claim: tuple[str, ...]
    left_out: tuple[Exclusion, ...]

    @property
    def constants(self) -> dict[str, Fraction]:
        """The value of each constant."""
        return self.result.values

    @property
    def lemmas(self) -> dict[str, str]:
        """The verdict on each lemma, also those of the paper that the proof does not rest on."""
        return {name: answer.verdict for name, answer in self.result.answers.items()}

    @property
    def file(self) -> Path | None:
        """Where it was saved, for `check`; None if it was not."""
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
) -> Proved:
    """Find the constants of a proof, each to its edge, and decide every lemma.

    proof: a name in proofs/, or the path of a file that defines a PROOF. controller: as of `language.given`.
    folder: where each step is saved, with traces and a report; the same call then goes on. None: nothing is saved.
    horizon: steps of a window; None: the proof's own. certify: also write a certificate of each lemma that holds.
    listener: is told how it goes. if_joined: nothing is searched for where windows do not join: that is a NoValue.
    options: SolverOptions. Raises InputError for bad input, NoValue, an InputError, where no value of a constant will
    do, OutOfTime where that could not be told, and Disagreement.
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
    for answer in verdicts(prover, result.values, result.answers):
        result.answers[answer.lemma] = answer
        result.save()
        listener.lemma(answer)
    faults = prover.faults(result.values)
    for name in make_certificates(result, prover, prover.lemmas) if certify and not faults else ():
        listener.certificate(name)
    if folder is not None:
        report.write_report(result, prover)
    return _proved(result, prover, faults)


def _proved(result, prover, faults):
    verdicts = {result.answers[name].verdict for name, lemma in prover.lemmas.items() if not lemma.paper}
    verdict = VIOLATED if faults or VIOLATED in verdicts else HOLDS if verdicts == {HOLDS} else UNDECIDED
    claim = sentences(prover.proof, prover.query.model, result.horizon, result.values) if verdict == HOLDS else ()
    return Proved(result, verdict, tuple(faults), tuple(claim), prover.left_out)
