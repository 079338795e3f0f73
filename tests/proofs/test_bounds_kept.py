"""`prove` without a proof, of a controller that sends by a window: bounds are searched for, or dropped."""

import json

import pytest

import ccmatic as cm
from ccmatic.answers.verification import Outcome, replay
from ccmatic.contracts import Proof
from ccmatic.proving import load_result
from ccmatic.proving.findings import ACCEPTED, REJECTED
from ccmatic.proving.shapes import window_shapes
from support import ROOT
from support.cli import run
from support.json_schemas import validate

#: Its window is a packet; what it remembers runs away from where it begins.
RUNS_AWAY = """window: bytes = above(0)
mark: bytes = 0  # where it begins
def update(window, mark, MSS):
    window = MSS
    mark = mark + 100 * MSS
def send(window):
    return window
"""
#: Its window grows without bound; its mark does not overtake the acknowledged bytes.
ONLY_STATE = """window: bytes = above(0)
mark: bytes = anything()
def update(window, mark, acked, MSS):
    window = window + 100 * MSS
    mark = acked
def send(window):
    return window
"""
SEARCHED = ROOT / "results" / "proofs" / "window_kept-aimd_any_start_T8.json"


@pytest.fixture
def runs_away(tmp_path):
    (tmp_path / "runs_away.py").write_text(RUNS_AWAY)
    return tmp_path / "runs_away.py"


def test_a_bound_that_no_window_keeps_is_dropped_and_the_others_are_found(runs_away, tmp_path):
    code, out, _ = run("prove", runs_away, "--horizon", "3", "--out", tmp_path, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    found = {line["constant"]: line for line in lines if "constant" in line}
    validate(found["mark ahead"], "ConstantLine")
    assert code == 0 and {name for name, line in found.items() if "dropped" in line} == {"mark ahead", "window ahead"}
    assert {found[name]["value"] for name in ("window", "undetected", "peak")} == {"0"}
    result = load_result(tmp_path / "window_kept-runs_away_begun_anywhere_T3.json")
    assert result.controller.source == RUNS_AWAY.replace("= 0 ", "= anything() ")
    assert replay(result.constants["mark ahead"].edge.trace).outcome is Outcome.BREAKS
    (claim, _) = lines[-2]["claim"]
    assert "cwnd - β - MSS ≤ 0·C·R_m; undetected losses" in claim and "∞" not in claim and "mark" not in claim
    assert cm.check(result.file).verdict == ACCEPTED


@pytest.mark.parametrize(
    "controller, why",
    [
        ("aimd", "aimd_begun_anywhere reads `time`, which restarts in each window"),
    ],
)
def test_where_windows_do_not_join_nothing_is_searched_for(controller, why, tmp_path):
    code, out, _ = run("prove", controller, "--horizon", "4", "--out", tmp_path, "--json")
    (line,) = map(json.loads, out.splitlines())
    assert code == 1 and line["found"] == [] and line["missing"][0] == "window" and line["why"].startswith(why)


def test_where_no_bound_is_kept_the_window_that_breaks_the_last_is_saved(tmp_path):
    code, out, _ = run("prove", "bbr", "--horizon", "4", "--out", tmp_path, "--json")
    (line,) = map(json.loads, out.splitlines())
    assert code == 1 and line["why"].startswith("no bound is kept: the last breaks 'steady: leads on'; the window is")
    (file,) = tmp_path.glob("*-traces/no_window.json")
    assert cm.replay(file).outcome is Outcome.BREAKS


def test_a_bound_of_state_alone_proves_nothing(tmp_path):
    """Only a byte position in the state is bounded. Such a proof was said to hold."""
    file = tmp_path / "grows.py"
    file.write_text(ONLY_STATE)
    code, out, _ = run("prove", file, "--horizon", "3", "--out", tmp_path / "proofs")
    assert code == 3 and out.endswith("\nwindow_kept: unknown: the shapes bound nothing of this controller\n")
    assert "∞" not in out and "written" not in out and not [*(tmp_path / "proofs").iterdir()]
    how = "--proof", "window_kept", "--horizon", "3", "--out", tmp_path / "proofs", "--json"
    code, out, _ = run("prove", file, *how)
    *_, last = map(json.loads, out.splitlines())
    validate(last, "ProofLine")
    assert (last["proved"], last["claim"], last["result"]) == (False, [], None)


@pytest.mark.slow
def test_a_saved_proof_of_dropped_bounds_is_rejected(tmp_path, monkeypatch):
    """Earlier versions wrote such files."""
    monkeypatch.setattr(Proof, "bounds_nothing", lambda proof, values: False)
    (tmp_path / "grows.py").write_text(ONLY_STATE)
    saved = cm.prove(tmp_path / "grows.py", "window_kept", tmp_path, horizon=3).file
    monkeypatch.undo()
    result = cm.check(saved)
    assert result.verdict == REJECTED and "every bound is dropped" in str([each.fault for each in result.findings])


@pytest.mark.slow
def test_where_every_bound_is_dropped_nothing_is_proved(tmp_path):
    file = tmp_path / "grows.py"
    file.write_text(RUNS_AWAY.replace("    window = MSS\n", "    window = window + 100 * MSS\n"))
    code, out, _ = run("prove", file, "--horizon", "3", "--out", tmp_path, "--json")
    (line,) = map(json.loads, out.splitlines())
    assert code == 1 and line["why"].startswith("no bound is kept: the last breaks 'steady: leads on'")


@pytest.mark.parametrize("controller, shape", [("aimd", "window_kept"), ("copa_any_start", "copa_any_start")])
def test_the_network_measures_a_delay_if_the_controller_reads_one(controller, shape):
    assert window_shapes(controller) == [shape]


def test_what_is_published_of_aimd_is_found():
    values = load_result(SEARCHED).values
    assert (values["window"], values["undetected"]) == (2, 2)


@pytest.mark.slow
def test_what_was_found_of_aimd_is_checked_anew():
    assert cm.check(SEARCHED).verdict == ACCEPTED
