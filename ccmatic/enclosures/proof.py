"""Proofs for networks: an invariant of the envelope that contains the network."""

from dataclasses import dataclass

from ccmatic.controllers import Controller
from ccmatic.enclosures.envelope import contains, enclose
from ccmatic.invariants import Answer, Claim, Invariant
from ccmatic.invariants import prove as prove_invariant
from ccmatic.query import Query


@dataclass(frozen=True)
class Enclosed:
    """The outcome of a proof attempt about a network.

    Attributes:
        controller: The network.
        claim: The claim.
        envelope: The text of the envelope that contains the network.
        answer: PROVED, or UNKNOWN. A claim that the envelope breaks may still hold for the network.
        invariant: The invariant of the envelope, if the claim is proved.
        seconds: The duration of the search for the invariant.
    """

    controller: Controller
    claim: Claim
    envelope: str
    answer: Answer
    invariant: Invariant | None = None
    seconds: float = 0

    def fault(self) -> str | None:
        """Return the reason why this data does not prove the claim, or None. The search is not trusted."""
        if self.invariant is None:
            return "it has no invariant"
        if not contains(self.invariant.controller, self.controller):
            return f"the envelope does not contain {self.controller.name}, or is not its tightest envelope"
        return self.invariant.fault()


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
    text = enclose(controller, seconds)
    outcome = prove_invariant(query, query.read_controller(text, f"{controller.name}_envelope"), claim, seconds, jobs)
    answer = Answer.PROVED if outcome.answer is Answer.PROVED else Answer.UNKNOWN
    return Enclosed(controller, claim, text, answer, outcome.invariant, outcome.seconds)
