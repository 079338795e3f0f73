"""Inductive invariants: guarantees for all time from one step of a network and its controller."""

from ccmatic.invariants.claims import Claim
from ccmatic.invariants.engine import Answer
from ccmatic.invariants.proof import Proved, prove
from ccmatic.invariants.saved import Invariant, load_invariant
from ccmatic.invariants.transition import TransitionSystem, derive

__all__ = ["Answer", "Claim", "Invariant", "Proved", "TransitionSystem", "derive", "load_invariant", "prove"]
