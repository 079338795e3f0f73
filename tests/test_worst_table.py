"""The table of worst cases: what the page shows is what the benchmark found, and goes on from."""

import json

import pytest

from support import ROOT
from support.benchmarks import defined_by, run_benchmark

FOUND = json.loads((ROOT / "results" / "tables" / "worst.json").read_text())


def test_the_page_has_the_table():
    assert defined_by("worst")["table"](FOUND) in (ROOT / "docs" / "worst.md").read_text("utf-8")


@pytest.mark.slow
def test_what_is_missing_is_found_again(tmp_path):
    """Of what the page shows, an edge; the rest is not asked again, and all is drawn."""
    missing = next(cell for cell in FOUND if cell["controller"] == "cc_probe_slow" and cell.get("some"))
    (tmp_path / "worst.json").write_text(json.dumps([cell for cell in FOUND if cell is not missing]))
    done = run_benchmark("worst", "--folder", ".", "cc_probe_slow", cwd=tmp_path, timeout=600)
    assert done.returncode == 0, done.stderr
    keys = ("controller", "model", "buffer", "of", "how")
    found = json.loads((tmp_path / "worst.json").read_text())
    [again] = [cell for cell in found if all(cell[key] == missing[key] for key in keys)]
    assert len(list(tmp_path.glob("*.json"))) == 2 and "one window" in (tmp_path / "worst.svg").read_text()
    assert {**again, "seconds": 0} == {**missing, "seconds": 0}
