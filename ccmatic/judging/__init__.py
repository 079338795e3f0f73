"""Judge code that ships: run the code in virtual time over lawful links, and find its worst scenarios."""

from typing import TYPE_CHECKING

from ccmatic.base import late

if TYPE_CHECKING:
    from ccmatic.judging.adaptors import new_adaptor
    from ccmatic.judging.collected import judge_known, page
    from ccmatic.judging.differences import judge_difference
    from ccmatic.judging.reports import draw, judge_report
    from ccmatic.judging.rules import RULES
    from ccmatic.judging.scenario import make_scenario
    from ccmatic.judging.searches import judge_search, judge_table, junit_xml
    from ccmatic.judging.subjects import run_command
    from ccmatic.judging.verdicts import judge, judged_line, measured_words
    from ccmatic.judging.witnesses import is_witness, judge_versions, replay_witness, rerun_witness, shrink_witness
    from ccmatic.judging.witnesses import load as load_witness
    from ccmatic.judging.words import event_words, path_words

__all__ = [
    "RULES",
    "draw",
    "event_words",
    "is_witness",
    "judge",
    "judge_difference",
    "judge_known",
    "judge_report",
    "judge_search",
    "judge_table",
    "judge_versions",
    "judged_line",
    "junit_xml",
    "load_witness",
    "make_scenario",
    "measured_words",
    "new_adaptor",
    "page",
    "path_words",
    "replay_witness",
    "rerun_witness",
    "run_command",
    "shrink_witness",
]

__getattr__ = late(__name__)
