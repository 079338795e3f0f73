"""The saved state of a proof: the constants with their edges, and the verdict on every lemma.

`prove` saves the state after each step, so that an interrupted proof can resume. The state is a JSON file with exact
numbers. Folders beside this file have the traces, for `ccmatic replay`, and the certificates.
"""

import gzip
import hashlib
import json
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from ccmatic import __version__, controllers, records
from ccmatic.base import InputError, definitions, located, markup, opened, parse_json, read_text, write_text
from ccmatic.contracts import Exclusion, RoundProof, beyond, file_stem, load_definition
from ccmatic.networks.traces import Trace
from ccmatic.proving.lemma_prover import Answer, Optimum
from ccmatic.questions.query import Decides
from ccmatic.records import ABSENT, AnswerRecord, ConstantRecord, ControllerRecord, ProofFile

#: The largest size of an unpacked certificate, in bytes.
LARGEST = 100 * 10**6


@dataclass
class Result:
    """The constants and answers of a proof so far."""

    #: The path of the JSON file; None if the result is not saved.
    file: Path | None
    proof: str
    controller: Decides
    #: The number of points T of a window, which spans T - 1 steps.
    horizon: int
    #: A digest of the proof's file, and of its model, if that is the user's. The digest reveals later edits of these
    #: files.
    definition: str
    constants: dict[str, Optimum] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    #: the names of the windows in the file whose traces do not exist any more; `check` finds such windows again
    lost: set[str] = field(default_factory=set)

    @property
    def values(self):
        return {name: optimum.value for name, optimum in self.constants.items()}

    @property
    def traces(self):
        return self.file.with_name(f"{self.file.stem}-traces")

    def save(self):
        """Write the file, and the traces that do not exist yet. Without a file, this method does nothing."""
        if self.file is None:
            return
        for about, answer in self._traced():
            file = self.traces / f"{file_stem(about)}.json"
            if answer.trace and not file.exists():
                self.traces.mkdir(exist_ok=True)
                answer.trace.save(file)
        write_text(self.file, json.dumps(self.data(), indent=1, ensure_ascii=False) + "\n")

    def remove(self):
        if self.file is None:
            return
        for about, _ in self._traced():
            (self.traces / f"{file_stem(about)}.json").unlink(missing_ok=True)
        with suppress(OSError):  # Other files may be in the folder.
            self.traces.rmdir()
        self.file.unlink(missing_ok=True)
        self.file = None

    def with_window(self, error):
        """Attach this Result to a NoValue, save the error's window, and name the window's file in the error message."""
        error.result = self
        if error.trace is None or self.file is None:
            return error
        file = self.traces / f"{file_stem(f'no {error.constant}')}.json"
        self.traces.mkdir(exist_ok=True)
        error.trace.save(file)
        error.message += f"; the window is {file} (see it: ccmatic replay {file} --html window.html)"
        return error

    def data(self):
        return records.data(
            ProofFile(
                made_by=f"ccmatic {__version__}",
                proof=self.proof,
                definition=self.definition,
                controller=ControllerRecord(self.controller.name, self.controller.source),
                horizon=self.horizon,
                constants={name: self._constant(name, optimum) for name, optimum in self.constants.items()},
                lemmas=[self._answer(answer, answer.lemma) for answer in self.answers.values()],
            )
        )

    def _traced(self):
        """Return each answer that may have a trace, with the file name of the trace."""
        edges = {beyond(name): optimum.edge for name, optimum in self.constants.items() if optimum.edge}
        return [*edges.items(), *self.answers.items()]

    def _constant(self, name, optimum):
        edge = self._answer(optimum.edge, beyond(name)) if optimum.edge else None
        return ConstantRecord(optimum.value, edge, [list(pair) for pair in optimum.front])

    def _answer(self, answer, about):
        trace = f"{file_stem(about)}.json" if answer.trace or about in self.lost else ABSENT
        return AnswerRecord(
            answer.lemma, answer.verdict, round(answer.seconds, 2), trace=trace, empty=answer.empty or ABSENT
        )


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


def certificate_file(result: Result, lemma: str) -> Path:
    """Return the path of a lemma's certificate. The file need not exist."""
    if result.file is None:
        raise ValueError("a result without a file has no certificates")
    return result.file.with_name(f"{result.file.stem}-certificates") / f"{file_stem(lemma)}.json.gz"


def read_certificate(file: Path) -> Any:
    """Return the JSON data of a certificate. Raise InputError if the file contains none."""
    with opened(file) as stored:
        try:
            text = gzip.GzipFile(fileobj=stored).read(LARGEST + 1)
            if len(text) > LARGEST:
                raise InputError(f"no certificate: larger than {LARGEST // 10**6} MB, unpacked", str(file))
            return json.loads(text)
        except (ValueError, EOFError, zlib.error, gzip.BadGzipFile, RecursionError) as error:
            raise InputError(f"no certificate: {error}", str(file)) from None


def begin_result(folder, prover, proof):
    """Return the Result of an earlier run in a folder, from which a prover can resume.

    Without such a run, return an empty Result.
    """
    names = dict.fromkeys((Path(proof).stem, prover.controller.name))
    file = None if folder is None else Path(folder) / f"{'-'.join(names)}_T{prover.query.horizon}.json"
    definition = digest(prover.name, prover.proof.model)
    fresh = Result(file, prover.name, prover.controller, prover.query.horizon, definition)
    if file is None or not file.exists():
        return fresh
    saved = load_result(file, own=prover.name)
    about = [(r.proof, r.controller.source, r.controller.name, r.horizon) for r in (saved, fresh)]
    if about[0] != about[1] or saved.definition not in (fresh.definition, *prover.proof.formerly):
        raise InputError(
            "it belongs to another version of the proof, its model or the controller; remove it, or set another --out",
            str(file),
        )
    return saved


def earlier_constants(folder, result):
    """Return the constants of related proofs in a folder, by name, as starting points for the search.

    A proof is related if its windows have the same length, and if it has the same definition or the same controller.
    Each constant has its value, and the lemma that failed at the next better value.
    """
    proofs = []
    for file in sorted(Path(folder).glob(f"*_T{result.horizon}.json")) if folder else ():
        with suppress(InputError):
            about = records.convert(parse_json(read_text(file)), ProofFile)
            if result.proof == about.proof or result.controller.name == about.controller.name:
                constants = {name: (each.value, each.edge.lemma) for name, each in about.constants.items() if each.edge}
                proofs.append(constants)
    return proofs


def earlier_windows(folder, result):
    """Return the windows in a folder that break a lemma of the same proof, without duplicates."""
    windows = {}
    for file in sorted(Path(folder).glob(f"*_T{result.horizon}-traces/*.json")) if folder else ():
        with suppress(InputError):
            trace = Trace.load(file)
            if trace.query["property"].get("proof") == result.proof:
                windows.setdefault(tuple(trace.columns.items()), trace)
    return list(windows.values())


def load_result(file, allow_code=False, own=None):
    """Load a Result from a file.

    Unless `allow_code`, the proof may be the path of a file only if it is `own`, whose code has already run.
    """
    with located(str(file)):
        return read_result(Path(file), parse_json(read_text(Path(file)), str(file)), allow_code, own)


def read_result(file, data, allow_code, own=None):
    """Return the Result that a file has as JSON data; see `load_result`."""
    records.require_format(data, ProofFile)
    read = records.convert(data, ProofFile, what="not a proof of ccmatic")
    allow_code = allow_code or read.proof == own
    proof = load_definition("proofs", "PROOF", read.proof, allow_code)
    if isinstance(proof, RoundProof):
        raise InputError(f"its proof {read.proof} is about rounds; expected a proof about windows")
    observations = load_definition("models", "MODEL", proof.model, allow_code).observations
    controller = controllers.parse(read.controller.source, read.controller.name, observations=observations)
    result = Result(file, read.proof, controller, read.horizon, read.definition)
    for name, about in read.constants.items():
        edge = about.edge and _answer(result, about.edge, beyond(name))
        result.constants[name] = Optimum(about.value, edge, tuple(about.front))
    for about in read.lemmas:
        result.answers[about.lemma] = _answer(result, about, about.lemma)
    strange = _difference(data, result.data(), "the file")
    if strange:
        raise InputError(f"not a proof in the form that ccmatic writes: {strange}")
    return result


def digest(proof, model=None):
    """Return the SHA-256 of the text of a proof's definition, and of the text of its model, if that is the user's."""
    path = Path(proof) if definitions.is_path(proof) else definitions.find_file(["proofs"], proof, ".py")
    texts = [read_text(path), *definitions.own_texts({"models": model}).values()]
    return hashlib.sha256("".join(texts).encode()).hexdigest()


def _answer(result, about, what):
    trace, file = None, result.traces / f"{file_stem(what)}.json"
    if about.trace and file.exists():
        trace = Trace.load(file)
    elif about.trace:
        result.lost.add(what)
    return Answer(about.lemma, about.verdict, about.seconds, trace, bool(about.empty))


def _difference(written, expected, where):
    """Return the place where a file differs from the output of ccmatic, except for versions and times; or None."""
    if isinstance(written, dict) and isinstance(expected, dict) and written.keys() == expected.keys():
        pairs = [
            (written[key], expected[key], f"{where}, {key}") for key in written if key not in ("made_by", "seconds")
        ]
    elif isinstance(written, list) and isinstance(expected, list) and len(written) == len(expected):
        pairs = [(one, other, f"{where}[{i}]") for i, (one, other) in enumerate(zip(written, expected, strict=True))]
    elif type(written) is type(expected) and not isinstance(written, dict | list) and written == expected:
        return None
    else:
        return f"{where} is {_short(written)}; expected {_short(expected)}"
    return next(filter(None, (_difference(*pair) for pair in pairs)), None)


def _short(data):
    text = json.dumps(data, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
