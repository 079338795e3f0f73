"""No question drops an execution silently: windows of an independent simulator's runs are put to each
(tests/completeness). `python -m tests.completeness --windows 100000` counts more."""

import re
from fractions import Fraction

import pytest

from completeness.campaign import campaign, cycles
from completeness.guarantees import SHIPPED, against
from completeness.repeats import PERIODIC, worse_for_ever
from completeness.runs import NETWORKS
from completeness.worsts import CASES, CONSTANT, worse_windows
from completeness.writing import Written
from support import ROOT
from support.sampling import each_nth

FIRST = 20  # of the runs that the default tests look at

ALONE, BESIDE = (
    [name for name, network in NETWORKS.items() if network.windows and (network.flows > 1) == several]
    for several in (False, True)
)


def test_each_question_admits_each_window():
    """Laws of the exact numbers, and for some of the windows the formulas."""
    found = campaign(250, FIRST, each=6, solved=3)
    assert [str(each) for each in found.unexplained] == []
    assert {network for network, _ in found.windows} == {*NETWORKS}
    assert all(count > 5 for count in found.windows.values())


@pytest.mark.slow
def test_each_question_admits_100000_windows():
    found = campaign(100_000, 1, solved=2)
    print(*found.table(), sep="\n")
    assert [str(each) for each in found.unexplained] == []


@pytest.mark.parametrize("case", each_nth(2, CASES), ids=lambda case: case.name)
def test_no_window_is_worse_than_the_worst(case):
    count, worse = worse_windows(case, 12)
    assert count > 50 and worse == []


@pytest.mark.parametrize("case", each_nth(6, PERIODIC), ids=lambda case: case.name)
def test_no_execution_that_repeats_itself_is_worse(case):
    repeat, worse = worse_for_ever(case, 12)
    assert repeat > 0 and worse == []


@pytest.mark.parametrize("networks", each_nth(2, [ALONE, BESIDE]), ids=["alone", "beside"])
def test_each_window_that_repeats_itself_is_admitted_for_ever(networks):
    found = cycles(40, FIRST, networks)
    assert [str(each) for each in found.unexplained] == []
    assert found.total > 2


@pytest.mark.slow
@pytest.mark.parametrize("networks", [ALONE, BESIDE], ids=["alone", "beside"])
def test_many_windows_that_repeat_themselves_are_admitted_for_ever(networks):
    found = cycles(5000, 1, networks, solved=20)
    print(*found.table(), sep="\n")
    assert [str(each) for each in found.unexplained] == []


@pytest.mark.parametrize("proof", each_nth(3, SHIPPED))
def test_no_window_breaks_a_lemma_of_a_shipped_proof(proof):
    found, faults = against(proof, 4)
    assert faults == []
    assert found["premises"] > 30 and found["left out"] < 2 / 3 * found["windows"]


@pytest.mark.parametrize(
    "network, wrong, law",
    each_nth(
        2,
        [
            (network, *fault)
            for fault in (("jitter", "served_within_jitter"), ("waste", "no_waste_while_queued"), ("loss", "lost"))
            for network in ("ccac_windows", "cbr_delay")
        ],
    ),
)
def test_a_simulator_that_is_wrong_is_found_out(network, wrong, law):
    """With one law of the simulated path broken, the same check finds it."""
    source = CONSTANT if network == "ccac_windows" else "def rate(C_L):\n    return 2 * C_L\n"
    given = {"written": [Written(source)], "packet": Fraction(1, 10), "D": 1, "buffer": Fraction(1), "wrong": wrong}
    found = campaign(40, 1, [network], stop=None, **given)
    names = {name for each in found.unexplained for name in each.laws}
    assert any(law in name or (wrong == "waste" and "serves_at_link_rate" in name) for name in names), names


def test_the_simulator_shares_no_code():
    """Only the modules that put windows to the product import it."""
    folder = ROOT / "tests" / "completeness"
    imports = {
        file.name for file in folder.glob("*.py") if re.search(r"^\s*(from|import) ccmatic", file.read_text(), re.M)
    }
    assert imports == {"questions.py", "guarantees.py", "worsts.py"}
