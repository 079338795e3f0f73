"""Files of the first version are still readable, with the same verdicts."""

import json
import shutil
from fractions import Fraction
from itertools import islice

import pytest

from ccmatic.answers.verification.replayer import replay
from ccmatic.networks.trace_export import Schedule
from ccmatic.proving import load_result
from ccmatic.proving.proof_check import check_windows
from ccmatic.synthesis import check_cover, solution_files
from ccmatic.synthesis.run_file import Store, read_run
from support import ROOT, TESTS
from support.benchmarks import saved_traces
from support.sampling import each_nth

SAVED = TESTS / "saved"
JUDGED = json.loads((SAVED / "judged.json").read_text())


@pytest.mark.parametrize("file", each_nth(3, JUDGED))
def test_traces_are_judged_as_before(file):
    [trace] = saved_traces(file).values()
    report = replay(trace)
    told = {"laws": report.checked, "faults": list(report.faults), "outcome": report.outcome.value}
    assert {**told, "broken": list(report.unmet)} == JUDGED[file] and not trace.altered


def test_all_traces_are_among_them():
    assert len(JUDGED) >= 42


@pytest.mark.parametrize("file", sorted((ROOT / "results" / "proofs").glob("*.json")), ids=lambda file: file.stem)
def test_proofs_say_what_they_said(file):
    """A proof that is read would be written unchanged; `check` tests the rest."""
    told = json.loads(file.read_text())
    assert {**load_result(file).data(), "made_by": told["made_by"]} == told


@pytest.mark.parametrize("file", sorted((ROOT / "results" / "proofs").glob("*.json")), ids=lambda file: file.stem)
def test_proofs_are_of_their_definitions(file):
    """The digest is that of the present text, or of an earlier one with the same meaning."""
    findings = {found.about: found for found in islice(check_windows(load_result(file)), 2)}
    assert findings["definition"].fault is None


def test_a_run_is_read_checked_and_gone_on_with(tmp_path):
    file = shutil.copy(SAVED / "g1_t5.db", tmp_path)
    about, events = read_run(file)
    assert (about.name, about.version, about.finished, len(events)) == ("g1_t5", "0.1.0", "50", 50)
    outcome = check_cover(file)
    assert outcome.covered and (outcome.solutions, outcome.counterexamples) == (4, 45)
    Store(file, outcome.query).close()


def test_a_folder_of_solutions_is_replaced(tmp_path):
    shutil.copy(SAVED / "solutions.json", tmp_path)
    solution_files._require_own(tmp_path)


def test_a_schedule_is_read():
    schedule = Schedule.load(SAVED / "schedule.csv")
    assert (schedule.rate, schedule.buffer, schedule.queue, schedule.points[-1][1]) == (
        Fraction(3000000),
        None,
        840000,
        840000,
    )
    assert schedule.beliefs == {"C_L": 120000, "C_U": 120000, "qdel_L": 5}
