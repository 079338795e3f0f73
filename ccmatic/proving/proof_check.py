"""The check of a saved proof. The check trusts no result of `prove`.

The check compares the file with the proof's definition, and again decides every lemma, edge and front. The check
reports the entries that it does not check.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from ccmatic import records
from ccmatic.answers import verification
from ccmatic.answers.verification import HOLDS, UNDECIDED, VIOLATED
from ccmatic.base import InputError, OutOfTime, counted, definitions, located, parse_json, read_text
from ccmatic.contracts import Constant, Lemma, Proof, Values
from ccmatic.logic import certificates, isolated_steps
from ccmatic.logic.solving import SolverOptions
from ccmatic.networks.traces import Trace
from ccmatic.proving.enclosures.proof import SavedProof, proofs_of
from ccmatic.proving.findings import Check, Finding
from ccmatic.proving.invariants.first_steps import FirstSteps
from ccmatic.proving.invariants.phases import Eventually, Phases
from ccmatic.proving.invariants.saved import Invariant
from ccmatic.proving.lemma_prover import Answer
from ccmatic.proving.prover import Prover
from ccmatic.proving.result import Result, certificate_file, digest, read_certificate, read_result
from ccmatic.proving.rounds import check_rounds, read_rounds
from ccmatic.questions.query import Query, left_out
from ccmatic.records import EnclosedFile, FirstStepsFile, InvariantFile, ProofFile, RoundsFile


def check(
    file: str | Path,
    *following: str | Path,
    allow_code: bool = False,
    solver: SolverOptions = SolverOptions(),
) -> Check:
    """Check every part of a saved proof again.

    Args:
        file: A result file of `prove`, or an invariant or a proof about first steps that `prove` wrote, which
            certificates alone decide. Or an ONNX file whose metadata name its proofs.
        following: Proofs about first steps, if `file` is one as well. Each begins where the proof before it ends. The
            last of them may be an invariant: then its claim holds for ever from some step on. The last Finding is about
            the joined claim.
        allow_code: Whether to run the file that the result names as its proof. Otherwise only shipped proofs are
            accepted.
        solver: SolverOptions.

    Returns:
        The Check. Iterate over the Check for its findings, or read `verdict`: `accepted`, `rejected` or `unknown`.

    Raises:
        InputError: If the file cannot be read or is no proof.
        Disagreement: If two solvers disagree while the proof is checked.

    Examples:
        >>> cm.check("results/proofs/cc_qdel_T10.json").verdict
        >>> cm.check("halves.json", "grows.json").findings[-1].about
    """
    if following:
        proofs: list[Any] = [FirstSteps.load(each, allow_code) for each in (file, *following[:-1])]
        proofs.append(_last(following[-1], allow_code))
        findings = _joined(proofs, _claims(proofs), solver)
        return Check(proofs, findings, " ".join(map(str, (file, *following))))
    if Path(file).suffix == ".onnx":
        proofs = proofs_of(file, allow_code)
        return Check(proofs, _of_certificates(*proofs), str(file))
    data = parse_json(read_text(Path(file)), str(file))
    kind = next((each for each in _KINDS if records.has_format(data, each)), ProofFile)
    read, find = _KINDS[kind]
    with located(str(file)):
        proof = read(Path(file), data, allow_code)
    return Check(proof, isolated_steps(find(proof, solver)), str(file))


def _last(file: str | Path, allow_code: bool) -> FirstSteps | Invariant:
    data = parse_json(read_text(Path(file)), str(file))
    return (Invariant if records.has_format(data, InvariantFile) else FirstSteps).read(file, data, allow_code)


def _claims(proofs: Sequence[FirstSteps | Invariant]) -> list[Phases | Eventually]:
    """Return the claims that join the first two proofs, the first three, and so on."""
    joined: list[Any] = [proofs[0]]
    for each in proofs[1:]:
        last = joined[-1]
        joined.append(Eventually.of(last, each) if isinstance(each, Invariant) else Phases.of(last, each))
    return joined[1:]


def _joined(
    proofs: Sequence[FirstSteps | Invariant], claims: Sequence[Phases | Eventually], solver: SolverOptions
) -> Iterator[Finding]:
    yield from _of_certificates(*proofs)
    for claim in claims:
        about = f"{claim.controller.name} on {claim.executions}: {claim.claim}, in C·step"
        yield Finding(about, claim.fault(solver), f"joined: {claim.how}")


def _of_certificates(*proofs: Invariant | FirstSteps | SavedProof) -> Generator[Finding]:
    for proof in proofs:
        invariant = proof.invariant if isinstance(proof, SavedProof) else proof
        how = "certificates" if invariant is proof else "certificates, and the envelope computed again"
        about = f"{proof.controller.name} on {invariant.executions}: {invariant.claim}, in C·step"
        yield named(proof.controller, invariant.query)
        yield Finding(about, proof.fault(), f"{len(invariant.certificates)} {how}")
        for each in left_out(invariant.query, invariant.controller):
            yield Finding("left out", None, str(each), checked=False)


def check_windows(result: Result, options: SolverOptions = SolverOptions()) -> Generator[Finding]:
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
    yield Finding("progress adds up", "; ".join(prover.faults(values)) or None, progress)
    yield from _lemmas(result, prover, values)
    for derivation in prover.derivations(values):
        yield Finding(f"corollary: {derivation.says}", derivation.fault, derivation.how)
    yield from _edges(result, prover, values)
    yield from _fronts(result, prover, values)
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
    """Check that the name of a shipped controller belongs to the source in a file. Other names are only labels."""
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


def _lemmas(result: Result, prover: Prover, values: Values) -> Iterator[Finding]:
    for lemma in prover.lemmas.values():
        answer = result.answers.get(lemma.name)
        if answer is None:
            yield Finding(lemma.name, "the file has no verdict on it")
        elif answer.verdict == UNDECIDED and lemma.paper and not answer.trace:
            yield Finding(lemma.name, None, "it has no verdict, and the proof does not rest on it", False)
        else:
            yield _lemma(result, prover, lemma, values, answer)
    for name in result.answers.keys() - prover.lemmas.keys():
        yield Finding(name, "the definition has no such lemma")


def _lemma(result: Result, prover: Prover, lemma: Lemma, values: Values, stated: Answer) -> Finding:
    """Compare the file's answer to a lemma with what its window, its certificate or the solvers decide."""
    fault, certificate = None, certificate_file(result, lemma.name)
    if stated.trace:
        decided, how = Answer(lemma.name, VIOLATED, 0), "its window replayed"
        fault = _not_breaking(prover, lemma, values, stated.trace)
    elif certificate.exists():
        decided, fault, how = _certified(prover, lemma, values, certificate)
    else:
        decided = prover.confirm(prover.ask(lemma, values), values)
        how = f"decided again, {decided.seconds:.1f} s"
    if decided.verdict == UNDECIDED:
        return Finding(lemma.name, "no answer in time", how, unknown=True)
    if not fault and decided.verdict != HOLDS and not lemma.paper:
        fault = f"the lemma is {decided.verdict}"
    if not fault and stated.verdict != decided.verdict:
        fault = f"the file says {stated.verdict}; it is {decided.verdict}"
    if not fault and stated.empty and not decided.empty:
        fault = "the file says that no window satisfies the premise; one does"
    return Finding(lemma.name, fault, f"{decided.verdict}: {how}" if lemma.paper else how)


def _certified(prover: Prover, lemma: Lemma, values: Values, file: Path) -> tuple[Answer, str | None, str]:
    """Return the answer to a lemma that a certificate decides, the fault of the certificate, and its size."""
    outcome = certificates.check_certificate(prover.question(lemma, values), read_certificate(file))
    inequalities = "1 inequality" if outcome.lemmas == 1 else f"{outcome.lemmas} inequalities"
    how = f"certificate of {inequalities} and {counted(outcome.steps, 'step')}"
    answer = Answer(lemma.name, HOLDS, 0)
    if outcome.fault:
        return answer, f"its certificate: {outcome.fault}", how
    return prover.confirm(answer, values), None, how


def _not_breaking(prover: Prover, lemma: Lemma, values: Values, trace: Trace) -> str | None:
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


def _edges(result: Result, prover: Prover, values: Values) -> Iterator[Finding]:
    for constant in prover.proof.constants:
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
            fault, verdict = _not_at_edge(prover, constant, edge, {**values, constant.name: better})
            yield Finding(about, fault, how, unknown=verdict == UNDECIDED)


def _not_at_edge(prover: Prover, constant: Constant, edge: Answer, better: Values) -> tuple[str | None, str]:
    """Return the reason why an edge's lemma does not break with the better values, or None, and the lemma's verdict.

    A window that the file does not have any more is found again, and the prover replays what it finds.
    """
    limits = {limit.name: limit for limit in prover.limits(constant)}
    if edge.lemma not in limits:
        return f"'{edge.lemma}' does not limit it; expected one of {', '.join(limits)}", VIOLATED
    if edge.trace:
        return _not_breaking(prover, limits[edge.lemma], better, edge.trace), VIOLATED
    verdict = prover.ask(limits[edge.lemma], better).verdict
    return {HOLDS: f"'{edge.lemma}' holds at the better value", UNDECIDED: "no answer in time"}.get(verdict), verdict


def _better(constant: Constant, values: Values) -> Fraction | None:
    """Return the next better value of a constant; None at the end of its range, or if the author chose the value."""
    grid = constant.grid()
    if constant.at is not None or values[constant.name] == grid[-1]:
        return None
    return grid[grid.index(values[constant.name]) + 1]


def _fronts(result: Result, prover: Prover, values: Values) -> Iterator[Finding]:
    """Check that each point of a front is best: its value works, but the next better value does not."""
    constants = prover.proof.constants
    for before, constant in zip((None, *constants), constants, strict=False):
        points = result.constants[constant.name].front
        expected = before.front if before and constant.at is None else ()
        if tuple(other for other, _ in points) != expected:
            fault = f"its points are not those of the definition, {', '.join(map(str, expected)) or 'none'}"
            yield Finding(f"front of {constant.name}", fault)
        elif before is not None:
            for other, best in points:
                about = f"{constant.name} where {before.name} is {other}"
                how = f"decided again: {'even the loosest value fails' if best is None else best}"
                try:
                    yield Finding(about, _not_best(prover, constant, best, {**values, before.name: other}), how)
                except OutOfTime:
                    yield Finding(about, "no answer in time", how, unknown=True)


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


#: The kinds of saved proofs, by the record of the file: the function that reads one, and the one that checks it.
_KINDS: dict[Any, tuple[Callable[..., Any], Callable[..., Generator[Finding]]]] = {
    EnclosedFile: (SavedProof.read, lambda proof, solver: _of_certificates(proof)),
    FirstStepsFile: (FirstSteps.read, lambda proof, solver: _of_certificates(proof)),
    InvariantFile: (Invariant.read, lambda proof, solver: _of_certificates(proof)),
    RoundsFile: (read_rounds, check_rounds),
    ProofFile: (read_result, check_windows),
}
