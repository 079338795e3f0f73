"""Judge in other tools: the pytest plugin, Hypothesis strategies, seeds from traces, versions, JUnit, new adaptors."""

import os
import shutil
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.judging import RULES, new_adaptor, reports, witnesses
from ccmatic.judging.reports import variants
from ccmatic.judging.scenario import faults
from ccmatic.judging.space import of_trace
from ccmatic.judging.strategies import scenarios
from ccmatic.judging.words import scenario_of
from ccmatic.records import WitnessFile
from support import ROOT
from support.toy_runs import Toy

TESTS = """
def test_kept(judge):
    judge("cubic", events=["lose 1 packet at 5 s"], rules=["decrease-cubic"])

def test_broken(judge):
    judge("one_packet", rules=["utilisation"])

def test_nothing(judge):
    judge("cubic", rules=["marks"])

def test_without():
    import sys
    assert not any(name.startswith("ccmatic.judging") for name in sys.modules)
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="needs cc")
def test_the_plugin_judges_in_its_fixture_and_loads_nothing_else(tmp_path):
    (tmp_path / "test_mine.py").write_text(TESTS)
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "ccmatic.pytest_plugin", "-p", "no:cacheprovider"]
    for test, says in {
        "test_kept": "1 passed",
        "test_broken": "at least 50 %",
        "test_nothing": "marks is not applicable: the link marks nothing",
        "test_without": "1 passed",
    }.items():
        done = subprocess.run(
            [*command, f"test_mine.py::{test}"], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert says in done.stdout, done.stdout


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(rule="idle"))
def test_a_strategy_has_lawful_scenarios_on_which_a_rule_is_asked(scenario):
    assert not [*faults(scenario)] and RULES["idle"].asked(scenario, "") is None


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios())
def test_a_strategy_has_lawful_scenarios(scenario):
    assert not [*faults(scenario)]


def test_a_trace_of_a_model_becomes_lawful_scenarios():
    made = [*of_trace(ROOT / "results" / "gallery" / "late_drain.json")]
    assert len(made) >= 2 and all(not [*faults(scenario)] for scenario in made)
    assert any(scenario.events for scenario in made)
    with pytest.raises(InputError, match="expected a trace"):
        [*of_trace(ROOT / "results" / "tables" / "networks.json")]


def test_the_first_version_with_another_verdict():
    versions = [f"0.{n}" for n in range(10)]
    asked = []

    def breaks(version):
        asked.append(version)
        return versions.index(version) < 7

    chosen = witnesses.between(versions, "0.2", "0.9")
    assert witnesses.first_other(chosen, breaks) == ("0.6", "0.7") and len(asked) <= 5
    with pytest.raises(InputError, match="both break"):
        witnesses.first_other(versions[:5], breaks)
    with pytest.raises(InputError, match="there is no version '1.0'"):
        witnesses.between(versions, "0.1", "1.0")
    with pytest.raises(InputError, match="is not before"):
        witnesses.between(versions, "0.5", "0.1")


def test_variants_tell_on_what_a_finding_depends():
    scenario = scenario_of("12 mbit, rtt 40 ms, buffer 1 bdp", ["lose 1 packet at 5 s"], 10)
    toy = Toy(fault="beta")
    found = {v.name: v.verdict for v in variants(scenario, RULES["decrease-reno"], toy)}
    assert len(found) == 10 and {found[f"spacing {spacing} µs"] for spacing in (10, 100, 200)} == {"broken"}


@pytest.mark.parametrize("language", ["rust", "go", "c", "python"])
def test_a_new_adaptor_is_short_and_has_its_name(language, tmp_path):
    made = new_adaptor(str(tmp_path / "mine"), language)
    text = "\n".join(file.read_text() for file in made)
    assert '"mine"' in text and '"toy"' not in text
    assert max(len(file.read_text().splitlines()) for file in made) <= 60


@pytest.mark.parametrize(("version", "asked"), [("quinn-proto 0.11.19", None), ("quinn-proto 0.11.14", "0.11.14")])
def test_a_witness_runs_in_its_version_and_builds_no_other(monkeypatch, version, asked):
    monkeypatch.setattr(witnesses, "opened", lambda source: pytest.fail(f"{source} is built"))
    assert witnesses.source_of(witness(version)).version == asked


def test_a_witness_about_sources_asks_for_them():
    with pytest.raises(InputError, match="expected --source with these sources"):
        witnesses.source_of(witness("quinn-proto 0.11.14 from /quinn"))


@pytest.mark.parametrize(
    ("subject", "version", "file"),
    [
        ("quinn:cubic", "quinn-proto 0.11.19", "regression_test.rs"),
        ("s2n:cubic", "s2n-quic-core 0.91.0", "regression_test.rs"),
        ("quic-go:reno", "quic-go 0.65.0", "regression_test.go"),
    ],
)
def test_a_unit_test_names_the_code_the_rule_and_the_scenario(subject, version, file, tmp_path):
    record = replace(witness(version), subject=subject)
    [made] = reports.unit_tests(record, version, tmp_path)
    text = made.read_text()
    assert made.name == file and "{{" not in text and records.line(record.scenario) in text
    assert version.partition(" ")[0] in text and '"alive"' in text


def witness(version):
    scenario = scenario_of("12 mbit, rtt 40 ms, buffer 1 bdp")
    return WitnessFile(
        subject="quinn:cubic", version=version, rule="alive", threshold="no failure", value=0.0, margin=-1.0, seed=0,
        scenario=scenario,
    )  # fmt: skip
