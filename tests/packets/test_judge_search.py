"""A search finds the faults of a toy, is the same for one seed, resumes, and shrinks what it found."""

import json

import pytest

from ccmatic.base import InputError
from ccmatic.judging import words
from ccmatic.judging.rules import RULES
from ccmatic.judging.scenario import lawful
from ccmatic.judging.search import Search
from ccmatic.judging.shrink import shrink
from ccmatic.judging.verdicts import judge_run, outcome
from support.toy_runs import Toy

RULE_NAMES = ("alive", "start-up", "utilisation", "window", "minimum", "decrease-reno", "recovery", "timeout", "losses")


def margins(search):
    return {name: line.best[0][0] for name, line in search.lines.items() if line.best}


def searched(toy, runs, rules=RULE_NAMES, **settings):
    search = Search(toy, rules, **settings)
    search.run(600, most=runs)
    return search


def test_a_clean_toy_keeps_the_rules():
    found = margins(searched(Toy(), 30))
    assert len(found) >= 7 and {name: round(m, 2) for name, m in found.items() if m < 0} == {}


@pytest.mark.parametrize(
    ("fault", "rule"), [("beta", "decrease-reno"), ("sticks", "recovery"), ("panics", "alive"), ("stops", "timeout")]
)
def test_a_fault_is_found_and_shrunk_to_one_event(fault, rule):
    toy = Toy(fault=fault)
    search = searched(toy, 32, (rule,))
    assert search.lines[rule].is_broken
    _, _, scenario, _, _ = search.lines[rule].best[0]

    def breaks(scenario):
        [verdict] = judge_run(toy, scenario, [RULES[rule]]).verdicts
        return verdict.verdict == "broken"

    shrunk = shrink(scenario, RULES[rule], "reno", breaks, most=80)
    assert breaks(shrunk) and len(shrunk.events) <= 1 and shrunk.duration <= scenario.duration
    assert all(event.at % 10**6 == 0 for event in shrunk.events)
    lawful(shrunk)


def test_a_search_is_the_same_for_one_seed_and_resumes(tmp_path):
    whole = searched(Toy(fault="beta"), 20, file=tmp_path / "whole.jsonl")
    lines = (tmp_path / "whole.jsonl").read_text().splitlines()
    part = tmp_path / "part.jsonl"
    part.write_text("\n".join(lines[:9]) + "\n" + lines[9][:40])  # killed while it wrote the ninth run
    resumed = searched(Toy(fault="beta"), 20, file=part)
    assert margins(resumed) == margins(whole) and part.read_text().splitlines() == lines
    other = searched(Toy(fault="beta"), 20, seed=1)
    assert margins(other) != margins(whole)


def test_a_file_of_another_search_is_refused(tmp_path):
    file = tmp_path / "search.jsonl"
    searched(Toy(), 3, ("alive",), file=file)
    with pytest.raises(InputError, match="another subject, version, seed"):
        Search(Toy(), ("alive",), seed=1, file=file)
    head, first, *rest = file.read_text().splitlines()
    forged = json.loads(first)
    forged["scenario"]["rtt"] += 1
    file.write_text("\n".join([head, json.dumps(forged), *rest]) + "\n")
    with pytest.raises(InputError, match="those of another search"):
        searched(Toy(), 3, ("alive",), file=file)


def test_an_expectation_is_a_rule():
    search = searched(Toy(), 4, (), expect=["utilisation >= 99% over every 1 s"])
    [line] = search.lines.values()
    assert line.is_broken and line.rule.name == "utilisation >= 99% over every 1 s"
    scenario = lawful(words.scenario_of("12 mbit, rtt 40 ms, buffer 1 bdp", [], 15))
    result = outcome(Toy(), scenario, (), ("utilisation >= 50% over every 5 s",), False)
    assert result.margins["utilisation >= 50% over every 5 s"][0] > 0
