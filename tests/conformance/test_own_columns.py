"""A model's own columns: unknowns of its executions, columns of its traces, checked by replay, exact, with a unit."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from ccmatic.answers.verification import Judge, check_trace, replay
from ccmatic.base import BYTES, InputError
from ccmatic.contracts import TOKENS, Column, load_definition
from ccmatic.contracts.execution import ending, following
from ccmatic.controllers import parse
from ccmatic.networks.simulation import DeployedController, Path, simulate
from ccmatic.networks.trace_export import Scale, export
from ccmatic.networks.traces import Trace
from ccmatic.questions import query as queries
from support import own_columns

MODEL = own_columns.__file__
SOURCE = "def rate(C_L, marked):\n    return C_L / 2 if marked > 0 else C_L\n"


@pytest.fixture(scope="module")
def query():
    return queries.make(MODEL, "infinite", 5)


@pytest.fixture(scope="module")
def trace(query):
    return Judge(query).judge(parse(SOURCE, beliefs=query.units())).trace


def test_a_counterexample_has_them_and_is_replayed(trace):
    assert {"M", "K2", "marked"} <= trace.columns.keys()
    assert all(isinstance(value, Fraction) for value in trace.columns["K2"])
    assert replay(Trace.from_json(trace.to_json()), allow_code=True).faults == ()


@pytest.mark.parametrize("name", ["M", "K2"])
def test_replay_finds_another_number_in_them(query, trace, name):
    changed = trace.with_columns(**{name: (*trace.columns[name][:-1], trace.columns[name][-1] + 100)})
    assert any(fault.startswith("marking.") for fault in check_trace(query, changed).faults)


def test_replay_refuses_what_is_not_declared_and_misses_what_is(query, trace):
    assert "trace.M2_is_a_column_of_the_query" in check_trace(query, trace.with_columns(M2=trace.columns["M"])).faults
    lacking = replace(trace, columns={name: column for name, column in trace.columns.items() if name != "K2"})
    with pytest.raises(InputError, match="the trace has no K2"):
        check_trace(query, lacking)


def test_a_next_window_begins_with_them(query):
    """The second bottleneck's tokens are counted from where S is; marks go on as they are."""
    x = query.execution()
    for after in (ending(query.model, x), following(query.model, x)):
        assert (after.K2[0] - (x.K2[4] - x.S[4])).coefficients == {}
        assert after.M[0] is x.M[4]


def test_an_execution_simulated_packet_by_packet_is_one_of_the_model(query):
    """The second bottleneck lets all through at once; marks are counted by hand."""
    path = Path("ccac", rate=20, jitter=1)
    trace = simulate(path, lambda seen: 30 if seen.step < 8 else 5, 20, seed=3).trace()
    marks = [Fraction(0)]
    for t in range(1, trace.horizon):
        A, L, K = (trace.columns[name][t] for name in "ALK")
        served = trace.columns["S"][t] - trace.columns["S"][t - 1]
        marks.append(marks[-1] + served * (A - L - K > own_columns.THRESHOLD))
    assert 0 < marks[-1] < trace.columns["S"][-1]
    trace = trace.with_columns(M=tuple(marks), K2=trace.columns["K"]).measuring(["Q"])
    asked = queries.make(MODEL, "infinite", trace.horizon, delay="executions")
    assert check_trace(asked, trace).faults == ()
    marks[-1] += 1
    assert check_trace(asked, trace.with_columns(M=tuple(marks))).faults


def test_a_sender_does_not_see_them(query):
    sender = DeployedController(query.model, parse(SOURCE, beliefs=query.units()), Path("ccac", 20, jitter=1), 4, {
        "C_L": 1, "C_U": 40})  # fmt: skip
    with pytest.raises(InputError, match="'ObservationWindow' object has no attribute 'M'"):
        simulate(Path("ccac", 20, jitter=1), sender, 3)


def test_they_are_exported_with_unit_and_meaning(trace):
    data = json.loads(export(trace, "json", Scale(Fraction(10**6), Fraction(1, 10), 1500), allow_code=True)[0])
    assert data["arrays"]["M_bytes"]["meaning"] == "bytes marked"
    exact = data["arrays"]["M_bytes"]["exact"]
    assert [Fraction(value) / 10**5 for value in exact] == list(trace.columns["M"])


@pytest.mark.parametrize("kind", ["schedule", "mahimahi"])
def test_what_a_link_has_no_place_for_is_said(kind, trace):
    scale = Scale(Fraction(10**6), Fraction(1, 10), 1500)
    content, notes = export(trace, kind, scale, allow_code=True)
    assert "M, bytes marked, is not in the file: csv, json and npz have it" in notes
    assert any(note.startswith("K2, ") for note in notes)
    bare = replace(trace, columns={name: column for name, column in trace.columns.items() if name not in ("M", "K2")})
    same, notes = export(bare, kind, scale, allow_code=True)
    assert same == content and not any(note.startswith(("M, ", "K2, ")) for note in notes)


@pytest.mark.parametrize("column, message", [
    ('Column("A", BYTES, "x")', "a column's name is 'A'"),
    ('Column("C_L", BYTES, "x")', "beliefs of different names"),
    ('Column("M_1", BYTES, "x")', "a column's name is 'M_1'"),
    ('Column("next_M", BYTES, "x")', "a column's name is 'next_M'"),
    ('Column("queue", BYTES, "x")', "a column's name is 'queue'"),
    ('Column("M", 1, "x")', "the unit of M is 1"),
    ('"M"', "a column is 'M'"),
])  # fmt: skip
def test_a_declaration_that_will_not_do_is_refused(column, message, tmp_path):
    text = (
        "from ccmatic.base import BYTES\nfrom ccmatic.contracts import Column\nfrom ccmatic.models.ccac import CCAC\n"
    )
    text += f"class Mine(CCAC):\n    name = 'mine'\n    columns = (*CCAC.columns, {column})\nMODEL = Mine()\n"
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(InputError, match=message):
        load_definition("models", "MODEL", str(tmp_path / "mine.py"), allow_code=True)


def test_legends_have_a_unit_and_words_for_each():
    declared = own_columns.MODEL.declared()
    assert list(declared) == ["A", "S", "L", "Ld", "r", "K", "Q", "M", "K2"]
    assert declared["M"] == Column("M", BYTES, "bytes marked") and declared["K"] is TOKENS
