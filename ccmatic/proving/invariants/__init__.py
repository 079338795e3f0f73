"""Inductive invariants: guarantees for all time from one step of a network and its controller."""

from ccmatic.proving.invariants.claims import Claim
from ccmatic.proving.invariants.engine import Answer
from ccmatic.proving.invariants.eventually import Eventually
from ccmatic.proving.invariants.expected import START, Decided, asked, claim_of, decide
from ccmatic.proving.invariants.figure import draw
from ccmatic.proving.invariants.first_steps import FirstSteps, is_first_steps, load_first_steps
from ccmatic.proving.invariants.phases import Phases
from ccmatic.proving.invariants.proof import Proved, Prover, prove
from ccmatic.proving.invariants.saved import Invariant, is_invariant, load_invariant, refusing
from ccmatic.proving.invariants.tightest import Bound, tightest
from ccmatic.proving.invariants.transition import TransitionSystem, derive

__all__ = [
    "START",
    "Answer",
    "Bound",
    "Claim",
    "Decided",
    "Eventually",
    "FirstSteps",
    "Invariant",
    "Phases",
    "Proved",
    "Prover",
    "TransitionSystem",
    "asked",
    "claim_of",
    "decide",
    "derive",
    "draw",
    "is_first_steps",
    "is_invariant",
    "load_first_steps",
    "load_invariant",
    "prove",
    "refusing",
    "tightest",
]
