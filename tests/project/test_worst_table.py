"""The table of worst cases: the page shows the results of the benchmark, from which it can resume."""

import json
from fractions import Fraction

import pytest

from support import ROOT
from support.benchmarks import defined_by, run_benchmark

FOUND = json.loads((ROOT / "results" / "tables" / "worst.json").read_text())


def test_the_report_has_the_tables():
    report = (ROOT / "docs" / "reports" / "worst.md").read_text("utf-8")
    tables = defined_by("worst")["tables"](FOUND)
    assert len(tables) == 6 and all(table in report for table in tables.values())


def test_a_cell_shows_its_proved_side():
    proved = defined_by("worst")["proved"]
    edge = {"none": "4/5", "some": "17/20", "verdict": "found"}
    assert proved(edge) == "0.8" and proved({**edge, "verdict": "unknown"}) == "0.8 ?"
    assert proved({**edge, "none": None, "some": "4"}) == "> 4"
    assert proved({"none": None, "some": None, "verdict": "unknown"}) == "?"
    assert proved({"why": "no such execution"}) == "–"


def test_both_sides_of_each_edge_are_one_step_apart():
    """So a table of proved sides leaves nothing out, but at the ends of the range."""
    edges = [cell for cell in FOUND if cell.get("none") and cell.get("some")]
    assert len(edges) > 800
    assert {abs(Fraction(cell["none"]) - Fraction(cell["some"])) for cell in edges} == {Fraction(1, 20)}
    alone = {(cell["of"], cell["none"], cell["some"]) for cell in FOUND if "verdict" in cell and cell not in edges}
    ends = {("utilisation", "1", None), ("loss", "0", None), ("queue", "0", None)}
    beyond = {("loss", None, "4"), ("queue", None, "8")}
    timed_out = {("utilisation", "0", None), *((of, None, None) for of in ("utilisation", "loss", "queue"))}
    assert alone == ends | beyond | timed_out
    assert all(
        cell["verdict"] == "unknown"
        for cell in FOUND
        if (cell.get("none"), cell.get("some")) == ("0", None) and cell["of"] == "utilisation"
    )


@pytest.mark.slow
def test_what_is_missing_is_found_again(tmp_path):
    """A missing edge of the page is computed again, the others are not, and all are drawn."""
    missing = next(cell for cell in FOUND if cell["controller"] == "cc_probe_slow" and cell.get("some"))
    (tmp_path / "worst.json").write_text(json.dumps([cell for cell in FOUND if cell is not missing]))
    done = run_benchmark("worst", "--folder", ".", "cc_probe_slow", cwd=tmp_path, timeout=600)
    assert done.returncode == 0, done.stderr
    keys = ("controller", "model", "buffer", "of", "how")
    found = json.loads((tmp_path / "worst.json").read_text())
    [again] = [cell for cell in found if all(cell[key] == missing[key] for key in keys)]
    assert len(list(tmp_path.glob("*.json"))) == 2 and "one window" in (tmp_path / "worst.svg").read_text()
    assert {**again, "seconds": 0} == {**missing, "seconds": 0}
