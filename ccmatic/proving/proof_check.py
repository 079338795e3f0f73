"""The check of a saved proof. The check trusts no result of `prove`.

The check compares the file with the proof's definition, and again decides every lemma, edge and front. The check
reports the entries that it does not check.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

from ccmatic.answers.verification import HOLDS, UNDECIDED, VIOLATED
from ccmatic.base import definitions, markup
from ccmatic.contracts import Constant, Lemma, Proof, Values
from ccmatic.logic.solving import SolverOptions
from ccmatic.proving.certificate_files import certificate_file
from ccmatic.proving.lemma_prover import Answer
from ccmatic.proving.prover import Prover
from ccmatic.proving.questions import (
    BestValueQuestion,
    Decision,
    EdgeQuestion,
    LemmaQuestion,
    ProofQuestion,
    Question,
    decide,
)
from ccmatic.proving.result import Result, digest
from ccmatic.questions.query import Query

ACCEPTED, REJECTED, UNKNOWN = "accepted", "rejected", "unknown"


@dataclass(frozen=True)
class Finding:
    """One result of the check.

    Attributes:
        about: The subject of the check: a lemma, the edge of a constant, or another entry of the file.
        fault: A description of the mistake, or None.
        how: A description of the method of the check.
        checked: False if the check trusts this entry. In this case, `how` describes the entry.
        unknown: Whether the only fault is a timeout of a solver.
    """

    about: str
    fault: str | None
    how: str = ""
    checked: bool = True
    unknown: bool = False


@dataclass(frozen=True)
class Statement:
    """A statement in the file that a prover must decide.

    Attributes:
        about: The subject, as in Finding. The attribute `how` is also as in Finding.
        question: The question for the prover.
    """

    about: str
    how: str
    question: Question

    def finding(self, decision: Decision) -> Finding:
        """Return the Finding that follows from a decision."""
        return Finding(self.about, decision.fault, self.how, unknown=decision.verdict == UNDECIDED)


@dataclass(frozen=True)
class VerdictStatement(Statement):
    """The verdict on a lemma. A window, a certificate or the solvers decide whether the verdict is right."""

    question: LemmaQuestion
    answer: Answer

    def finding(self, decision: Decision) -> Finding:
        """Compare the file's answer with the decision."""
        if decision.verdict == UNDECIDED:
            return Finding(self.about, "no answer in time", decision.how, unknown=True)
        paper, verdict = self.question.lemma.paper, decision.verdict
        fault = decision.fault
        if not fault and verdict != HOLDS and not paper:
            fault = f"the lemma is {verdict}"
        if not fault and self.answer.verdict != verdict:
            fault = f"the file says {self.answer.verdict}; it is {verdict}"
        if not fault and self.answer.empty and not decision.empty:
            fault = "the file says that no window satisfies the premise; one does"
        return Finding(self.about, fault, f"{verdict}: {decision.how}" if paper else decision.how)


class Check:
    """A running check of a proof.

    Iterate over a Check to get each Finding as soon as the check makes it. The property `verdict` completes the check.
    An error ends the check. `result` is the data that is checked: the Result of a proof, an invariant, or several
    proofs. `file` names the files of data other than a Result.
    """

    def __init__(self, result: Any, findings: Iterator[Finding], file: str | None = None):
        self.result = result
        self._file = result.file if file is None else file
        self._remaining = findings
        self._findings_so_far: list[Finding] = []

    def __iter__(self) -> Iterator[Finding]:
        yield from self._findings_so_far
        for finding in self._remaining:
            self._findings_so_far.append(finding)
            yield finding

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings. Reading this property completes the check."""
        return tuple(self)

    @property
    def verdict(self) -> str:
        """ACCEPTED, REJECTED, or UNKNOWN if the only faults are timeouts of solvers."""
        faults = [finding for finding in self if finding.fault]
        return ACCEPTED if not faults else UNKNOWN if all(finding.unknown for finding in faults) else REJECTED

    def __repr__(self) -> str:
        verdict = f"{self.verdict}" if self._findings_so_far else "not begun"
        return f"<check of {self._file}: {verdict}>"

    def _repr_html_(self) -> str:
        rows = [(finding.about, finding.fault or finding.how, finding.checked) for finding in self]
        return markup.paragraphs([f"{self._file}: {self.verdict}"]) + markup.table(("about", "found", "checked"), rows)


def check(
    result: Result,
    isolate: Callable[[Generator[Finding, None, None]], Iterator[Finding]] = iter,
    options: SolverOptions = SolverOptions(),
) -> Check:
    """Return the Check of a Result.

    Args:
        result: The Result.
        isolate: A function that receives the generator of the findings and returns the iterator to use. This function
            may run the generator in another process, for example.
        options: The SolverOptions. The timeout applies to each question to a solver.
    """
    return Check(result, isolate(_findings(result, options)))


def _findings(result: Result, options: SolverOptions) -> Generator[Finding, None, None]:
    """Check a Result, and yield a Finding for each entry of the file.

    If a lemma has a certificate, the certificate decides the lemma. Otherwise, the solvers of `options` decide it.
    """
    prover = Prover(result.proof, result.controller, result.horizon, options)
    proof = prover.proof
    yield _definition(result, proof)
    yield named(result.controller, prover.query)
    wrong = "; ".join(_wrong_constants(result, proof))
    yield Finding("constants", wrong or None, "those declared, each in its range or as its author chose it")
    if wrong:
        return
    values = {constant.name: result.values[constant.name] for constant in proof.constants}
    if proof.bounds_nothing(values):
        yield Finding("bounds", "every bound is dropped, so nothing is proved")
    progress = "order of the states, how windows join, steps of the measures"
    statements = chain(
        [Statement("progress adds up", progress, ProofQuestion(values))],
        _of_lemmas(result, prover.lemmas, values),
        _corollaries(prover, values),
        _edges(result, proof, values),
        _fronts(result, proof, values),
    )
    for statement in statements:
        yield statement if isinstance(statement, Finding) else statement.finding(decide(prover, statement.question))
    for exclusion in prover.left_out:
        yield Finding("left out", None, str(exclusion), False)
    yield Finding(
        "words", None, "the definition's words and its remarks about the paper; the report and its diagram", False
    )


def _definition(result: Result, proof: Proof) -> Finding:
    # Earlier versions left out the text of a user's model.
    same = result.definition in (digest(result.proof, proof.model), digest(result.proof), *proof.formerly)
    changed = "it has changed since: its digest differs from that in the file; prove it again"
    how = f"{result.proof}, with the same text or an earlier text of the same meaning"
    return Finding("definition", None if same else changed, how)


def named(given: Any, query: Query) -> Finding:
    """Check that the name of a shipped controller belongs to the source in a file. Other names are only labels.

    Args:
        given: The controller of the file.
        query: The query of the file, which loads shipped controllers.
    """
    if not any(given.name in definitions.shipped(folder) for folder in definitions.CONTROLLERS):
        return Finding("controller", None, f"'{given.name}' is only a label for the source in the file", False)
    same = given.meaning == query.controller(given.name).meaning
    fault = None if same else f"its source is not that of '{given.name}'; expected another name or that source"
    return Finding("controller", fault, f"the source is that of '{given.name}'")


def _wrong_constants(result: Result, proof: Proof) -> Iterator[str]:
    declared = {constant.name: constant for constant in proof.constants}
    missing = [name for name in declared if name not in result.constants]
    if missing:
        yield f"missing: {', '.join(missing)}"
    for name, optimum in result.constants.items():
        if name not in declared:
            yield f"the definition has no '{name}'"
        elif declared[name].at is not None and optimum.value != declared[name].at:
            yield f"{name} is {optimum.value}; expected {declared[name].at}, as the author chose"
        elif declared[name].at is None and optimum.value not in declared[name].grid():
            yield f"{name} is {optimum.value}, which is not a value of its range"


def _of_lemmas(result: Result, lemmas: Mapping[str, Lemma], values: Values) -> Iterator[Finding | Statement]:
    for lemma in lemmas.values():
        answer, file = result.answers.get(lemma.name), certificate_file(result, lemma.name)
        if answer is None:
            yield Finding(lemma.name, "the file has no verdict on it")
        elif answer.verdict == UNDECIDED and lemma.paper and not answer.trace:
            yield Finding(lemma.name, None, "it has no verdict, and the proof does not rest on it", False)
        else:
            question = LemmaQuestion(lemma, values, answer.trace, file if file.exists() else None)
            yield VerdictStatement(lemma.name, "", question, answer)
    for name in result.answers.keys() - lemmas.keys():
        yield Finding(name, "the definition has no such lemma")


def _corollaries(prover: Prover, values: Values) -> Iterator[Finding]:
    for derivation in prover.derivations(values):
        yield Finding(f"corollary: {derivation.says}", derivation.fault, derivation.how)


def _edges(result: Result, proof: Proof, values: Values) -> Iterator[Finding | Statement]:
    for constant in proof.constants:
        about, edge = f"edge of {constant.name}", result.constants[constant.name].edge
        better = _better(constant, values)
        how = f"its window at {better}, {'replayed' if edge and edge.trace else 'found again'}"
        if better is None:
            reason = "chosen by the author" if constant.at is not None else "at the end of its range"
            yield Finding(about, f"it has one; expected none, {reason}" if edge else None, reason)
        elif edge and edge.verdict == UNDECIDED and not edge.trace:
            yield Finding(about, None, f"it is unknown whether {better} works", False)
        elif edge is None or edge.verdict != VIOLATED:
            yield Finding(about, f"no window shows that the better value {better} fails", how)
        else:
            question = EdgeQuestion(constant, edge.lemma, edge.trace, {**values, constant.name: better})
            yield Statement(about, how, question)


def _better(constant: Constant, values: Values) -> Fraction | None:
    """Return the next better value of a constant; None at the end of its range, or if the author chose the value."""
    grid = constant.grid()
    if constant.at is not None or values[constant.name] == grid[-1]:
        return None
    return grid[grid.index(values[constant.name]) + 1]


def _fronts(result: Result, proof: Proof, values: Values) -> Iterator[Finding | Statement]:
    """Yield the statements that each point of a front is best: its value works, but the next better value does not."""
    for before, constant in zip((None, *proof.constants), proof.constants, strict=False):
        points = result.constants[constant.name].front
        expected = before.front if before and constant.at is None else ()
        if tuple(other for other, _ in points) != expected:
            fault = f"its points are not those of the definition, {', '.join(map(str, expected)) or 'none'}"
            yield Finding(f"front of {constant.name}", fault)
        elif before is not None:
            for other, best in points:
                about = f"{constant.name} where {before.name} is {other}"
                how = f"decided again: {'even the loosest value fails' if best is None else best}"
                yield Statement(about, how, BestValueQuestion(constant, best, {**values, before.name: other}))
