"""The questions to a prover in the check of a proof, as data, and the decision of each question."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ccmatic.answers import verification
from ccmatic.answers.verification import HOLDS, UNDECIDED, VIOLATED
from ccmatic.base import InputError, OutOfTime, counted
from ccmatic.contracts import Constant, Lemma, Values
from ccmatic.logic import certificates
from ccmatic.networks.traces import Trace
from ccmatic.proving.certificate_files import read_certificate
from ccmatic.proving.lemma_prover import Answer
from ccmatic.proving.prover import Prover


@dataclass(frozen=True)
class ProofQuestion:
    """The question whether the lemmas form a proof at these values of the constants, if each lemma holds."""

    values: Values


@dataclass(frozen=True)
class LemmaQuestion:
    """The question whether a lemma holds at these values of the constants.

    The answer is the verdict on the lemma. If the file has a window that breaks the lemma, the window is replayed. If
    the file has a certificate of the lemma, the certificate is checked. Otherwise the solvers decide.

    Attributes:
        lemma: The Lemma.
        values: The constants by name.
        window: A window that breaks the lemma, according to the file; or None.
        certificate: The path of a file that should prove the lemma; or None.
    """

    lemma: Lemma
    values: Values
    window: Trace | None
    certificate: Path | None


@dataclass(frozen=True)
class EdgeQuestion:
    """The question whether a window breaks a lemma when a constant has its next better value.

    Attributes:
        constant: The constant.
        lemma: The name of a lemma that limits the constant.
        window: The window; None if the solvers must find one again.
        values: The constants by name, with the next better value of `constant`.
    """

    constant: Constant
    lemma: str
    window: Trace | None
    values: Values


@dataclass(frozen=True)
class BestValueQuestion:
    """The question whether a value of a constant is the best, while the other constants have these values.

    Attributes:
        constant: The constant.
        value: The value to judge; None if the file claims that even the loosest value does not work.
        values: The values of the other constants, by name.
    """

    constant: Constant
    value: Fraction | None
    values: Values


Question = ProofQuestion | LemmaQuestion | EdgeQuestion | BestValueQuestion


@dataclass(frozen=True)
class Decision:
    """The decision of a question.

    Attributes:
        fault: The reason why the answer is no, or why a window or a certificate does not show its claim; None if the
            answer is yes.
        verdict: The verdict on the lemma; UNDECIDED if the solver timed out.
        empty: Whether the lemma holds because no window satisfies its premise.
        how: A description of how the question was decided.
    """

    fault: str | None = None
    verdict: str = HOLDS
    empty: bool = False
    how: str = ""


def decide(prover: Prover, question: Question) -> Decision:
    """Decide a question."""
    match question:
        case ProofQuestion(values):
            return Decision("; ".join(prover.faults(values)) or None)
        case LemmaQuestion(lemma, values, Trace() as window):
            return Decision(_breaks(prover, lemma, values, window), VIOLATED, how="its window replayed")
        case LemmaQuestion(lemma, values, None, Path() as certificate):
            return _certified(prover, lemma, values, certificate)
        case LemmaQuestion(lemma, values):
            answer = prover.confirm(prover.ask(lemma, values), values)
            return Decision(None, answer.verdict, answer.empty, f"decided again, {answer.seconds:.1f} s")
        case EdgeQuestion(constant, lemma, window, values):
            limits = {limit.name: limit for limit in prover.limits(constant)}
            if lemma not in limits:
                return Decision(f"'{lemma}' does not limit it; expected one of {', '.join(limits)}")
            if window is None:
                return _found_again(prover.ask(limits[lemma], values))
            return Decision(_breaks(prover, limits[lemma], values, window), VIOLATED)
        case BestValueQuestion(constant, value, values):
            try:
                return Decision(_not_best(prover, constant, value, values))
            except OutOfTime:
                return Decision("no answer in time", UNDECIDED)


def _certified(prover: Prover, lemma: Lemma, values: Values, file: Path) -> Decision:
    """Check the certificate of a lemma."""
    outcome = certificates.check_certificate(prover.question(lemma, values), read_certificate(file))
    inequalities = "1 inequality" if outcome.lemmas == 1 else f"{outcome.lemmas} inequalities"
    how = f"certificate of {inequalities} and {counted(outcome.steps, 'step')}"
    if outcome.fault:
        return Decision(f"its certificate: {outcome.fault}", how=how)
    answer = prover.confirm(Answer(lemma.name, HOLDS, 0), values)
    return Decision(None, answer.verdict, answer.empty, how)


def _found_again(answer: Answer) -> Decision:
    """Decide whether a lemma breaks from the answer of the solvers, whose windows the prover has replayed."""
    fault = {HOLDS: f"'{answer.lemma}' holds at the better value", UNDECIDED: "no answer in time"}.get(answer.verdict)
    return Decision(fault, answer.verdict)


def _breaks(prover: Prover, lemma: Lemma, values: Values, trace: Trace) -> str | None:
    """Return the reason why a trace is not a window of this controller that breaks the lemma, or None."""
    query = prover.query_of(lemma, values)
    expected = query.record()
    for key in {**expected, **trace.query}:
        if trace.query.get(key) != expected.get(key):
            return f"its window is for the {key} {trace.query.get(key)}; expected {expected.get(key)}"
    if trace.controller != prover.controller.source:
        return "its window is of another controller"
    try:
        report = verification.check_trace(query, trace)
    except InputError as error:
        return error.message
    if report.faults:
        return f"its window breaks {report.faults[0]}"
    if report.outcome is verification.Outcome.BREAKS:
        return None
    return "its window does not break the lemma" if report.reason is None else f"its window: {report.reason}"


def _not_best(prover: Prover, constant: Constant, best: Fraction | None, values: Values) -> str | None:
    """Return the reason why some other value is the best value of a constant, or None.

    Raise OutOfTime if the solver times out.
    """
    grid, limits = constant.grid(), prover.limits(constant)
    if best is not None:
        if best not in grid:
            return f"{best} is not a value of its range"
        fault = _first_fault(prover, limits, {**values, constant.name: best})
        if fault:
            return f"at {best}, '{fault.lemma}' is {fault.verdict}"
    place = 0 if best is None else grid.index(best) + 1
    if place == len(grid):
        return None
    fault = _first_fault(prover, limits, {**values, constant.name: grid[place]})
    return None if fault else f"the better value {grid[place]} works too"


def _first_fault(prover: Prover, limits: list[Lemma], values: Values) -> Answer | None:
    """Return the Answer to the first lemma that does not hold, or None. Raise OutOfTime if the solver times out."""
    fault = prover.first_fault(limits, values)
    if fault and fault.verdict == UNDECIDED:
        raise OutOfTime(fault.lemma)
    return fault
