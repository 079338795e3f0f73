"""Proofs about one round of a controller: the search for their constants, their files, and the check of a file.

A round multiplies its numbers, so solvers for nonlinear arithmetic decide the lemmas. Every counterexample consists of
exact numbers, and a replay without a solver confirms it. The check of a file decides every lemma again, and replays
every edge. No certificate exists for such a lemma.
"""

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from pysmt.logics import QF_NRA

from ccmatic import __version__, controllers, records
from ccmatic.answers.verification import HOLDS, UNDECIDED, VIOLATED, Unsound
from ccmatic.base import Clock, InputError, definitions, writable_folder, write_text
from ccmatic.contracts import Lemma, RecordingDict, RoundNumbers, RoundProof, Values, load_definition
from ccmatic.logic import every, real
from ccmatic.logic.solving import SAT, UNKNOWN, Checker, SolverOptions
from ccmatic.proving.constants import decide, search
from ccmatic.proving.findings import Finding
from ccmatic.proving.lemma_prover import Answer, LemmaProver, Optimum
from ccmatic.proving.report import number
from ccmatic.proving.result import ProofOutcome, digest
from ccmatic.records import ABSENT, RoundAnswerRecord, RoundConstantRecord, RoundsFile


@dataclass
class RoundsResult:
    """The constants and answers of a proof about rounds."""

    #: The path of the JSON file; None if the result is not saved.
    file: Path | None
    proof: str
    definition: str
    constants: dict[str, Optimum] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, Fraction]:
        return {name: optimum.value for name, optimum in self.constants.items()}

    def save(self) -> None:
        if self.file is None:
            return
        constants = {
            name: RoundConstantRecord(each.value, each.edge and _record(each.edge))
            for name, each in self.constants.items()
        }
        lemmas = [_record(answer) for answer in self.answers.values()]
        data = RoundsFile(f"ccmatic {__version__}", self.proof, self.definition, constants, lemmas)
        write_text(self.file, json.dumps(records.data(data), indent=1, ensure_ascii=False) + "\n")


class RoundProver(LemmaProver):
    """A prover of lemmas about rounds."""

    def __init__(self, name: str, options: SolverOptions = SolverOptions()) -> None:
        super().__init__(Clock.of(options.timeout))
        self.name = definitions.absolute(name)
        self.proof: RoundProof = load_definition("proofs", "PROOF", name, allow_code=True)
        self.lemmas = {lemma.name: lemma for lemma in self.proof.lemmas}
        self._options = options.with_clock(self._clock)
        self._x = RoundNumbers({each: real(each) for each in self.proof.numbers})

    def confirm(self, answer: Answer, constants: Values) -> Answer:
        """Return the Answer if it does not hold, or if some round satisfies the premise of its lemma.

        Raise InputError if none does.
        """
        if answer.verdict != HOLDS:
            return answer
        given, _, _ = self._evaluated(self.lemmas[answer.lemma], constants)
        with self._clock.question():
            exists, numbers = self._find(given)
        if exists not in (SAT, UNKNOWN):
            raise InputError(
                f"no round satisfies the premise of '{answer.lemma}'; expected a premise that one satisfies"
            )
        verdict = HOLDS if numbers else UNDECIDED
        return Answer(answer.lemma, verdict, answer.seconds)

    def breaks(self, lemma: Lemma, constants: Values, numbers: Mapping[str, Fraction]) -> bool:
        """Return whether a round with these numbers exists and breaks a lemma, by exact arithmetic."""
        x, c = RoundNumbers(numbers), RecordingDict(constants)
        return self._is_round(x) and lemma.given(x, c) is True and lemma.then(x, c) is False

    def _is_round(self, x: RoundNumbers) -> bool:
        return {*x} == {*self._x} and every(list(self.proof.laws(x))) is True

    def _evaluated(self, lemma: Lemma, constants: Values) -> tuple[Any, Any, dict[str, Fraction]]:
        reads = RecordingDict(constants)
        given, then = lemma.given(self._x, reads), lemma.then(self._x, reads)
        return given, then, {name: value for name, value in constants.items() if name in reads.names}

    def _find(self, *conditions: Any) -> tuple[str, dict[str, Fraction] | None]:
        """Search for a round.

        If its numbers are irrational, and rounding them gives no round, the answer is UNKNOWN.
        """
        checker = Checker(self._options, QF_NRA)
        for condition in (*self.proof.laws(self._x), *conditions):
            checker.add(condition)
        answer = checker.check()
        if answer != SAT:
            return answer, None
        numbers = {name: checker.value(term) for name, term in self._x.items()}
        return (SAT, numbers) if self._is_round(RoundNumbers(numbers)) else (UNKNOWN, None)

    def _observed(self, numbers: dict[str, Fraction]) -> RoundNumbers:
        return RoundNumbers(numbers)

    def _replayed(self, numbers: dict[str, Fraction], lemma: Lemma, constants: Values) -> dict[str, Fraction]:
        if not self.breaks(lemma, constants, numbers):
            raise Unsound(f"a round that breaks '{lemma.name}' fails replay: {_text(numbers)}")
        return numbers


def prove_rounds(proof: str, controller: Any, folder: Any, listener: Any, options: SolverOptions) -> ProofOutcome:
    """Find the constants of a proof about rounds, each to its edge, and decide every lemma.

    The arguments are those of `prove`.
    """
    prover = RoundProver(proof, options)
    prover.listen = listener.asks
    _require(controller, prover)
    file = None if folder is None else writable_folder(folder) / f"{Path(proof).stem}.json"
    result = RoundsResult(file, prover.name, digest(prover.name))
    search(prover, result, listener=listener)
    verdict = decide(prover, result, listener)
    return ProofOutcome(result, verdict, (), tuple(_claim(prover, result.values)) if verdict == HOLDS else (), ())


def _require(controller: Any, prover: RoundProver) -> None:
    about = prover.proof.controller
    model = next(each for each in definitions.every("models", "MODEL") if each.windows and each.flows == 1)
    kind = model.observations if controllers.sends_by_window(about) else {}
    if controllers.sends_by_window(controller) == controllers.sends_by_window(about):
        given, own = (controllers.given(each, observations=kind) for each in (controller, about))
        if given.meaning == own.meaning:
            return
    raise InputError(f"the proof {Path(prover.name).stem} is about {about}; expected this controller")


def read_rounds(file: Path, data: object, allow_code: bool) -> RoundsResult:
    read = records.convert(data, RoundsFile, what="not a proof of ccmatic")
    if not isinstance(load_definition("proofs", "PROOF", read.proof, allow_code), RoundProof):
        raise InputError(f"its proof {read.proof} is not about rounds; expected a proof about rounds")
    constants = {name: Optimum(c.value, c.edge and _answer(c.edge)) for name, c in read.constants.items()}
    answers = {each.lemma: _answer(each) for each in read.lemmas}
    return RoundsResult(file, read.proof, read.definition, constants, answers)


def check_rounds(result: RoundsResult, options: SolverOptions) -> Generator[Finding, None, None]:
    """Decide every lemma of a RoundsResult again, and replay every edge."""
    prover = RoundProver(result.proof, options)
    same = result.definition in (digest(result.proof), *prover.proof.formerly)
    changed = "it has changed since: its digest differs from that in the file; prove it again"
    yield Finding("definition", None if same else changed, f"{result.proof}, with the same text")
    declared, given = {each.name for each in prover.proof.constants}, {*result.constants}
    wrong = ", ".join(sorted(declared ^ given))
    yield Finding("constants", f"other constants than the definition's: {wrong}" if wrong else None, "those declared")
    if wrong:
        return
    for lemma in prover.lemmas.values():
        yield _lemma(prover, lemma, result)
    for name in result.answers.keys() - prover.lemmas.keys():
        yield Finding(name, "the definition has no such lemma")
    for constant in prover.proof.constants:
        yield _edge(prover, constant, result)


def _lemma(prover: RoundProver, lemma: Lemma, result: RoundsResult) -> Finding:
    stated = result.answers.get(lemma.name)
    if stated is None:
        return Finding(lemma.name, "the file has no verdict on it")
    if lemma.paper and stated.verdict == VIOLATED:
        broken = stated.trace is not None and prover.breaks(lemma, result.values, stated.trace)
        return Finding(lemma.name, None if broken else "its round does not break it", "violated: its round replayed")
    answer = prover.confirm(prover.ask(lemma, result.values), result.values)
    how = f"decided again, {answer.seconds:.1f} s"
    if answer.verdict == UNDECIDED:
        return Finding(lemma.name, "no answer in time", how, unknown=True)
    if answer.verdict != HOLDS:
        return Finding(lemma.name, f"the lemma is {answer.verdict}", how)
    return Finding(lemma.name, None if stated.verdict == HOLDS else f"the file says {stated.verdict}; it holds", how)


def _edge(prover: RoundProver, constant: Any, result: RoundsResult) -> Finding:
    """Check the value of a constant, and that the next better value fails."""
    about, grid, values = f"edge of {constant.name}", constant.grid(), result.values
    value, edge = values[constant.name], result.constants[constant.name].edge
    if value not in ([constant.at] if constant.at is not None else grid):
        return Finding(about, f"{value} is not a value of its range")
    if constant.at is not None or value == grid[-1]:
        reason = "chosen by the author" if constant.at is not None else "at the end of its range"
        return Finding(about, f"it has one; expected none, {reason}" if edge else None, reason)
    better = grid[grid.index(value) + 1]
    limits = {lemma.name: lemma for lemma in prover.limits(constant)}
    if edge is None or edge.lemma not in limits or edge.trace is None:
        return Finding(about, f"no round shows that the better value {number(better)} fails")
    known = {name: each for name, each in values.items() if name in prover.constants_of(limits[edge.lemma])}
    broken = prover.breaks(limits[edge.lemma], {**known, constant.name: better}, edge.trace)
    how = f"its round at {number(better)}, replayed"
    return Finding(about, None if broken else f"its round does not break '{edge.lemma}'", how)


def _claim(prover: RoundProver, values: Values) -> Generator[str, None, None]:
    for lemma in (each for each in prover.lemmas.values() if not each.paper):
        yield f"In each round, {lemma.says.format(**{name: number(value) for name, value in values.items()})}."


def _record(answer: Answer) -> RoundAnswerRecord:
    return RoundAnswerRecord(answer.lemma, answer.verdict, round(answer.seconds, 2), answer.trace or ABSENT)


def _answer(read: RoundAnswerRecord) -> Answer:
    return Answer(read.lemma, read.verdict, read.seconds, read.numbers or None)


def _text(numbers: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in numbers.items())
