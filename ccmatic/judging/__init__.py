"""Judge code that ships: run the code in virtual time over lawful links, and find its worst scenarios."""

from ccmatic.judging.bisection import between, first_other, released
from ccmatic.judging.collected import collect, page
from ccmatic.judging.differences import Difference, difference
from ccmatic.judging.expectations import every_rule
from ccmatic.judging.junit import junit
from ccmatic.judging.opened import Source, opened
from ccmatic.judging.pictures import draw
from ccmatic.judging.reports import report
from ccmatic.judging.rules import CLEAN, RULES, Rule
from ccmatic.judging.scaffold import scaffold
from ccmatic.judging.scenario import Scenario, beside, lawful
from ccmatic.judging.scenario import load as load_scenario
from ccmatic.judging.search import Search
from ccmatic.judging.seeds import of_trace
from ccmatic.judging.subjects import require_shipped, run_command
from ccmatic.judging.table import table
from ccmatic.judging.verdicts import Verdict, judge, judged_line
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
    "junit",
    "lawful",
    "load_scenario",
    "load_witness",
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
    "scaffold",
    "scenario_of",
    "shrunk",
    "source_of",
    "table",
]
