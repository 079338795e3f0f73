"""Every query of examples/queries gives the number of solution classes that it expects."""

import pytest

from ccmatic.base import InputError, definitions
from ccmatic.questions import query
from ccmatic.synthesis import cegis
from ccmatic.synthesis import solution_files as solutions


def solve(name):
    """The query, its solutions and where the search ended."""
    asked = query.load(name)
    found = []
    for now in cegis.search(asked):
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


WRONG = """\
[network]
model = "ccac"
buffer = "1 bdp"
horizon = 7
jitter = 1

[template]
name = "two_branches"

[property]
name = "avoids"
what = "S[1] > 1"
"""


@pytest.mark.parametrize(
    ("right", "wrong", "line", "says"),
    [
        ("horizon = 7", "horizon = 5.5", 4, "the horizon is 11/2; expected a whole number of steps"),
        ("jitter = 1", "jitter = 0.3", 5, "the jitter is 3/10; expected a whole number of steps"),
        ('"S[1] > 1"', "3", 12, "what is 3; expected a condition"),
        ('"avoids"', '"quantities"', 11, "there is no 'quantities' in properties; known: avoids, expects, guarantee"),
        ('"two_branches"', '"nosuch"', 8, "there is no 'nosuch' in templates"),
    ],
)
def test_a_wrong_value_is_told_with_its_line(tmp_path, right, wrong, line, says):
    (tmp_path / "q.toml").write_text(WRONG.replace(right, wrong))
    with pytest.raises(InputError) as told:
        query.load(tmp_path / "q.toml")
    assert (told.value.file, told.value.line) == (str(tmp_path / "q.toml"), line) and says in told.value.message
