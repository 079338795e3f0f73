"""Every query of examples/queries gives the number of solution classes that it expects."""

import pytest

from ccmatic import query
from ccmatic.base import definitions
from ccmatic.synthesis import cegis
from ccmatic.synthesis import solution_files as solutions


def solve(name):
    """The query, its solutions and where the search ended."""
    asked = query.load(name)
    found = []
    for now in cegis.synthesise(asked):
        if now.controller:
            found.append(now.controller)
    return asked, found, now


QUICK = ("g1_t4", "g1_t5", "g2", "g5_infinite", "g5_any")
QUERIES = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
    for name in definitions.shipped("examples.queries", ".toml")
]


@pytest.mark.parametrize("name", QUERIES)
def test_expected_solutions(name):
    asked, found, end = solve(name)
    assert (len(found), end.left or 0, end.undecided) == (asked.expect["solutions"], 0, 0)


@pytest.mark.slow
def test_the_papers_controllers_are_found():
    _, found, _ = solve("g3")
    assert "cc_probe_drain" in {name for controller in found for name in solutions.kin(controller)}
    _, found, _ = solve("g1_t5")
    assert "cc_qdel" in {name for controller in found for name in solutions.kin(controller)}
