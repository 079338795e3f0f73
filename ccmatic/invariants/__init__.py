"""Inductive invariants: guarantees for all time from one step of a network and its controller."""

from ccmatic.invariants.claims import Claim
from ccmatic.invariants.engine import Answer
from ccmatic.invariants.eventually import Eventually
from ccmatic.invariants.expected import START, Decided, asked, claim_of, decide
from ccmatic.invariants.figure import draw
from ccmatic.invariants.first_steps import FirstSteps, is_first_steps, load_first_steps
from ccmatic.invariants.phases import Phases
from ccmatic.invariants.proof import Proved, Prover, prove
from ccmatic.invariants.saved import Invariant, is_invariant, load_invariant, refusing
from ccmatic.invariants.tightest import Bound, tightest
from ccmatic.invariants.transition import TransitionSystem, derive

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
