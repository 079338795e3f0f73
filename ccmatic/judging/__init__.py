"""Judge code that ships: run the code in virtual time over lawful links, and find its worst scenarios."""

from typing import TYPE_CHECKING

from ccmatic.base import late

if TYPE_CHECKING:
    from ccmatic.judging.bisection import between, first_other, released
    from ccmatic.judging.collected import collect, page
    from ccmatic.judging.differences import Difference, difference
    from ccmatic.judging.expectations import every_rule
    from ccmatic.judging.junit import junit_xml
    from ccmatic.judging.pictures import draw
    from ccmatic.judging.reports import report
    from ccmatic.judging.rules import CLEAN, RULES, Rule
    from ccmatic.judging.scaffold import new_adaptor
    from ccmatic.judging.scenario import Scenario, beside, lawful
    from ccmatic.judging.scenario import load as load_scenario
    from ccmatic.judging.search import Search
    from ccmatic.judging.seeds import of_trace
    from ccmatic.judging.sources import Source, opened
    from ccmatic.judging.subjects import require_shipped, run_command
    from ccmatic.judging.table import worst_table
    from ccmatic.judging.verdicts import Verdict, judge, judged_line, measured_words
    from ccmatic.judging.witnesses import Witness, file_name, is_witness, of_search, rerun, rule_of, shrunk, source_of
    from ccmatic.judging.witnesses import load as load_witness
    from ccmatic.judging.witnesses import save as save_witness
    from ccmatic.judging.words import event_words, path_words, scenario_of

__all__ = [
    "CLEAN",
    "RULES",
    "Difference",
    "Rule",
    "Scenario",
    "Search",
    "Source",
    "Verdict",
    "Witness",
    "beside",
    "between",
    "collect",
    "difference",
    "draw",
    "event_words",
    "every_rule",
    "file_name",
    "first_other",
    "is_witness",
    "judge",
    "judged_line",
    "junit_xml",
    "lawful",
    "load_scenario",
    "load_witness",
    "measured_words",
    "new_adaptor",
    "of_search",
    "of_trace",
    "opened",
    "page",
    "path_words",
    "released",
    "report",
    "require_shipped",
    "rerun",
    "rule_of",
    "run_command",
    "save_witness",
    "scenario_of",
    "shrunk",
    "source_of",
    "worst_table",
]

__getattr__ = late(__name__)
