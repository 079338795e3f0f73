"""Envelopes that contain the decisions of a network, and proofs about networks by these envelopes."""

from ccmatic.proving.enclosures.envelope import enclose, is_tightest
from ccmatic.proving.enclosures.proof import Enclosed, attempt, fault, prove
from ccmatic.proving.enclosures.saved import (
    SavedProof,
    carry,
    digest,
    folder_of,
    is_saved,
    load_proof,
    notes_of,
    proofs_of,
)

__all__ = [
    "Enclosed",
    "SavedProof",
    "attempt",
    "carry",
    "digest",
    "enclose",
    "fault",
    "folder_of",
    "is_saved",
    "is_tightest",
    "load_proof",
    "notes_of",
    "proofs_of",
    "prove",
]
