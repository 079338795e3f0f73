"""Proofs for networks: an invariant of the envelope that contains the network.

A proof has a file of its own. The metadata of an ONNX file can name the proofs about its network.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ccmatic import controllers
from ccmatic.base import InputError, shown, writable_folder
from ccmatic.controllers import Controller
from ccmatic.language import neural as networks
from ccmatic.language.neural import CLAIMS, PROOFS
from ccmatic.logic import isolated
from ccmatic.logic.solving import UNSAT
from ccmatic.proving.enclosures.envelope import LOWER, UPPER, enclose, is_tightest, units
from ccmatic.proving.invariants.claims import Claim
from ccmatic.proving.invariants.engine import Answer
from ccmatic.proving.invariants.forms import checker_of
from ccmatic.proving.invariants.proof import Proved
from ccmatic.proving.invariants.proof import prove as prove_invariant
from ccmatic.proving.invariants.saved import Invariant, Saved
from ccmatic.proving.invariants.transition import derive
from ccmatic.questions.query import Query
from ccmatic.records import ControllerRecord, EnclosedFile

#: The least number of units at which an envelope proves a controller. Spacer alone takes too long for such networks.
MANY = 4


@dataclass(frozen=True)
class SavedProof(Saved):
    """A proof of a claim about a network, by an invariant of an envelope that contains the network."""

    controller: Controller
    invariant: Invariant

    FILE = EnclosedFile
    WRONG = "no proof about a network"

    def fault(self) -> str | None:
        return fault(self.controller, self.invariant)

    def record(self) -> EnclosedFile:
        network = ControllerRecord(self.controller.name, self.controller.source)
        return EnclosedFile(network=network, invariant=self.invariant.record())

    @classmethod
    def of_record(cls, read: EnclosedFile, allow_code: bool = False) -> "SavedProof":
        invariant = Invariant.of_record(read.invariant, allow_code)
        network = invariant.query.read_controller(read.network.source, read.network.name)
        if not isinstance(network, Controller):
            raise InputError(f"{network.name} is no network; expected a controller that sets a rate")
        return SavedProof(network, invariant)


@dataclass(frozen=True, kw_only=True)
class Enclosed(Proved):
    """The outcome of a proof attempt about a network.

    The answer is PROVED, or UNKNOWN. A claim that the envelope breaks may still hold for the network. The invariant is
    about the envelope.
    """

    controller: Controller
    envelope: str

    def save(self, folder: str | Path, name: str) -> Path:
        if self.invariant is None:
            raise InputError(f"{self.claim} has no proof")
        return SavedProof(self.controller, self.invariant).save(folder, name)

    def fault(self) -> str | None:
        """Return the reason why this data does not prove the claim, or None. The searches are not trusted."""
        return "it has no invariant" if self.invariant is None else fault(self.controller, self.invariant)


def fault(controller: Controller, invariant: Invariant) -> str | None:
    """Return the reason why an invariant does not prove its claim about a network, or None.

    The invariant is about an envelope. The envelope has to contain the network.
    """
    envelope, widest = invariant.controller, _widest(invariant.query, controller)
    if envelope.meaning != widest.meaning and not (
        is_tightest(envelope, controller, ordered=True) and _are_ordered(invariant.query, widest)
    ):
        return f"the envelope does not contain {controller.name}, or is not its tightest envelope"
    return invariant.fault()


def _widest(query: Query, controller: Controller, seconds: float = 60) -> Any:
    """Return the envelope of a network for all beliefs, also for those that are false."""
    return query.read_controller(enclose(controller, seconds), f"{controller.name}_envelope")


@isolated
def _are_ordered(query: Query, envelope: Any) -> bool:
    """Return whether C_L ≤ C_U holds at each decision of a network, by the laws of the query's network.

    The laws are those of the envelope for all beliefs, whose executions include those of the network.
    """
    if UPPER not in envelope.parameters:
        return True
    system = derive(query, envelope)
    beliefs = system.x.beliefs
    false = system.relative(beliefs[UPPER][system.now] - beliefs[LOWER][system.now]) < 0
    return checker_of((*system.current, *system.step, false)).check() == UNSAT


def prove(query: Query, controller: Controller, claim: Claim, seconds: float = 60, jobs: int = 1) -> Enclosed:
    """Search for a proof of a claim about a network, by an envelope that contains the network.

    Args:
        query: The query, as in `invariants.prove`.
        controller: A network that `enclose` accepts.
        claim: The claim.
        seconds: The budget of each of the two searches.
        jobs: The number of processes.

    Raises:
        InputError: If `enclose` or `invariants.prove` raises it.
    """
    envelope = _widest(query, controller, seconds)
    if _are_ordered(query, envelope):
        envelope = query.read_controller(enclose(controller, seconds, ordered=True), envelope.name)
    outcome = prove_invariant(query, envelope, claim, seconds, jobs)
    answer = Answer.PROVED if outcome.answer is Answer.PROVED else Answer.UNKNOWN
    found = outcome.invariant, outcome.seconds, outcome.settings
    return Enclosed(claim, answer, *found, controller=controller, envelope=envelope.source)


def attempt(query: Query, controller: Any, claim: Claim, seconds: float = 60, jobs: int = 1) -> Proved:
    """Search for a proof of a claim: by an envelope for a network of many units, by an invariant for other controllers.

    The arguments are those of `prove`.
    """
    by_envelope = is_network(controller)
    return (prove if by_envelope else prove_invariant)(query, controller, claim, seconds, jobs)


def is_network(controller: Any) -> bool:
    """Return whether a controller is an ONNX file, or a network of many units."""
    if Path(controller.file or "").suffix == ".onnx":
        return True
    if not isinstance(controller, Controller) or controller.is_envelope:
        return False
    try:
        return units(controller) >= MANY
    except InputError:
        return False


def folder_of(file: Path) -> Path:
    return file.parent / f"{file.stem}-proofs"


def digest(file: Path) -> str:
    """Return the digest by which an ONNX file names a proof."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def notes_of(proofs: Mapping[Path, object]) -> dict[str, str]:
    """Return the metadata of an ONNX file that name its proofs."""
    return {CLAIMS: "; ".join(map(str, proofs.values())), PROOFS: " ".join(map(digest, proofs))}


def carry(proof: Enclosed, folder: Path, name: str) -> Path:
    """Write a copy of an ONNX file whose metadata name its proofs, and return the copy.

    The folder of the proofs lies beside the copy. If it has earlier proofs of the same network, the metadata name them
    as well.
    """
    original = Path(str(proof.controller.file))
    copy: Path = writable_folder(folder) / original.name
    latest = proof.save(folder_of(copy), name)
    proofs = {latest: proof.claim} | {
        each: saved.invariant.claim
        for each in sorted(folder_of(copy).glob("*.json"))
        if each != latest and (saved := _of_network(each, proof.controller.source))
    }
    networks.annotate(original, notes_of(proofs), copy)
    return copy


def _of_network(file: Path, source: str) -> SavedProof | None:
    try:
        proof = SavedProof.load(file)
    except InputError:
        return None
    return proof if proof.controller.source == source else None


def proofs_of(file: str | Path, allow_code: bool = False) -> list[SavedProof]:
    """Return the proofs that the metadata of an ONNX file name. They are about the network of this file."""
    path = Path(file)
    notes = networks.read(path).notes
    names = notes.get(PROOFS, "").split()
    if not names:
        raise InputError(f"the metadata name no proof; expected '{PROOFS}', as `prove` writes it", str(path))
    folder = folder_of(path)
    by_digest = {digest(each): each for each in sorted(folder.glob("*.json"))}
    absent = [name for name in names if name not in by_digest]
    if absent:
        raise InputError(f"no file of {folder} has the digest {absent[0]}; expected the proof", str(path))
    network = controllers.load(path)
    proofs = [replace(SavedProof.load(by_digest[name], allow_code), controller=network) for name in names]
    claims = "; ".join(str(proof.invariant.claim) for proof in proofs)
    if notes.get(CLAIMS) != claims:
        raise InputError(f"the metadata claim '{shown(notes.get(CLAIMS))}'; expected '{claims}', as proved", str(path))
    return proofs
