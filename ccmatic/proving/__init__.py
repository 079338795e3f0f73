"""Proofs of guarantees for all time: the search for a proof's constants, and the check of the result."""

from typing import TYPE_CHECKING

from ccmatic.base import late

#: Most callers need few of the modules, which take long to import.
if TYPE_CHECKING:
    from ccmatic.proving.bounds import Bound, draw_bounds, find_bounds
    from ccmatic.proving.expectations import Decided, prove_by_invariant
    from ccmatic.proving.findings import Check, Finding
    from ccmatic.proving.fronts import Front, find_front
    from ccmatic.proving.lemma_prover import NoValue
    from ccmatic.proving.proof_check import check
    from ccmatic.proving.proof_search import Listener, prove
    from ccmatic.proving.report import OF_NONE, number
    from ccmatic.proving.result import ProofOutcome, load_result
    from ccmatic.proving.shapes import Attempt, prove_by_shapes, prove_expected, undecided

__all__ = [
    "OF_NONE",
    "Attempt",
    "Bound",
    "Check",
    "Decided",
    "Finding",
    "Front",
    "Listener",
    "NoValue",
    "ProofOutcome",
    "check",
    "draw_bounds",
    "find_bounds",
    "find_front",
    "load_result",
    "number",
    "prove",
    "prove_by_invariant",
    "prove_by_shapes",
    "prove_expected",
    "undecided",
]

__getattr__ = late(__name__)
