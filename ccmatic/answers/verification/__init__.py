"""Verdicts on controllers, and the replay of traces. A replay trusts no solver."""

from ccmatic.answers.verification.counterexample import Unsound, for_people, report_on
from ccmatic.answers.verification.judgement import (
    Judge,
    Judgement,
    answer,
    answer_all,
    judge_each,
    verify,
    verify_all,
)
from ccmatic.answers.verification.replayer import Outcome, Report, check_trace, complete, explained, replay
from ccmatic.answers.verification.verifier import EMPTY, HOLDS, UNDECIDED, VIOLATED, Executions, Part, Verifier, choices

__all__ = [
    "EMPTY",
    "HOLDS",
    "UNDECIDED",
    "VIOLATED",
    "Executions",
    "Judge",
    "Judgement",
    "Outcome",
    "Part",
    "Report",
    "Unsound",
    "Verifier",
    "answer",
    "answer_all",
    "check_trace",
    "choices",
    "complete",
    "explained",
    "for_people",
    "judge_each",
    "replay",
    "report_on",
    "verify",
    "verify_all",
]
