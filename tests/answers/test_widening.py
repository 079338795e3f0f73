"""`ccmatic widen`: all maximal envelopes around a controller, against every envelope asked one by one."""

import json
from fractions import Fraction
from itertools import product

import pytest

import ccmatic as cm
from ccmatic.answers.verification import Judge
from ccmatic.synthesis.widening import Grid
from support.cli import lines, run
from support.json_schemas import validate

QUERY = """\
[network]
model = "ideal"
buffer = "infinite"
horizon = 4

[property]
utilisation = "1/2"
"""
DRAINS = """\
def rate(C_Llambda, q_U, R_m, MSS):
    if q_U > MSS:
        return C_Llambda - q_U / R_m
    return 3 * C_Llambda
"""
ASKED = cm.Query(cm.Network("ideal", "infinite", 4), utilisation="1/2")


def is_inside(narrow, wide):
    return all(a <= b for a, b in zip(narrow, wide, strict=True))


@pytest.mark.slow
def test_those_found_are_the_maximal_ones_of_all():
    found = cm.widen("cc_qdel", ASKED, step=1)
    points = [*product(*map(range, found.grid.shape))]
    hold = [point for point in points if cm.verify(found.grid.envelope(point), ASKED).holds]
    assert len(points) == found.grid.size == 16 and 0 < len(hold) < 16
    maximal = {p for p in hold if not any(p != other and is_inside(p, other) for other in hold)}
    assert {*found.maximal} == maximal and found.questions < 16 and not found.undecided
    for breaking in found.breaking:
        assert cm.replay(breaking.trace).outcome.value == "breaks"
        assert not any(is_inside(breaking.point, point) for point in hold)
    for point in found.maximal:
        for end, number in found.beyond(point):
            e = found.grid.ends.index(end)
            assert is_inside(found.breaking[number].point, (*point[:e], point[e] + 1, *point[e + 1 :]))


def test_the_ends_of_a_grid():
    controller = cm.load_controller(DRAINS)
    grid = Grid(controller, None, Fraction(1, 2), Fraction(2))
    assert grid.shape == (3, 3, 3, 3) and [end.line for end in grid.ends] == [3, 3, 4, 4]
    values = {"C_Llambda": 10, "q_U": 4, "R_m": 1, "MSS": 1}
    assert grid.envelope((0, 0, 0, 0)).rates(values) == controller.rates(values) == (6, 6)
    assert grid.envelope((1, 2, 0, 0)).rates(values) == (3, 12)
    assert grid.envelope((2, 1, 0, 0)).rates(values | {"q_U": 12}) == (0, 0)
    assert grid.envelope((0, 0, 1, 0)).rates(values | {"q_U": 1}) == (15, 30)


def test_a_least_rate_of_0_has_no_less():
    envelope = "def rate(C_L, qdel_L):\n    if qdel_L > 0:\n        return between(0, C_L)\n    return 2 * C_L"
    grid = Grid(cm.load_controller(envelope), None, Fraction(1, 8), Fraction(9, 8))
    assert grid.shape == (1, 2, 9, 2)
    assert "0 ≤ rate ≤ 9/8·C_L" in grid.envelope((0, 1, 0, 0)).pretty()


def test_of_a_controller_that_does_not_hold_no_envelope_does():
    found = cm.widen("def rate(C_L):\n    return 1 / 8 * C_L\n", ASKED, step=1)
    assert found.maximal == () and found.questions == 1 and found.breaking[0].point == (0, 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What `widen` leaves, and its lines."""
    at = tmp_path_factory.mktemp("widening")
    (at / "asked.toml").write_text(QUERY)
    asked = "--query", at / "asked.toml", "--step", "1", "--out", at / "wider", "--json"
    code, out, err = run("widen", "cc_qdel", *asked)
    assert code == 0, err
    return at / "wider", lines(out)


def test_an_interrupted_search_goes_on(folder, tmp_path, monkeypatch):
    """Decided queries are not decided again, and the result is the same."""
    (tmp_path / "asked.toml").write_text(QUERY)
    asked = "widen", "cc_qdel", "--query", tmp_path / "asked.toml", "--step", "1", "--out", tmp_path / "wider", "--json"
    judge, judged = Judge.judge, []

    def judging(self, controller):
        judged.append(controller)
        if len(judged) == 3:
            raise KeyboardInterrupt
        return judge(self, controller)

    monkeypatch.setattr(Judge, "judge", judging)
    assert run(*asked)[0] == 130 and not (tmp_path / "wider").exists()
    code, out, _ = run(*asked)
    *_, first = lines("\n".join(map(json.dumps, folder[1])))
    *_, summary = lines(out)
    assert code == 0 and summary["questions"] == first["questions"] - 2
    names = {file.name for file in folder[0].iterdir()}
    assert names == {file.name for file in (tmp_path / "wider").iterdir()}
    assert json.loads((tmp_path / "wider" / "widening.json").read_text()) == json.loads(
        (folder[0] / "widening.json").read_text()
    )
    assert run("check-widening", tmp_path / "wider")[0] == 0


def copied(folder, tmp_path, change=lambda about: None):
    to = tmp_path / "copy"
    to.mkdir()
    for file in folder.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    about = json.loads((to / "widening.json").read_text())
    change(about)
    (to / "widening.json").write_text(json.dumps(about))
    return to


def test_what_is_printed_and_written(folder):
    path, (*envelopes, summary) = folder
    validate(summary, "WideningLine")
    assert summary["envelopes"] == len(envelopes) == 1 and summary["verdict"] == "holds" and summary["grid"] == 16
    [envelope] = envelopes
    validate(envelope, "EnvelopeLine")
    assert cm.verify(path / "cc_qdel_wider_1.py", ASKED).holds
    assert {cm.replay(file).outcome.value for file in path.glob("breaks_*.json")} == {"breaks"}
    validate(json.loads((path / "widening.json").read_text()), "WideningFile")


def test_the_check_accepts_what_was_found(folder):
    code, out, _ = run("check-widening", folder[0], "--verify-envelopes", "--json")
    [line] = lines(out)
    validate(line, "WideningCheckLine")
    assert code == 0 and line["complete"] and line["envelopes_verified"] and line["grid"] == 16


def left_out(about):
    about["breaking"].clear()


def wider(about):
    about["envelopes"]["cc_qdel_wider_1.py"] = [1, 1, 1, 1]


def no_point(about):
    about["envelopes"]["cc_qdel_wider_1.py"] = [-1, 0, 0]


def elsewhere(about):
    about["breaking"].append("../widening.json")


def other_query(about):
    about["query"]["property"]["utilisation"] = "1/1000"


@pytest.mark.parametrize("change, says", [
    (left_out, "nothing decides this envelope"),
    (wider, "it is not the envelope at its point"),
    (no_point, "its point is [-1, 0, 0]; expected one of the grid's"),
    (elsewhere, "../widening.json: expected a file in the folder"),
    (other_query, "expected a trace that breaks the property"),
])  # fmt: skip
def test_the_check_refuses_what_is_not_so(change, says, folder, tmp_path):
    code, out, _ = run("check-widening", copied(folder[0], tmp_path, change))
    assert code == 1 and says in out


def test_the_check_asks_again_whether_an_envelope_holds(folder, tmp_path):
    """If no trace breaks a wider envelope, only the verifier reveals it."""
    path = copied(folder[0], tmp_path, left_out)
    grid = Grid(cm.load_controller("cc_qdel"), None, Fraction(1), Fraction(2))
    (path / "cc_qdel_wider_1.py").write_text(grid.source((1, 1, 1, 1), "wider"))
    about = json.loads((path / "widening.json").read_text())
    wider(about)
    (path / "widening.json").write_text(json.dumps(about))
    assert run("check-widening", path)[0] == 0
    code, out, _ = run("check-widening", path, "--verify-envelopes")
    assert code == 1 and "the verifier finds a trace that breaks it" in out


@pytest.mark.parametrize("options, says", [
    (("--step", "0"), "the step is 0, the largest factor 2; expected a step that 1 is a multiple of"),
    (("--step", "2/3"), "the step is 2/3"),
    (("--step", "x"), "found 'x'; expected an exact number"),
    (("--most", "1/2"), "the largest factor 1/2"),
    (("--step", "1/100"), "104,060,401 envelopes; expected 10,000,000 at most"),
])  # fmt: skip
def test_bad_input(options, says, tmp_path):
    (tmp_path / "asked.toml").write_text(QUERY)
    code, _, err = run("widen", "cc_qdel", "--query", tmp_path / "asked.toml", "--out", tmp_path / "out", *options)
    assert code == 2 and says in err and err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_envelope_whose_ends_cross_is_not_widened(tmp_path):
    """The message names the line in the user's own file."""
    (tmp_path / "asked.toml").write_text(QUERY)
    (tmp_path / "e.py").write_text("def rate(C_L, C_U):\n    return between(C_L, C_U)\n")
    code, _, err = run("widen", "e.py", "--query", "asked.toml", cwd=tmp_path)
    assert code == 2 and err.startswith("ccmatic: e.py:2: low is above high at C_L = ") and err.count("\n") == 1
    assert not (tmp_path / "e-wider").exists()
