"""Claims that replay refuses as evidence: undeclared names, rates that nobody chose, and false claims.

Also: the report says what was replayed.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ccmatic.answers.verification.replayer import Outcome, replay
from ccmatic.base.errors import InputError
from ccmatic.networks.traces.trace import Trace
from support import ROOT
from support.cli import lines, run
from support.failures import failing

LATE_DRAIN = ROOT / "results" / "gallery" / "late_drain.json"
ALWAYS_DOUBLE = ROOT / "results" / "gallery" / "always_double.json"
PROBE_WINDOW = ROOT / "results" / "proofs" / "cc_probe_slow_T10-traces" / "beyond_inflight.json"

#: Other controllers that choose late_drain's rates if a constant is not what the query says.
WITH_OTHER_CONSTANTS = {
    "R_m": ("def rate(C_L, qdel_L, R_m):\n    if qdel_L > R_m:\n        return C_L / 2\n    return 2 * C_L\n", "9/2"),
    "D": ("def rate(C_L, qdel_L, D):\n    if qdel_L > D:\n        return C_L / 2\n    return 2 * C_L\n", "9/2"),
    "MSS": (
        "def rate(C_L, qdel_L, R_m, MSS):\n    if qdel_L > 4 * R_m:\n        return C_L / 2\n"
        "    return 2 * C_L + MSS / R_m\n",
        "0",
    ),
}


def forged(file, **changes):
    """A shipped trace with these changes to its JSON, saved anew, so that its digest is right."""
    data = json.loads(Path(file).read_text())
    del data["digest"]
    for section, change in changes.items():
        data[section] = {**data[section], **change} if isinstance(change, dict) else change
    return Trace.from_json(Trace.from_json(json.dumps(data)).to_json())


@pytest.mark.parametrize("name", WITH_OTHER_CONSTANTS)
def test_a_column_does_not_stand_for_a_constant(name):
    source, value = WITH_OTHER_CONSTANTS[name]
    faults = replay(forged(LATE_DRAIN, controller=source, columns={name: [value] * 7})).faults
    assert f"trace.{name}_is_a_column_of_the_query" in faults
    assert any(fault.startswith("sender.rate_is_the_controllers") for fault in faults)


@pytest.mark.parametrize("name", ["C", "D", "beta", "F", "q_U", "C_Llambda", "C_L_untimed", "t", "alpha", "note"])
def test_a_column_that_the_model_does_not_declare_is_refused(name):
    faults = replay(forged(LATE_DRAIN, columns={name: ["1"] * 7})).faults
    assert faults == (f"trace.{name}_is_a_column_of_the_query",)


@pytest.mark.parametrize("name", ["beta", "C_L", "note"])
def test_a_constant_that_the_query_does_not_declare_is_refused(name):
    faults = replay(forged(LATE_DRAIN, constants={name: "1"})).faults
    assert faults == (f"trace.{name}_is_a_constant_of_the_query",)


@pytest.mark.parametrize("name", ["A", "S", "L", "Ld", "K", "r", "Q", "C_L", "qdel_L"])
def test_a_trace_without_a_column_that_the_model_declares_is_no_trace(name):
    """Not even one that follows from others, as losses do where the buffer is infinite."""
    data = json.loads(LATE_DRAIN.read_text())
    del data["columns"][name]
    with pytest.raises(InputError, match=f"the trace has no {name}"):
        replay(Trace.from_json(json.dumps(data)))


def without(trace, *names):
    """Return the trace with free rates, without some columns."""
    columns = {name: column for name, column in trace.columns.items() if name not in names}
    return replace(trace, columns=columns, controller=None, broken=())


@pytest.mark.parametrize("names", [("q_U", "C_Llambda"), ("q_U", "q_U_untimed"), ("C_Llambda_untimed",)], ids=str)
def test_a_belief_before_its_timeout_is_stated_beside_the_belief(names):
    """This holds also for a trace with free rates."""
    trace = Trace.load(PROBE_WINDOW)
    assert replay(trace).outcome is Outcome.BREAKS
    with pytest.raises(InputError, match=f"the trace has no {names[-1]}|the trace has no {names[0]}"):
        replay(without(trace, *names))


def test_a_timeout_that_reads_another_belief_wants_it():
    trace = forged(PROBE_WINDOW, columns={"C_L": ["1/10"] * 10, "C_L_untimed": ["1/10"] * 10})
    with pytest.raises(InputError, match="the trace has no C_U"):
        replay(trace)


# The property.


@pytest.mark.parametrize("file", [LATE_DRAIN, ALWAYS_DOUBLE], ids=lambda file: file.stem)
def test_rates_of_nobody_are_evidence_against_nobody(file):
    """Where beliefs turn false whatever the rates they are: `test_beliefs_that_turn_false_leave_no_controller`."""
    report = replay(forged(file, controller=None))
    assert report.faults == () and report.unmet
    assert report.outcome is Outcome.CANNOT_BE_JUDGED and "no controller chose its rates" in report.reason


def test_a_trace_without_a_belief_that_can_be_false_cannot_be_judged(tmp_path):
    trace = without(failing(("additive", "cbr_delay", "any", 4)), "q_U")
    report = replay(trace)
    assert (report.faults, report.outcome) == ((), Outcome.CANNOT_BE_JUDGED)
    assert report.reason == "it lacks q_U, which the property reads"
    trace.save(tmp_path / "trace.json")
    code, out, _ = run("replay", "trace.json", "--json", cwd=tmp_path)
    [answer] = lines(out)
    assert (code, answer["outcome"], answer["broken"], answer["reason"]) == (3, "cannot be judged", [], report.reason)


def test_what_is_no_execution_cannot_be_judged():
    assert replay(forged(LATE_DRAIN, constants={"C": "2"})).outcome is Outcome.CANNOT_BE_JUDGED


@pytest.mark.parametrize("broken", ["beliefs stay true", "utilises the link, or speeds up", "everything"])
def test_a_trace_that_states_what_it_does_not_break_is_refused(broken):
    faults = replay(forged(LATE_DRAIN, broken=[broken])).faults
    assert faults == (f"trace.breaks '{broken}', as it states",)


def test_a_trace_that_keeps_the_property_and_states_that_it_breaks_it_is_refused():
    """If more bytes in flight are permitted, late_drain's trace is no violation, but it still claims one."""
    query = json.loads(LATE_DRAIN.read_text())["query"]
    lenient = {"query": {"property": {**query["property"], "inflight_rates": "5"}}}
    assert replay(forged(LATE_DRAIN, **lenient, broken=[])).outcome is Outcome.KEEPS
    assert replay(forged(LATE_DRAIN, **lenient, broken=["bounds shrink"])).faults


# What was replayed.


def test_replay_says_what_it_replayed():
    trace = json.loads(LATE_DRAIN.read_text())
    code, out, _ = run("replay", LATE_DRAIN, "--json", cwd=ROOT)
    [answer] = lines(out)
    assert (code, answer["outcome"], answer["query"]) == (0, "breaks", trace["query"])
    assert answer["controller"] == trace["controller"]
    code, out, _ = run("replay", LATE_DRAIN, cwd=ROOT)
    for said in (
        "model ccac",
        "buffer infinite",
        "horizon 7",
        "jitter 1",
        "delay published",
        "utilisation 1/2",
        "if qdel_L > 4·R_m:",
        "breaks: bounds shrink; bounds inflight, or backs off",
    ):
        assert said in out


def test_replay_says_that_the_rates_are_nobodys(tmp_path):
    forged(LATE_DRAIN, controller=None).save(tmp_path / "trace.json")
    code, out, _ = run("replay", "trace.json", cwd=tmp_path)
    assert code == 3 and "controller: none, the rates are arbitrary" in out
    assert "cannot be judged: no controller chose its rates" in out
