"""Proofs of tests/proofs/drains.py, and their forgery: whatever a forger does, the digests of traces and definition are
made to fit."""

import hashlib
import json

from ccmatic.base.errors import InputError
from ccmatic.controllers import parse
from ccmatic.networks.traces.trace import Trace
from ccmatic.proving import constants, proof_search
from ccmatic.proving import prover as prove
from ccmatic.proving import result as proved
from ccmatic.proving.proof_check import check_windows
from support import TESTS

DRAINS = TESTS / "proofs" / "drains.py"
SOURCE = "def rate(R_m, MSS):\n    return MSS / R_m\n"


class Forgery:
    """A proof in a folder of its own, with its definition; `definition`, `edit` and `edit_trace` change it."""

    def __init__(self, folder, source=SOURCE, name="tardy", horizon=5):
        self.folder, self.path = folder, folder / "drains.py"
        self.path.write_text(DRAINS.read_text())
        prover = prove.Prover(str(self.path), parse(source, name), horizon)
        result = proved.begin_result(folder, prover, str(self.path))
        constants.search(prover, result)
        constants.decide(prover, result)
        list(proof_search.make_certificates(result, prover, ["long: progresses"]))
        self.file, self.controller, self.horizon = result.file, prover.controller, horizon
        self.kept = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}

    def restore(self):
        """Restore the honest proof."""
        for file in [file for file in self.folder.rglob("*") if file.is_file()]:
            if file not in self.kept:
                file.unlink()
        for file, content in self.kept.items():
            file.write_bytes(content)

    def edit(self, change):
        """Change the data of the proof's file."""
        data = json.loads(self.file.read_text())
        change(data)
        self.file.write_text(json.dumps(data))

    def edit_trace(self, name, **changes):
        """Change a window, `query`, `controller`, …; its digest fits."""
        trace = Trace.load(self.trace(name))
        for key, value in changes.items():
            object.__setattr__(trace, key, value(getattr(trace, key)))
        trace.save(self.trace(name))

    def trace(self, name):
        """The file of a window."""
        return self.file.with_name(f"{self.file.stem}-traces") / f"{name}.json"

    def certificate(self, name):
        """The file of a lemma's certificate."""
        return self.file.with_name(f"{self.file.stem}-certificates") / f"{name}.json.gz"

    def define(self, old, new):
        """Change the text of the definition, and its digest in the proof's file."""
        text = self.path.read_text()
        assert old in text
        self.path.write_text(text.replace(old, new))
        digest = hashlib.sha256(self.path.read_bytes()).hexdigest()
        self.edit(lambda data: data.update(definition=digest))

    def faults(self):
        """What `check` finds wrong, by what it is about; `file` for what it cannot read."""
        try:
            result = proved.load_result(self.file, allow_code=True)
            return {found.about: found.fault for found in check_windows(result) if found.fault}
        except InputError as error:
            return {"file": error.message}

    def accepted(self):
        """Whether `check` finds no fault; it looks no further than the first."""
        try:
            return not any(found.fault for found in check_windows(proved.load_result(self.file, allow_code=True)))
        except InputError:
            return False

    def unchecked(self):
        """What `check` says it did not check."""
        result = proved.load_result(self.file, allow_code=True)
        return {found.about: found.how for found in check_windows(result) if not found.checked}
