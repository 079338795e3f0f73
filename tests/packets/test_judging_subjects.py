"""Controllers, envelopes and policies of ccmatic, libraries and C files run as subjects, lawfully and repeatably."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ccmatic import records
from ccmatic.base import definitions
from ccmatic.judging import builds, running, subjects
from ccmatic.judging.scenario import Scenario
from support.machine import needs_compiler
from support.policies import policy
from support.sampling import each_nth
from support.scenarios import MS, SECOND

pytestmark = needs_compiler

HOLD = records.HoldEvent(at=SECOND, length=10 * MS)
PLAN = Scenario(duration=3 * SECOND, rate=24_000_000, rtt=40 * MS, buffer=600_000, jitter=10 * MS, events=(HOLD,))

ENVELOPES = ("cc_qdel_narrow", "cc_qdel_wide", "g1_t11_3_wide", "wide_qdel")
ALL = [name for folder in definitions.CONTROLLERS for name in definitions.shipped(folder)]
NAMES = [name for name in ALL if name not in ENVELOPES] + [f"{e}:{c}" for e in ENVELOPES for c in builds.CHOICES]


def lawful(name, plan=PLAN):
    with running.Session(subjects.subject(name)) as session:
        first, second = session.run(plan), session.run(plan)
    assert (first.failure, list(first.faults())) == (None, [])
    assert np.array_equal(first.packets, second.packets) and np.array_equal(first.samples, second.samples)
    return first


@pytest.mark.parametrize("name", each_nth(12, NAMES))
def test_every_shipped_controller_runs(name):
    assert len(lawful(name).packets) > 20


def test_the_choices_of_an_envelope_are_in_order():
    sent = [len(lawful(f"cc_qdel_wide:{choice}").packets) for choice in ("lower", "drawn", "upper")]
    assert sent == sorted(sent) and len(set(sent)) == 3


def test_a_policy_is_a_subject(tmp_path):
    policy(tmp_path / "toy.json")
    recording = lawful(str(tmp_path / "toy.json"))
    assert (recording.samples["window"] == -1).all() and len(recording.packets) > 20


def test_a_policy_within_an_envelope_is_a_subject(tmp_path):
    policy(tmp_path / "toy.json", act="envelope:cc_qdel_wide")
    assert len(lawful(str(tmp_path / "toy.json")).packets) > 20


def test_a_second_process_runs_a_shipped_controller_without_reading_it(tmp_path):
    code = """
import sys
from ccmatic.judging import running, subjects
from ccmatic.judging.scenario import Scenario
plan = Scenario(duration=10**9, rate=10**7, rtt=10**7, buffer=10**5)
print(len(running.run(subjects.subject("cubic"), plan).packets))
print("ccmatic.controllers" in sys.modules)
"""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    outputs = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    [first, reads], [second, reads_again] = [output.split() for output in outputs]
    assert int(first) > 20 and (first, reads, reads_again) == (second, "True", "False")


def test_a_controller_with_a_window_has_samples():
    samples = lawful("cubic").samples
    assert (samples["window"] > 0).all() and samples["window"].max() > 100_000


def test_a_folder_does_not_change_the_meaning_of_a_shipped_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("cubic", "quinn", "toy"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "controller.py").write_text("class Controller: pass\n")
    assert subjects.subject("cubic").adaptor.stack == "ccmatic" and subjects.is_shipped("quinn:cubic")
    assert subjects.subject("quinn:cubic").adaptor.stack == "quinn"
    assert {subjects.subject(name).adaptor.stack for name in ("./cubic", "toy")} == {"controller.py"}
    assert not subjects.is_shipped("./quinn") and not subjects.is_shipped("toy")


@pytest.mark.parametrize(("manifest", "code"), [("Cargo.toml", "src/lib.rs"), ("go.mod", "toy.go")])
def test_the_version_of_a_folder_changes_with_its_code(manifest, code, tmp_path):
    (tmp_path / code).parent.mkdir(exist_ok=True)
    (tmp_path / manifest).write_text("")
    versions = set()
    for text in ("one", "two", "one"):
        (tmp_path / code).write_text(text)
        versions.add(subjects.subject(str(tmp_path)).adaptor.version)
    assert len(versions) == 2


def test_two_flows_of_one_subject_are_numbered_past_hosted_ones():
    flows = (records.FlowRecord(), records.FlowRecord(beside="reno"), records.FlowRecord(start=SECOND))
    recording = lawful("reno", Scenario(**{**PLAN_FIELDS, "flows": flows}))
    assert set(recording.packets["flow"].tolist()) == {0, 1, 2} == set(recording.samples["flow"].tolist())
    assert recording.packets["arrival"][recording.packets["flow"] == 2].min() == SECOND


PLAN_FIELDS = {name: getattr(PLAN, name) for name in PLAN.__struct_fields__}
