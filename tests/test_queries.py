"""Every query of examples/queries gives the number of solution classes that it expects."""

import pytest

from ccmatic import cegis, definitions, query, solutions


def solve(name):
    """The query, its solutions and where the search ended."""
    asked = query.load(name)
    found = []
    for now in cegis.synthesise(asked):
        if now.controller:
            found.append(now.controller)
    return asked, found, now


@pytest.mark.parametrize("name", definitions.shipped("examples.queries", ".toml"))
def test_expected_solutions(name):
    asked, found, end = solve(name)
    assert (len(found), end.left, end.undecided) == (asked.expect["solutions"], 0, 0)


def test_the_papers_controllers_are_found():
    asked, found, _ = solve("g3")
    assert "cc_probe_drain" in {name for controller in found for name in solutions.kin(controller)}
    asked, found, _ = solve("g1_t5")
    assert "cc_qdel" in {name for controller in found for name in solutions.kin(controller)}
