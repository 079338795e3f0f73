"""Saved proofs about networks: as a file, and as the proofs that the metadata of an ONNX file name."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ccmatic import controllers, records
from ccmatic.base import InputError, located, read_text, shown, writable_folder
from ccmatic.controllers import Controller
from ccmatic.language import neural as networks
from ccmatic.language.neural import CLAIMS, PROOFS
from ccmatic.proving.enclosures.proof import Enclosed, fault
from ccmatic.proving.invariants import Invariant
from ccmatic.records import EnclosedFile


@dataclass(frozen=True)
class SavedProof:
    """A saved proof of a claim about a network.

    Attributes:
        controller: The network.
        invariant: The invariant of an envelope.
    """

    controller: Controller
    invariant: Invariant

    def fault(self) -> str | None:
        """Return the reason why this data does not prove the claim about the network, or None."""
        return fault(self.controller, self.invariant)


def is_saved(data: object) -> bool:
    """Return whether a file's JSON data says that it is a proof about a network."""
    return records.has_format(data, EnclosedFile)


def load_proof(file: str | Path, allow_code: bool = False) -> SavedProof:
    """Load a proof about a network from a file.

    Args:
        file: The path.
        allow_code: Whether the file may name models by paths, whose code then runs.

    Raises:
        InputError: If the file has no such proof.
    """
    path = Path(file)
    with located(str(path)):
        read = records.read_record(read_text(path), EnclosedFile, str(path), "no proof about a network")
        invariant = Invariant.of_record(read.invariant, allow_code)
        network = invariant.query.read_controller(read.network.source, read.network.name)
        if not isinstance(network, Controller):
            raise InputError(f"{network.name} is no network; expected a controller that sets a rate")
        return SavedProof(network, invariant)


def folder_of(file: Path) -> Path:
    """Return the folder with the proofs that an ONNX file names."""
    return file.parent / f"{file.stem}-proofs"


def digest(file: Path) -> str:
    """Return the digest by which an ONNX file names a proof."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def notes_of(proofs: Mapping[Path, object]) -> dict[str, str]:
    """Return the metadata of an ONNX file that name its proofs.

    Args:
        proofs: The claim of each proof, by the file of the proof.
    """
    return {CLAIMS: "; ".join(map(str, proofs.values())), PROOFS: " ".join(map(digest, proofs))}


def carry(proof: Enclosed, folder: Path, name: str) -> Path:
    """Write a copy of an ONNX file whose metadata name its proofs, and return the copy.

    The folder of the proofs lies beside the copy. If it has earlier proofs of the same network, the metadata name them
    as well.

    Args:
        proof: A proof about the network of an ONNX file.
        folder: The folder for the copy.
        name: The name of the proof's file, without its suffix.

    Raises:
        InputError: If the claim is not proved, or a file cannot be written.
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
    """Return the proof of a file, if it is a proof about the network of a source."""
    try:
        proof = load_proof(file)
    except InputError:
        return None
    return proof if proof.controller.source == source else None


def proofs_of(file: str | Path, allow_code: bool = False) -> list[SavedProof]:
    """Return the proofs that the metadata of an ONNX file name. They are about the network of this file.

    Args:
        file: The path of the ONNX file. Its proofs lie in the folder NAME-proofs beside it.
        allow_code: Whether a proof may name models by paths, whose code then runs.

    Raises:
        InputError: If the file names no proof, a proof is absent, or the metadata claim something else.
    """
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
    proofs = [replace(load_proof(by_digest[name], allow_code), controller=network) for name in names]
    claims = "; ".join(str(proof.invariant.claim) for proof in proofs)
    if notes.get(CLAIMS) != claims:
        raise InputError(f"the metadata claim '{shown(notes.get(CLAIMS))}'; expected '{claims}', as proved", str(path))
    return proofs
