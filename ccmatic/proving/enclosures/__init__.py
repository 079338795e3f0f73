"""Envelopes that contain the decisions of a network, and proofs about networks by these envelopes."""

from ccmatic.proving.enclosures.envelope import enclose
from ccmatic.proving.enclosures.proof import Enclosed, carry, folder_of, notes_of, prove

__all__ = ["Enclosed", "carry", "enclose", "folder_of", "notes_of", "prove"]
