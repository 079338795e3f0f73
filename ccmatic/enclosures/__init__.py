"""Envelopes that contain the decisions of a network, and proofs about networks by these envelopes."""

from ccmatic.enclosures.envelope import enclose, is_tightest
from ccmatic.enclosures.proof import Enclosed, fault, prove

__all__ = ["Enclosed", "enclose", "fault", "is_tightest", "prove"]
