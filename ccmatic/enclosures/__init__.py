"""Envelopes that contain the decisions of a network, and proofs about networks by these envelopes."""

from ccmatic.enclosures.envelope import enclose, is_tightest
from ccmatic.enclosures.proof import Enclosed, attempt, fault, prove
from ccmatic.enclosures.saved import SavedProof, digest, folder_of, is_saved, load_proof, proofs_of

__all__ = [
    "Enclosed",
    "SavedProof",
    "attempt",
    "digest",
    "enclose",
    "fault",
    "folder_of",
    "is_saved",
    "is_tightest",
    "load_proof",
    "proofs_of",
    "prove",
]
