"""What `prove` has found, on disk: constants with their edges, and the verdict on every lemma; saved after each step,
so that a killed proof goes on. One JSON file, exact, and beside it a folder of traces, each for `ccmatic replay`."""

import hashlib
import json
import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from ccmatic import __version__, cca, definitions
from ccmatic.errors import InputError, located
from ccmatic.files import read_text, write_text
from ccmatic.prove import Answer, Found
from ccmatic.trace import Trace

FORMAT = "ccmatic proof 1"


@dataclass
class Result:
    """proof: its name or path; controller: a Controller; horizon: T. constants: name to Found. answers: lemma to
    Answer. definition: a digest of the proof's file, so that one that was edited is told from this. allow_code: whether
    the proof may be a file of a person's own, whose code is run."""

    file: Path
    proof: str
    controller: object
    horizon: int
    definition: str
    allow_code: bool = False
    constants: dict = field(default_factory=dict)
    answers: dict = field(default_factory=dict)

    @property
    def values(self):
        """The constants alone."""
        return {name: found.value for name, found in self.constants.items()}

    @property
    def traces(self):
        """The folder of the traces."""
        return self.file.with_name(f"{self.file.stem}-traces")

    def save(self):
        """Write the file and the traces that are not there yet."""
        data = {
            "format": FORMAT,
            "made_by": f"ccmatic {__version__}",
            "proof": self.proof,
            "definition": self.definition,
            "controller": {"name": self.controller.name, "source": self.controller.source},
            "horizon": self.horizon,
            "constants": {name: self._constant(name, found) for name, found in self.constants.items()},
            "lemmas": [self._answer(answer, answer.lemma) for answer in self.answers.values()],
        }
        write_text(self.file, json.dumps(data, indent=1, ensure_ascii=False) + "\n")

    def _constant(self, name, found):
        edge = self._answer(found.edge, f"beyond {name}") if found.edge else None
        front = [[str(other), None if best is None else str(best)] for other, best in found.front]
        return {"value": str(found.value), "edge": edge, "front": front}

    def _answer(self, answer, about):
        data = {"lemma": answer.lemma, "verdict": answer.verdict, "seconds": round(answer.seconds, 2)}
        if answer.trace:
            file = self.traces / f"{re.sub('[^A-Za-z0-9]+', '_', about)}.json"
            if not file.exists():
                self.traces.mkdir(exist_ok=True)
                answer.trace.save(file)
            data["trace"] = file.name
        return data


def begin(folder, prover, proof):
    """The Result of a prover in a folder, as far as an earlier run came. Raises InputError if that one was of another
    definition or controller."""
    names = dict.fromkeys((Path(proof).stem, prover.controller.name))
    file = Path(folder) / f"{'-'.join(names)}_T{prover.query.horizon}.json"
    fresh = Result(file, prover.name, prover.controller, prover.query.horizon, digest(prover.name), allow_code=True)
    if not file.exists():
        return fresh
    known = load(file, allow_code=True)
    if known.definition != fresh.definition or known.controller.source != fresh.controller.source:
        raise InputError("it is of another version of the proof or of the controller; remove it, or give another --out",
                         str(file))
    return known


def load(file, allow_code=False):
    """The Result in a file. Raises InputError, also if its proof is a path that `allow_code` does not allow."""
    file = Path(file)
    try:
        data = json.loads(read_text(file))
        if data["format"] != FORMAT:
            raise InputError(f"the format is '{data['format']}'; expected '{FORMAT}'", str(file))
        with located(str(file)):
            definitions.load("proofs", "PROOF", data["proof"], allow_code)
        controller = cca.parse(data["controller"]["source"], data["controller"]["name"])
        result = Result(file, data["proof"], controller, int(data["horizon"]), data["definition"], allow_code)
        for name, about in data["constants"].items():
            front = tuple((Fraction(other), best and Fraction(best)) for other, best in about["front"])
            edge = about["edge"] and _answer(result, about["edge"])
            result.constants[name] = Found(Fraction(about["value"]), edge, front)
        for about in data["lemmas"]:
            result.answers[about["lemma"]] = _answer(result, about)
    except (json.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"not a proof of ccmatic: {type(error).__name__} {error}", str(file)) from None
    return result


def digest(proof):
    """Of the text of a proof's definition."""
    path = Path(proof) if definitions.is_path(proof) else definitions.find_file(["proofs"], proof, ".py")
    return hashlib.sha256(read_text(path).encode()).hexdigest()


def _answer(result, about):
    trace = Trace.load(result.traces / about["trace"]) if about.get("trace") else None
    return Answer(about["lemma"], about["verdict"], float(about["seconds"]), trace)
