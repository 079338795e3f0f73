"""Verdicts on controllers, and the replay of traces. A replay trusts no solver."""

from ccmatic.verification.counterexample import Unsound, for_people
from ccmatic.verification.executions import Executions
from ccmatic.verification.judgement import Judge, Judgement
from ccmatic.verification.judging import judge_each, report_on
from ccmatic.verification.replayer import Outcome, Report, check_trace, complete, explained, replay
from ccmatic.verification.verifier import EMPTY, HOLDS, UNDECIDED, VIOLATED, Part, Verifier, choices

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
    "check_trace",
    "choices",
    "complete",
    "explained",
    "for_people",
    "judge_each",
    "replay",
    "report_on",
]
