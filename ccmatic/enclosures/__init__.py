"""Envelopes that contain the decisions of a network, and proofs about networks by these envelopes."""

from ccmatic.enclosures.envelope import contains, enclose
from ccmatic.enclosures.proof import Enclosed, prove

__all__ = ["Enclosed", "contains", "enclose", "prove"]
