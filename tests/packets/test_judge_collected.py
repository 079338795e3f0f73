"""The facts about a subject, in the order of RFC 9743."""

import json
import re

import pytest

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.judging import RULES
from ccmatic.judging.collected import SECTIONS
from support.cli import run
from support.json_schemas import validate


def facts(subject, **more):
    return {(line.section, line.kind): line for line in cm.judge_known(subject, **more)}


def test_every_rule_belongs_to_one_section():
    named = [rule for section in SECTIONS for rule in section.rules]
    assert sorted(named) == sorted(RULES)


def test_rules_name_sections_of_the_rfc_by_their_numbers():
    numbers = [re.match(r"RFC 9743, ([\d.]+)", part)[1] for rule in RULES.values() for part in rule.source.split("; ")
               if part.startswith("RFC 9743")]  # fmt: skip
    known = {section.number for section in SECTIONS}
    assert len(numbers) > 6 and {*numbers} <= known | {number.rpartition(".")[0] for number in known}


def test_a_proof_bounds_the_queue():
    known = facts("cc_qdel")
    bound = known["Protection Against Bufferbloat", "proof"]
    assert bound.source.startswith("cc_qdel") and "lemmas hold" in bound.result
    assert ("Multipath Transport", "not examined") in known and ("Multipath Transport", "proof") not in known


def test_verdicts_on_models_and_scenarios_are_facts():
    known = facts("cubic")
    assert known["Sudden Changes in the Path", "scenario"].result.startswith("met")
    assert facts("kernel:bbr")["Sudden Changes in the Path", "scenario"].what.endswith("emulated")


def test_lines_of_a_search_are_facts(tmp_path):
    line = {"subject": "one_packet", "version": "1", "rule": "rtt-change", "verdict": "broken", "runs": 3,
            "threshold": "at least 50 %", "value": 0.25, "unit": "of the link"}  # fmt: skip
    (tmp_path / "rows").write_text(json.dumps(line) + "\n")
    found = facts("one_packet", judged=[tmp_path / "rows"])["Sudden Changes in the Path", "search"]
    assert found.result == "broken: 0.25 of the link; at least 50 %"
    (tmp_path / "rows").write_text("[]\n")
    with pytest.raises(InputError, match="no line of `judge table --json`"):
        facts("one_packet", judged=[tmp_path / "rows"])


def test_the_command_prints_all_sections():
    code, out, _ = run("judge", "report", "vegas")
    assert code == 0 and [line[4:] for line in out.splitlines() if line.startswith("### ")] == [
        f"{s.number} {s.title}" for s in SECTIONS
    ]
    code, out, _ = run("judge", "report", "vegas", "--json")
    for line in out.splitlines():
        validate(json.loads(line), "ExaminedLine")
    assert {json.loads(line)["section"] for line in out.splitlines()} == {section.title for section in SECTIONS}


@pytest.mark.parametrize("arguments, message", [(("nosuch",), "there is no subject 'nosuch'"),
                                                (("cubic", "--out", "folder"), "--out")])  # fmt: skip
def test_bad_input_gets_one_message(arguments, message):
    code, _, err = run("judge", "report", *arguments)
    assert code == 2 and message in err and "Traceback" not in err
