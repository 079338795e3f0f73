"""Equal outputs for equal inputs, over all definitions and worlds; executions of each simulator obey the laws."""

import shutil
from importlib.util import find_spec

import pytest

from conformance.cells import CELLS, MORE_CELLS
from conformance.worlds import WORLDS, check
from support.sampling import each_nth

#: What this machine lacks, by the world that needs it.
LACKING = {
    **dict.fromkeys(("C", "C floats"), "" if shutil.which("gcc") or shutil.which("clang") else "a C compiler"),
    **dict.fromkeys(("arrays", "fluid"), "" if find_spec("jax") and find_spec("gymnasium") else "the extra `rl`"),
    "ONNX": "" if find_spec("onnx") else "the extra `rl`",
}

#: How many times as many cases the slow sample has.
MORE = 20


def sampled(cells):
    """Parameters of a test: of the definitions of each kind, every sixth in each world is for the default tests."""
    groups = {}
    for cell in cells:
        groups.setdefault((cell.kind.name, cell.world), []).append((cell,))
    return [parameter for group in groups.values() for parameter in each_nth(6, group)]


def compared(cell, seed, count):
    """How many outputs were compared; 0 where the world refuses the definition, as it should."""
    if LACKING.get(cell.world):
        pytest.skip(f"{cell.world} needs {LACKING[cell.world]}")
    outcome = check(cell, seed, count)
    return outcome if isinstance(outcome, int) else 0


@pytest.mark.parametrize("cell", sampled(CELLS), ids=str)
def test_a_definition_is_the_same_in_every_world(cell):
    assert compared(cell, 0, cell.count) or (cell.definition, cell.world) in cell.kind.refused


@pytest.mark.slow
@pytest.mark.parametrize("cell", [*CELLS, *MORE_CELLS], ids=str)
def test_many_cases_are_the_same_in_every_world(cell):
    compared(cell, 1, MORE * cell.count)


def test_a_hundred_thousand_cases_are_compared():
    """In the slow sample."""
    carried = [cell for cell in CELLS if (cell.definition, cell.world) not in cell.kind.refused]
    assert MORE * sum(cell.count for cell in carried) > 10**5


def test_each_world_is_used():
    assert {cell.world for cell in CELLS} == set(WORLDS)
