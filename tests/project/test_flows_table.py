"""The table of the shares of two flows: the page shows the results of the benchmark."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.answers.verification import Outcome, check_trace
from ccmatic.questions import query as queries
from support import ROOT
from support.benchmarks import defined_by

BENCHMARK = defined_by("flows")
FOUND = json.loads((ROOT / "results" / "tables" / "flows.json").read_text())


def test_the_page_has_the_table():
    assert BENCHMARK["table"](FOUND).strip() in (ROOT / "docs" / "reports" / "starvation.md").read_text("utf-8")


def test_how_an_edge_is_told():
    text = BENCHMARK["cell_text"]
    assert text({"none": "1/20", "some": "1/10", "verdict": "found"}) == "0.05 … 0.1"
    assert text({"none": None, "some": "1/20", "verdict": "found"}) == "< 0.05"
    assert text({"none": "1/20", "some": "1/2", "verdict": "unknown"}) == "0.05 … 0.5 ?"
    assert text({"none": None, "some": None, "verdict": "unknown"}) == "timed out"


@pytest.mark.slow
def test_a_cell_is_found_again(tmp_path):
    cell = next(
        each for each in FOUND if (each["first"], each["second"], each["how"]) == ("copa", "copa", "one window")
    )
    again = BENCHMARK["find"]("copa", "copa", "one window", tmp_path, 600)
    assert (again["none"], again["some"]) == (cell["none"], cell["some"])
    assert not cm.replay(tmp_path / "copa-copa-one_window.json").faults


@pytest.mark.slow
def test_what_repeats_itself_every_step_does_so_every_four(tmp_path):
    found = BENCHMARK["find"]("cc_qdel_sender", "cc_qdel_sender", "for ever", tmp_path, 600)
    trace = cm.Trace.load(tmp_path / "cc_qdel_sender-cc_qdel_sender-for_ever.json")
    assert found["some"] == "1/20" and trace.query["property"]["repeats"] == "1"
    asked = queries.from_record(trace.query)
    longer = replace(asked, property=replace(asked.property, repeats=Fraction(4)))
    report = check_trace(longer, replace(trace, query=longer.record()))
    assert not report.faults and report.outcome is Outcome.BREAKS
