"""`front`: the guarantees of the members of a query's classes, and the members that no other dominates."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

import ccmatic as cm
from ccmatic.answers.verification import Judge
from ccmatic.base import OutOfTime
from ccmatic.contracts import load_definition
from ccmatic.controllers import parse
from ccmatic.proving import fronts, load_result
from ccmatic.proving.shapes import Attempt
from ccmatic.synthesis import read_run
from support import ROOT
from support.cli import lines, run
from support.json_schemas import validate

QUERY = """[network]
model = "ccac"
buffer = "{buffer}"
horizon = 5
[template]
name = "./few.py"
"""
#: C_L or twice that, and nothing or half of it while bytes wait, each with a packet or without.
FEW = """from ccmatic.contracts import Branch, linear_forms
CONDITION = linear_forms({"qdel_L": (1,), "R_m": (0, -1)})
WAITS = linear_forms({"C_L": (0, "1/2"), "MSS / R_m": (0, 1)})
TEMPLATE = Branch(CONDITION, WAITS, linear_forms({"C_L": (1, 2), "MSS / R_m": (0, 1)}))
"""


@pytest.fixture
def query(tmp_path):
    def write(buffer="infinite", few=FEW):
        (tmp_path / "few.py").write_text(few)
        (tmp_path / "query.toml").write_text(QUERY.format(buffer=buffer))
        return tmp_path / "query.toml"

    return write


def point(name, verdict="holds", **measures):
    return fronts.Point(name, "", "link_rate", verdict, "", {key: Fraction(value) for key, value in measures.items()})


def test_what_dominates_is_as_good_in_all_and_better_in_one():
    best = point("best", utilisation="4/5", inflight=5, settles=100)
    rows = [best, point("slower", utilisation="4/5", inflight=5, settles=110)]
    rows += [point("fuller", utilisation="9/10", inflight=6, settles=100), point("same", **best.measures)]
    rows += [point("unbounded", utilisation="4/5", settles=100), point("broken", "violated")]
    assert fronts.dominated(rows) == {
        "best": [],
        "slower": ["best", "same"],
        "fuller": [],
        "same": [],
        "unbounded": ["best", "fuller", "same"],
    }


def test_a_saved_proof_is_measured_as_its_report_has_it():
    """The rate doubles or halves: 2, 18 and 15 windows of 10 R_m."""
    result = load_result(ROOT / "results" / "proofs" / "cc_qdel_T11.json")
    found = fronts.measured(load_definition("proofs", "PROOF", "cc_qdel"), result, Fraction(0))
    guaranteed = {"utilisation": Fraction(17, 20), "inflight": 5, "lossless_buffer": Fraction(9, 2)}
    assert found == {**guaranteed, "settles": 350, "freedom": 0}


def test_where_a_belief_may_climb_for_any_time_none_is_said():
    """By packets, or where another may set it back."""
    for proof in ("probes-cc_probe_slow_T10", "ideal_link-g5_any_20_T8", "link_rate_used-g1_t11_1_T11"):
        result = load_result(ROOT / "results" / "proofs" / f"{proof}.json")
        assert "settles" not in fronts.measured(load_definition("proofs", "PROOF", result.proof), result, Fraction(0))


def attempted(controller, folder, listener, network, **options):
    """Imitate `attempts`: a better proof for controllers that back off at once, a timeout for those that read MSS."""
    assert network == ("ccac", "infinite", 1)
    shape = load_definition("proofs", "PROOF", "link_rate")
    at_once = "qdel_L > 0" in controller.source
    values = {constant.name: constant.low for constant in shape.constants} | {"inflight": 3 if at_once else 4}
    result = SimpleNamespace(values=values, horizon=shape.horizon, file=f"{folder}/{controller.name}.json")
    if "MSS" in controller.source:
        raise OutOfTime("no answer in time")
    yield Attempt("link_rate", "holds", result)


def test_every_member_that_no_counterexample_breaks_has_its_place(query, tmp_path, monkeypatch):
    monkeypatch.setattr(fronts, "attempts", attempted)
    code, out, told = run("front", query(), "--json", cwd=tmp_path)
    *found, last = lines(out)
    assert {line.split(", ")[0] for line in told.splitlines()} == {
        f"{n} of {len(found)}" for n in range(1, len(found) + 1)
    }
    for line in found:
        validate(line, "FrontPointLine")
    validate(last, "FrontLine")
    assert code == 0 and last["controllers"] == len(found) and (tmp_path / last["figure"]).exists()
    held = {line["controller"] for line in found if line["verdict"] == "holds"}
    best = {line["controller"] for line in found if "qdel_L > 0" in line["source"]} & held
    assert {line["controller"] for line in found if line["dominated_by"] == []} == set(last["front"]) == best
    assert 0 < len(best) < len(held) == last["proved"] < len(found)
    assert {line["why"] for line in found if line["controller"] not in held} == {"no answer in time"}
    code, text, _ = run("front", query(), cwd=tmp_path)
    assert f"{len(best)} of {len(held)} proved controllers ({len(found)} controllers in all) are on the front" in text


def test_envelopes_around_the_best_have_their_place(query, tmp_path, monkeypatch):
    """One that guarantees as much as what it is around, and leaves a choice, dominates that."""
    monkeypatch.setattr(fronts, "attempts", attempted)
    code, out, _ = run("front", query(), "--step", "1/4", "--json", cwd=tmp_path)
    points = {line["controller"]: line for line in lines(out)[:-1]}
    assert code == 0 and lines(out)[-1]["front"] == ["query_front_1_wider_1"]
    wider, inside = points["query_front_1_wider_1"], points["query_front_1"]
    assert "return between(2 * C_L, 5 / 4 * (2 * C_L))" in wider["source"]
    assert wider["measures"] == {**inside["measures"], "freedom": "1/10"} and inside["measures"]["freedom"] == "0"
    assert inside["dominated_by"] == ["query_front_1_wider_1"]


def test_a_step_that_is_none_is_refused_before_anything_is_asked(query, tmp_path):
    code, _, err = run("front", query(), "--step", "2/5", cwd=tmp_path)
    assert code == 2 and "expected a step that 1 is a multiple of" in err and not (tmp_path / "query-front").exists()


def test_the_members_are_the_candidates_that_hold(query, tmp_path):
    asked = cm.load_query(query())
    cm.synthesise(asked, run=tmp_path / "run.db").solutions  # noqa: B018
    found = fronts.members(asked, read_run(tmp_path / "run.db")[1])
    template = asked.search_space()
    everyone = [template.candidate([i, j, k]) for i in range(2) for j in range(4) for k in range(4)]
    bodies = [source.split('"""')[-1] for source in everyone]
    judge = Judge(asked)
    holding = {body for body in bodies if judge.judge(parse(f"def rate(C_L, qdel_L, R_m, MSS):\n{body}")).holds}
    of_a_packet = {body for body in holding if "return MSS / R_m" in body}
    assert {member.source.split('"""')[-1] for member in found} >= holding - of_a_packet and of_a_packet < holding
    assert {body.replace("return MSS / R_m", "return 0") for body in of_a_packet} <= holding


def test_of_members_that_send_the_same_in_every_window_one_is_left(query, tmp_path):
    """A delay is a whole number of R_m."""

    def bodies(few):
        asked, events = cm.load_query(query(few=few)), tmp_path / f"{len(few)}.db"
        cm.synthesise(asked, run=events).solutions  # noqa: B018
        return {member.source.split('"""')[-1] for member in fronts.members(asked, read_run(events)[1])}

    assert bodies(FEW.replace("(0, -1)", '(0, "-1/2", -1)')) == bodies(FEW)


def test_where_no_shape_is_of_the_network_that_is_said(query, tmp_path):
    code, _, err = run("front", query("1/2"), cwd=tmp_path)
    assert code == 2 and "no shape fits ccac with the buffer 1/2 and D = 1 R_m" in err
