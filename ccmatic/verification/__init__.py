"""Verdicts on controllers, and the check of traces that trusts no solver."""

from ccmatic.verification.counterexample import Unsound
from ccmatic.verification.judgement import Judge
from ccmatic.verification.replayer import Outcome, check_trace, complete, explained, replay
from ccmatic.verification.verifier import HOLDS, UNDECIDED, VIOLATED, Part, Verifier, choices

__all__ = [
    "HOLDS",
    "UNDECIDED",
    "VIOLATED",
    "Judge",
    "Outcome",
    "Part",
    "Unsound",
    "Verifier",
    "check_trace",
    "choices",
    "complete",
    "explained",
    "replay",
]
