"""What the check of a proof asks a prover, as data, and how each question is decided."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ccmatic import certificates, verification
from ccmatic.base import InputError, OutOfTime
from ccmatic.contracts import Constant, Lemma, Values
from ccmatic.proving.certificate_files import read_certificate
from ccmatic.proving.prover import Answer, Prover
from ccmatic.traces import Trace
from ccmatic.verification import HOLDS, UNDECIDED, VIOLATED


@dataclass(frozen=True)
class AddsUp:
    """Do the lemmas, each true at these values of the constants, add up to a proof?"""

    values: Values


@dataclass(frozen=True)
class OfLemma:
    """What is the verdict on a lemma at these values of the constants?

    Args:
        window: A window that is said to break the lemma.
        certificate: A file that is said to prove it. Without either, solvers are asked.
    """

    lemma: Lemma
    values: Values
    window: Trace | None
    certificate: Path | None


@dataclass(frozen=True)
class Beyond:
    """Does a window break a lemma that limits a constant at these values, where the constant has its next better one?

    Args:
        lemma: The name of the lemma.
    """

    constant: Constant
    lemma: str
    window: Trace
    values: Values


@dataclass(frozen=True)
class Best:
    """Is this the best value of a constant where the others have these values? None: not even the loosest will do."""

    constant: Constant
    value: Fraction | None
    values: Values


Question = AddsUp | OfLemma | Beyond | Best


@dataclass(frozen=True)
class Decision:
    """What came of a question.

    fault: why the answer is no, or why a window or a certificate does not show what it is said to show; None if it is
    as the question says. verdict: on a lemma; UNDECIDED where no answer came in time. empty: the lemma holds of no
    window. how: the question was decided.
    """

    fault: str | None = None
    verdict: str = HOLDS
    empty: bool = False
    how: str = ""


def decide(prover: Prover, question: Question) -> Decision:
    """Decide a question."""
    match question:
        case AddsUp(values):
            return Decision("; ".join(prover.faults(values)) or None)
        case OfLemma(lemma, values, Trace() as window):
            return Decision(_breaks(prover, lemma, values, window), VIOLATED, how="its window replayed")
        case OfLemma(lemma, values, None, Path() as certificate):
            return _certified(prover, lemma, values, certificate)
        case OfLemma(lemma, values):
            answer = prover.confirm(prover.ask(lemma, values), values)
            return Decision(None, answer.verdict, answer.empty, f"asked anew, {answer.seconds:.1f} s")
        case Beyond(constant, lemma, window, values):
            limits = {limit.name: limit for limit in prover.limits(constant)}
            if lemma not in limits:
                return Decision(f"'{lemma}' does not limit it; expected one of {', '.join(limits)}")
            return Decision(_breaks(prover, limits[lemma], values, window), VIOLATED)
        case Best(constant, value, values):
            try:
                return Decision(_not_best(prover, constant, value, values))
            except OutOfTime:
                return Decision("no answer in time", UNDECIDED)


def _certified(prover: Prover, lemma: Lemma, values: Values, file: Path) -> Decision:
    outcome = certificates.check_certificate(prover.question(lemma, values), read_certificate(file))
    how = f"certificate of {outcome.lemmas} inequalities and {outcome.steps} steps"
    if outcome.fault:
        return Decision(f"its certificate: {outcome.fault}", how=how)
    return Decision(empty=prover.confirm(Answer(lemma.name, HOLDS, 0), values).empty, how=how)


def _breaks(prover: Prover, lemma: Lemma, values: Values, trace: Trace) -> str | None:
    """Why a trace is not a window of this controller that breaks the lemma at these values, or None."""
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
    """Why a constant's best value is not this one, or None. Raises OutOfTime."""
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
    return None if fault else f"{grid[place]}, which is better, will do"


def _first_fault(prover: Prover, limits: list[Lemma], values: Values) -> Answer | None:
    fault = prover.first_fault(limits, values)
    if fault and fault.verdict == UNDECIDED:
        raise OutOfTime(fault.lemma)
    return fault
