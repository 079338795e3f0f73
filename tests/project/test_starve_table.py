"""The table of who starves: the page shows what the benchmark found."""

import json
from fractions import Fraction

import pytest

import ccmatic as cm
from support import ROOT
from support.benchmarks import defined_by

BENCHMARK = defined_by("starve")
FOUND = json.loads((ROOT / "results" / "tables" / "starve.json").read_text())


def test_the_page_has_the_table():
    assert BENCHMARK["table"](FOUND) in (ROOT / "docs" / "reports" / "starvation.md").read_text("utf-8")


def test_no_pair_is_fair_with_a_share_below_the_threshold():
    shares = {cell["verdict"]: [] for cell in FOUND}
    for cell in FOUND:
        shares[cell["verdict"]] += [Fraction(cell["share"])] if cell["share"] else []
    assert all(share < Fraction(1, 20) for share in shares["starves"])
    assert all(share >= Fraction(1, 20) for verdict, each in shares.items() for share in each if verdict != "starves")


@pytest.mark.slow
def test_a_cell_is_found_again(tmp_path):
    again = BENCHMARK["find"]("rocc", "rocc", tmp_path, 600)
    assert again["verdict"] == "starves"
    assert not cm.replay(tmp_path / "rocc-rocc.json").faults
