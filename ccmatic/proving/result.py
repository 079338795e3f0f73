"""The saved state of a proof: the constants with their edges, and the verdict on every lemma.

`prove` saves the state after each step, so that an interrupted proof can resume. The state is a JSON file with exact
numbers. A folder beside this file has the traces, for `ccmatic replay`.
"""

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ccmatic import __version__, controllers, records
from ccmatic.base import InputError, definitions, located, parse_json, read_text, write_text
from ccmatic.contracts import RoundProof, beyond, file_stem, load_definition
from ccmatic.networks.traces import Trace
from ccmatic.proving.lemma_prover import Answer, Optimum
from ccmatic.questions.query import Decides
from ccmatic.records import ABSENT, AnswerRecord, ConstantRecord, ControllerRecord, ProofFile


@dataclass
class Result:
    """The constants and answers of a proof so far.

    Attributes:
        file: The path of the JSON file; None if the result is not saved.
        proof: The name or path of the proof.
        controller: The controller.
        horizon: The number of points T of a window, which spans T - 1 steps.
        definition: A digest of the proof's file, and of its model, if that is the user's. The digest reveals later
            edits of these files.
        constants: The Optimum of each constant, by name.
        answers: The Answer to each lemma, by name.
        lost: The names of the windows in the file whose traces do not exist any more. `check` finds such windows again.
    """

    file: Path | None
    proof: str
    controller: Decides
    horizon: int
    definition: str
    constants: dict[str, Optimum] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)

    @property
    def values(self):
        """The value of each constant, by name."""
        return {name: optimum.value for name, optimum in self.constants.items()}

    @property
    def traces(self):
        """The folder of the traces."""
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
        """Remove the file and the traces."""
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
        """Return the content of the file, as data for JSON."""
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


def begin_result(folder, prover, proof):
    """Return the Result of an earlier run in a folder, from which a prover can resume.

    Without such a run, return an empty Result.

    Args:
        folder: The folder, or None.
        prover: The Prover.
        proof: The name or path of the proof.

    Raises:
        InputError: If the earlier run has another definition or controller.
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
    """Return the constants of related proofs in a folder, as starting points for the search.

    A proof is related if its windows have the same length, and if it has the same definition or the same controller.

    Args:
        folder: The folder, or None.
        result: The Result of the current proof.

    Returns:
        One dict for each proof. A dict maps a constant's name to a pair: the constant's value, and the lemma that
        failed at the next better value.
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
    """Return the windows in a folder that break a lemma of the same proof, without duplicates.

    Args:
        folder: The folder, or None.
        result: The Result of the current proof. The windows have the same horizon as this Result.
    """
    windows = {}
    for file in sorted(Path(folder).glob(f"*_T{result.horizon}-traces/*.json")) if folder else ():
        with suppress(InputError):
            trace = Trace.load(file)
            if trace.query["property"].get("proof") == result.proof:
                windows.setdefault(tuple(trace.columns.items()), trace)
    return list(windows.values())


def load_result(file, allow_code=False, own=None):
    """Load a Result from a file.

    Args:
        file: The path of the file.
        allow_code: Whether the proof may be given by the path of a file, whose code is then run.
        own: The path of a proof that is always allowed, because the proof's code has already run.

    Raises:
        InputError: If the file is invalid, or if its proof is a path and paths are not allowed.
    """
    file = Path(file)
    with located(str(file)):
        data = parse_json(read_text(file), str(file))
        records.require_format(data, ProofFile)
        read = records.convert(data, ProofFile, what="not a proof of ccmatic")
        result = _result(file, read, allow_code or read.proof == own)
        strange = _difference(data, result.data(), "the file")
        if strange:
            raise InputError(f"not a proof in the form that ccmatic writes: {strange}")
    return result


def _result(file, read, allow_code):
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
