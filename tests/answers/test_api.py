"""The Python face: a controller from its function to verdict, trace, solutions, proof and C."""

from fractions import Fraction
from html import escape

import pytest

import ccmatic as cm
from support import ROOT

QUERY = cm.load_query("g1_t5")


def halved(C_L):
    """Send at half of the rate that the link surely serves."""
    return C_L / 2


SOURCE = "def rate(C_L):\n    return C_L / 2\n"


def test_a_function_a_file_a_name_and_a_text_are_one_controller(tmp_path):
    file = tmp_path / "halved.py"
    file.write_text(SOURCE)
    found = [cm.verify(given, QUERY) for given in (halved, file, str(file), SOURCE, "always_half")]
    assert {verdict.verdict for verdict in found} == {"violated"}
    assert [verdict.controller.name for verdict in found[:3]] == ["halved"] * 3
    assert cm.load_controller(halved).rate({"C_L": 3}) == Fraction(3, 2)


def test_what_is_no_controller_is_said():
    typed = {}
    exec("def typed(C_L):\n    return C_L", typed)
    for given, message in (
        (typed["typed"], "the source of the function typed is not available"),
        (lambda C_L: C_L, "a lambda is no controller"),
        (3, "3 is no controller; expected a function, the name or path of a file, or source text"),
        ("always_halve", "did you mean 'always_half'"),
        ("def rate(C_M):\n    return C_M\n", "unknown parameter `C_M`"),
    ):
        with pytest.raises(cm.InputError, match=message):
            cm.verify(given, QUERY)


def test_a_verdict_has_a_trace_that_replays():
    verdict = cm.verify("always_half", cm.Query(cm.Network("ccac", "infinite", 5), utilisation="1/2"))
    assert verdict.verdict == "violated" and not verdict.holds
    report = cm.replay(verdict.trace)
    assert report.outcome.value == "breaks" and report.unmet == verdict.trace.broken
    assert "always_half: violated" in repr(verdict) and len(repr(verdict)) < 300
    assert "<table>" in verdict._repr_html_() and escape(verdict.trace.broken[0]) in verdict._repr_html_()


def test_a_violation_is_explained(tmp_path):
    verdict = cm.verify("late_drain", cm.Query(cm.Network("ccac", buffer="infinite", horizon=7), utilisation="1/2"))
    explained = cm.explain(verdict.trace)
    assert any("inflight" in sentence for sentence in explained.broken) and explained.network
    verdict.trace.save(tmp_path / "trace.json")
    assert str(cm.explain(tmp_path / "trace.json")) == str(explained)


def test_a_trace_as_arrays_and_as_a_drawing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = cm.verify("always_half", QUERY).trace
    arrays = trace.to_numpy()
    assert {*arrays} == {"t", *trace.columns}
    assert all(column.dtype == float and column.shape == (5,) for column in arrays.values())
    assert [Fraction(value) for value in arrays["S"]] == pytest.approx(list(trace.columns["S"]))
    drawn = trace.plot()
    assert drawn._repr_png_().startswith(b"\x89PNG") and drawn.axes
    assert not [*tmp_path.iterdir()]
    assert "<trace of 5 steps, breaks " in repr(trace)


def test_a_data_frame_where_pandas_is():
    pandas = pytest.importorskip("pandas")
    trace = cm.verify("always_half", QUERY).trace
    frame = trace.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == list(trace.columns) and frame.shape[0] == 5


def test_without_pandas_that_is_said(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(cm.InputError, match="pip install pandas"):
        cm.verify("always_half", QUERY).trace.to_pandas()


def test_markup_is_escaped():
    controller = cm.load_controller("def rate(C_L, C_U):\n    return C_L if C_L < C_U else C_L / 2\n")
    assert "&lt;" in controller._repr_html_() and " < " not in controller._repr_html_()


def test_synthesis_yields_progress_and_solutions():
    found = cm.synthesise(cm.Query(QUERY.network, name="mine"), template="two_branches")
    assert "not begun" in repr(found)
    steps = list(found)
    assert steps[0].left == steps[0].candidates and steps[-1].left == 0
    assert [now.controller.name for now in steps if now.controller] == [each.name for each in found.solutions]
    assert len(found.solutions) == QUERY.expect["solutions"]


def test_what_is_to_be_synthesised_is_known_first():
    with pytest.raises(cm.InputError, match="no template to search"):
        list(cm.synthesise(cm.Query(QUERY.network)))


def test_a_run_is_kept_and_covers(tmp_path):
    run = tmp_path / "g1_t5.db"
    first = cm.synthesise(QUERY, run=run)
    assert len(first.solutions) == 4
    cover = cm.check_cover(run)
    assert cover.covered and cover.solutions == 4


@pytest.mark.slow
def test_a_proof_is_found_saved_and_checked(tmp_path):
    tiny = str(ROOT / "tests" / "proofs" / "tiny.py")
    saved = cm.prove("cc_qdel", tiny, tmp_path)
    assert saved.verdict == "holds" and saved.file.exists()
    check = cm.check(saved.file, allow_code=True)
    assert check.verdict == "accepted" and all(not finding.fault for finding in check.findings)
    assert "holds" in repr(saved) and "<table>" in saved._repr_html_()
    assert "accepted" in repr(check) and "<table>" in check._repr_html_()
    with pytest.raises(cm.InputError, match="expected a folder"):
        cm.prove("cc_qdel", tiny, certify=True)


def test_a_target_that_is_none_is_said(tmp_path):
    with pytest.raises(cm.InputError, match=r"no target 'pbf'; did you mean 'bpf'\?"):
        cm.export("cc_qdel", "pbf", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_controller_is_exported(tmp_path):
    files = cm.export("cc_qdel", "c", tmp_path)
    assert files and all(file.parent == tmp_path and file.exists() for file in files)
