"""Proofs of guarantees for all time: the search for a proof's constants, and the check of the result."""

from ccmatic.proving.claim import windows_after
from ccmatic.proving.constants import search, verdicts
from ccmatic.proving.expected import DECIDED, implies, networks, undecided
from ccmatic.proving.lemma_prover import NoValue
from ccmatic.proving.proof_check import ACCEPTED, REJECTED, UNKNOWN, Check, Finding, check, named
from ccmatic.proving.proof_search import Listener, ProofOutcome, prove
from ccmatic.proving.prover import Prover, windows_of
from ccmatic.proving.report import OF_NONE, number
from ccmatic.proving.result import Result, load_result
from ccmatic.proving.rounds import check_rounds, is_of_rounds, load_rounds, prove_rounds
from ccmatic.proving.shapes import Attempt, attempts, shapes_on, window_shapes
from ccmatic.proving.simulation_test import Trial

__all__ = [
    "ACCEPTED",
    "DECIDED",
    "OF_NONE",
    "REJECTED",
    "UNKNOWN",
    "Attempt",
    "Check",
    "Finding",
    "Listener",
    "NoValue",
    "ProofOutcome",
    "Prover",
    "Result",
    "Trial",
    "attempts",
    "check",
    "check_rounds",
    "implies",
    "is_of_rounds",
    "load_result",
    "load_rounds",
    "named",
    "networks",
    "number",
    "prove",
    "prove_rounds",
    "search",
    "shapes_on",
    "undecided",
    "verdicts",
    "window_shapes",
    "windows_after",
    "windows_of",
]
