"""The check of a proof that trusts nothing that `prove` computed: what its file says is compared with its definition,
every lemma, edge and front is decided anew, and what is left is said not to have been checked."""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from ccmatic import certificates, verification
from ccmatic.base import InputError, OutOfTime, definitions, markup, opened, writable_folder, write_bytes
from ccmatic.contracts import file_stem
from ccmatic.proving.prover import Answer, Prover
from ccmatic.proving.result import Result, digest
from ccmatic.solving import SolverOptions
from ccmatic.verification import HOLDS, UNDECIDED, VIOLATED

ACCEPTED, REJECTED, UNKNOWN = "accepted", "rejected", "unknown"

#: Bytes of a certificate, unpacked, at most.
LARGEST = 100 * 10**6


@dataclass(frozen=True)
class Finding:
    """about: a lemma, a constant's edge, or the whole. fault: what is wrong, or None. how: it was checked. checked:
    False for what is as it is told, and `how` says what that is. unknown: whether the fault is but that no answer came
    in time."""

    about: str
    fault: str | None
    how: str = ""
    checked: bool = True
    unknown: bool = False


class Check:
    """The check of a proof. Iterate over it for each Finding as soon as it is made; `verdict` makes all that are left.
    An error ends it."""

    def __init__(self, result: Result, findings: Iterator[Finding]):
        self.result = result
        self._left, self._made = findings, []

    def __iter__(self) -> Iterator[Finding]:
        yield from self._made
        for finding in self._left:
            self._made.append(finding)
            yield finding

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them."""
        return tuple(self)

    @property
    def verdict(self) -> str:
        """`accepted`, `rejected`, or `unknown` where nothing but time was wanting."""
        faults = [finding for finding in self if finding.fault]
        return ACCEPTED if not faults else UNKNOWN if all(finding.unknown for finding in faults) else REJECTED

    def __repr__(self):
        verdict = f"{self.verdict}" if self._made else "not begun"
        return f"<check of {self.result.file}: {verdict}>"

    def _repr_html_(self):
        rows = [(finding.about, finding.fault or finding.how, finding.checked) for finding in self]
        return markup.paragraphs([f"{self.result.file}: {self.verdict}"]) + markup.table(
            ("about", "found", "checked"), rows
        )


def check(result, isolate=iter, options=SolverOptions()) -> Check:
    """The Check of a Result. isolate: is given the iterator of the findings; options: SolverOptions."""
    return Check(result, isolate(_findings(result, options)))


def make_certificates(result, prover, names):
    """Write a certificate of each of these lemmas that holds, is not the paper's and has none yet; yields its name."""
    for name in names:
        lemma, file = prover.lemmas[name], _certificate_file(result, name)
        if result.answers[name].verdict == HOLDS and not lemma.paper and not file.exists():
            made = certificates.certify(prover.question(lemma, result.values))
            writable_folder(file.parent)
            write_bytes(file, gzip.compress(json.dumps(made, separators=(",", ":")).encode(), mtime=0))
            yield name


def _findings(result, options):
    """Check a Result; yields a Finding for each thing that must be so, and for what is not checked. A lemma with a
    certificate is checked by that, any other by the solvers of `options` (see `solver.Checker`)."""
    prover = Prover(result.proof, result.controller, result.horizon, options)
    yield _definition(result, prover.proof)
    yield _controller(result, prover.query)
    wrong = "; ".join(_wrong_constants(result, prover.proof))
    yield Finding("constants", wrong or None, "those declared, each in its range or as its author chose it")
    if wrong:
        return
    values = {constant.name: result.values[constant.name] for constant in prover.proof.constants}
    faults = "; ".join(prover.faults(values))
    yield Finding("progress adds up", faults or None, "order of the states, how windows join, steps of the measures")
    for lemma in prover.lemmas.values():
        yield _lemma(result, prover, lemma, values)
    for name in result.answers.keys() - prover.lemmas.keys():
        yield Finding(name, "the definition has no such lemma")
    yield from _edges(result, prover, values)
    yield from _fronts(result, prover, values)
    for exclusion in prover.left_out:
        yield Finding("left out", None, str(exclusion), False)
    yield Finding("words", None, "what the definition says in words or of the paper; the report and its diagram", False)


def _definition(result, proof):
    same = result.definition in (digest(result.proof), *proof.formerly)
    changed = "it has changed since (its digest is another than the file's); prove it again"
    how = f"{result.proof}, of the same text, or one that said the same"
    return Finding("definition", None if same else changed, how)


def _controller(result, query):
    """A shipped controller's name stands for its source; any other is but a label."""
    given = result.controller
    if not any(given.name in definitions.shipped(folder) for folder in definitions.CONTROLLERS):
        return Finding("controller", None, f"'{given.name}' is but a label of the source in the file", False)
    same = given.meaning == query.controller(given.name).meaning
    fault = None if same else f"its source is not that of '{given.name}'; expected another name or that source"
    return Finding("controller", fault, f"the source is that of '{given.name}'")


def _wrong_constants(result, proof):
    declared = {constant.name: constant for constant in proof.constants}
    missing = [name for name in declared if name not in result.constants]
    if missing:
        yield f"not all are known: {', '.join(missing)} missing"
    for name, optimum in result.constants.items():
        if name not in declared:
            yield f"the definition has no '{name}'"
        elif declared[name].at is not None and optimum.value != declared[name].at:
            yield f"{name} is {optimum.value}; expected {declared[name].at}, as the author chose"
        elif declared[name].at is None and optimum.value not in declared[name].grid():
            yield f"{name} is {optimum.value}, which is not a value of its range"


def _lemma(result, prover, lemma, values):
    """The verdict in the file is that of a window, of a certificate, or of solvers that are asked anew."""
    if lemma.name not in result.answers:
        return Finding(lemma.name, "the file has no verdict on it")
    recorded, file = result.answers[lemma.name], _certificate_file(result, lemma.name)
    if recorded.verdict == UNDECIDED and lemma.paper and not recorded.trace:
        return Finding(lemma.name, None, "without a verdict; the proof does not rest on it", False)
    empty = False
    if recorded.trace:
        fault, how, verdict = _breaks(prover, lemma, values, recorded.trace), "its window replayed", VIOLATED
    elif file.exists():
        outcome = certificates.check_certificate(prover.question(lemma, values), _read(file))
        fault, how = outcome.fault, f"certificate of {outcome.lemmas} inequalities and {outcome.steps} steps"
        fault, verdict = fault and f"its certificate: {fault}", HOLDS
        empty = not fault and prover.confirm(Answer(lemma.name, HOLDS, 0), values).empty
    else:
        answer = prover.confirm(prover.ask(lemma, values), values)
        how = f"asked anew, {answer.seconds:.1f} s"
        if answer.verdict == UNDECIDED:
            return Finding(lemma.name, "no answer in time", how, unknown=True)
        fault, verdict, empty = None, answer.verdict, answer.empty
    if not fault and verdict != HOLDS and not lemma.paper:
        fault = f"the lemma is {verdict}"
    if not fault and recorded.verdict != verdict:
        fault = f"the file says {recorded.verdict}; it is {verdict}"
    if not fault and recorded.empty and not empty:
        fault = "the file says that it is of no window; there is one"
    return Finding(lemma.name, fault, f"{verdict}: {how}" if lemma.paper else how)


def _edges(result, prover, values):
    for constant in prover.proof.constants:
        about, edge = f"edge of {constant.name}", result.constants[constant.name].edge
        better = _better(constant, values)
        if better is None:
            reason = "chosen by the author" if constant.at is not None else "at the end of its range"
            yield Finding(about, f"it has one; expected none, {reason}" if edge else None, reason)
        elif edge and edge.verdict == UNDECIDED and not edge.trace:
            yield Finding(about, None, f"whether {better} would do is not known", False)
        else:
            fault = _edge(prover, constant, edge, {**values, constant.name: better})
            yield Finding(about, fault, f"the window beyond it, at {better}, replayed")


def _edge(prover, constant, edge, beyond):
    """Why this is not the Answer that the next better value fails, or None."""
    if edge is None or edge.trace is None or edge.verdict != VIOLATED:
        return f"no window shows that {beyond[constant.name]}, which is better, will not do"
    limits = {lemma.name: lemma for lemma in prover.limits(constant)}
    if edge.lemma not in limits:
        return f"'{edge.lemma}' does not limit it; expected one of {', '.join(limits)}"
    return _breaks(prover, limits[edge.lemma], beyond, edge.trace)


def _better(constant, values):
    """The next better value; None at the end of the range, and for a constant that the author chose."""
    grid = constant.grid()
    if constant.at is not None or values[constant.name] == grid[-1]:
        return None
    return grid[grid.index(values[constant.name]) + 1]


def _breaks(prover, lemma, values, trace):
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


def _fronts(result, prover, values):
    """Each point of a front is found anew: the best value holds, the next better one does not."""
    before = None
    for constant in prover.proof.constants:
        points = result.constants[constant.name].front
        expected = before.front if before and constant.at is None else ()
        if tuple(other for other, _ in points) != expected:
            fault = f"its points are not those of the definition, {', '.join(map(str, expected)) or 'none'}"
            yield Finding(f"front of {constant.name}", fault)
            points = ()
        for other, best in points:
            about = f"{constant.name} where {before.name} is {other}"
            how = f"asked anew: {'not even the loosest will do' if best is None else best}"
            try:
                yield Finding(about, _point(prover, constant, best, {**values, before.name: other}), how)
            except OutOfTime:
                yield Finding(about, "no answer in time", how, unknown=True)
        before = constant


def _point(prover, constant, best, values):
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


def _first_fault(prover, limits, values):
    fault = prover.first_fault(limits, values)
    if fault and fault.verdict == UNDECIDED:
        raise OutOfTime(fault.lemma)
    return fault


def _certificate_file(result, lemma):
    return result.file.with_name(f"{result.file.stem}-certificates") / f"{file_stem(lemma)}.json.gz"


def _read(file):
    with opened(file) as stored:
        try:
            text = gzip.GzipFile(fileobj=stored).read(LARGEST + 1)
            if len(text) > LARGEST:
                raise InputError(f"no certificate: larger than {LARGEST // 10**6} MB, unpacked", str(file))
            return json.loads(text)
        except (ValueError, EOFError, zlib.error, gzip.BadGzipFile, RecursionError) as error:
            raise InputError(f"no certificate: {error}", str(file)) from None
