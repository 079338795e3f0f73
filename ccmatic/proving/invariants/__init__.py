"""Inductive invariants: guarantees for all time from one step of a network and its controller."""

from ccmatic.proving.invariants.claims import Claim
from ccmatic.proving.invariants.engine import Answer

__all__ = ["Answer", "Claim"]
