"""Proofs for networks: an invariant of the envelope that contains the network."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccmatic import records
from ccmatic.base import InputError, writable_folder, write_text
from ccmatic.controllers import Controller
from ccmatic.logic import isolated
from ccmatic.logic.solving import UNSAT, Checker
from ccmatic.proving.enclosures.decisions import LOWER, UPPER, units
from ccmatic.proving.enclosures.envelope import enclose, is_tightest
from ccmatic.proving.invariants import Answer, Claim, Invariant, Proved, derive
from ccmatic.proving.invariants import prove as prove_invariant
from ccmatic.questions.query import Query
from ccmatic.records import ControllerRecord, EnclosedFile

#: The least number of units at which an envelope proves a controller. Spacer alone takes too long for such networks.
MANY = 4


@dataclass(frozen=True, kw_only=True)
class Enclosed(Proved):
    """The outcome of a proof attempt about a network.

    The answer is PROVED, or UNKNOWN. A claim that the envelope breaks may still hold for the network. The invariant is
    about the envelope.

    Attributes:
        controller: The network.
        envelope: The text of the envelope that contains the network.
    """

    controller: Controller
    envelope: str

    def save(self, folder: str | Path, name: str) -> Path:
        """Write the network and the proof to a file in a folder, and return the file.

        Raises:
            InputError: If the claim is not proved, or the file cannot be written.
        """
        if self.invariant is None:
            raise InputError(f"{self.claim} has no proof")
        network = ControllerRecord(self.controller.name, self.controller.source)
        file: Path = writable_folder(Path(folder)) / f"{name}.json"
        data = records.data(EnclosedFile(network=network, invariant=self.invariant.record()))
        write_text(file, json.dumps(data, separators=(",", ":")) + "\n")
        return file

    def fault(self) -> str | None:
        """Return the reason why this data does not prove the claim, or None. The searches are not trusted."""
        return "it has no invariant" if self.invariant is None else fault(self.controller, self.invariant)


def fault(controller: Controller, invariant: Invariant) -> str | None:
    """Return the reason why an invariant does not prove its claim about a network, or None.

    The invariant is about an envelope. The envelope has to contain the network.

    Args:
        controller: The network.
        invariant: The invariant, such as `invariants.load_invariant` returns it.

    Raises:
        InputError: If the controller is no network that `enclose` accepts.
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
    checker = Checker()
    for each in (*system.current, *system.step):
        checker.add(each)
    checker.add(system.relative(beliefs[UPPER][system.now] - beliefs[LOWER][system.now]) < 0)
    return checker.check() == UNSAT


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


def attempt(query: Query, controller: Controller, claim: Claim, seconds: float = 60, jobs: int = 1) -> Proved:
    """Search for a proof of a claim: by an envelope for a network of many units, by an invariant for other controllers.

    The arguments are those of `prove`.

    Raises:
        InputError: If `prove` or `invariants.prove` raises it.
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
