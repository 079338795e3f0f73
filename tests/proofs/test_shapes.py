"""Proofs by shapes: without a given proof, `prove` tries the shapes for the beliefs that a controller reads."""

import json
from fractions import Fraction
from types import SimpleNamespace

import pytest

import ccmatic as cm
from ccmatic import controllers, proofs
from ccmatic.answers.verification import Outcome, replay
from ccmatic.base import last_good_from_above
from ccmatic.contracts import load_definition
from ccmatic.proving import NoValue, load_result, shapes
from ccmatic.proving.constants import _guess
from ccmatic.proving.prover import Prover
from ccmatic.proving.result import earlier_constants
from support import ROOT
from support.cli import run
from support.json_schemas import validate


def told(out):
    """The JSON lines, each as its schema says."""
    lines = [json.loads(line) for line in out.splitlines()]
    for line in lines:
        kinds = {"shape": "ShapeLine", "constant": "ConstantLine", "lemma": "LemmaLine", "summary": "ProofLine"}
        validate(line, next(kind for key, kind in kinds.items() if key in line))
    return lines


@pytest.mark.parametrize("shape", proofs.SHAPES)
def test_no_constant_of_a_shape_is_chosen(shape):
    assert [each.name for each in load_definition("proofs", "PROOF", shape).constants if each.at is not None] == []


def test_where_no_shape_will_do_the_window_that_shows_it_is_saved(tmp_path, monkeypatch):
    """In windows of two steps a queue may grow, once converged."""
    monkeypatch.setattr(proofs, "SHAPES", ("link_rate",))
    code, out, _ = run("prove", "cc_qdel", "--horizon", "3", "--out", tmp_path, "--json")
    *found, last = told(out)
    assert code == 1 and (last["shape"], last["verdict"]) == ("link_rate", "violated")
    assert last["found"] == [line["constant"] for line in found] == ["C_U_most", "sent", "C_L_least"]
    assert last["missing"][0] == "queue" and "'converged: nothing degrades' is violated" in last["why"]
    window = tmp_path / "link_rate-cc_qdel_T3-traces" / "no_queue.json"
    assert str(window) in last["why"] and cm.replay(window).outcome is Outcome.BREAKS


def test_of_what_no_shape_reads_that_is_said(tmp_path):
    file = tmp_path / "both.py"
    file.write_text("def rate(C_L, q_U, R_m):\n    return C_L - q_U / R_m\n")
    code, _, err = run("prove", file, "--json")
    assert code == 2 and "no shape fits a controller that reads C_L, q_U" in err
    assert "link_rate (C_L, C_U)" in err and "probes (C_Llambda, q_U)" in err


def test_a_controller_has_the_shapes_of_what_it_reads():
    def of(name):
        return shapes.shapes(controllers.given(name))

    assert of("cc_probe_slow") == ["probes"]
    assert of("cc_qdel") == ["link_rate", "link_rate_used", "link_rate_large", "link_rate_any", "ideal_link"]


def test_on_a_network_on_which_a_shape_holds_no_weaker_one_is_tried(monkeypatch):
    def prove(shape, *about):
        assert shape != "link_rate_used"
        if shape == "link_rate_large":
            error = NoValue("none will do", "queue", None)
            error.result = SimpleNamespace(constants={"sent": 2}, controller=SimpleNamespace(state=()))
            raise error
        return SimpleNamespace(verdict="holds", why=None, result=None)

    monkeypatch.setattr(shapes, "prove_windows", prove)
    found = {attempt.shape: attempt for attempt in cm.prove_by_shapes("cc_qdel")}
    assert {shape: attempt.verdict for shape, attempt in found.items()} == {
        "link_rate": "holds",
        "link_rate_large": "violated",
        "link_rate_any": "holds",
        "ideal_link": "holds",
    }
    assert found["link_rate_large"].why == "none will do" and "sent" not in found["link_rate_large"].missing


def test_the_edges_of_earlier_proofs_are_asked_about_first():
    told = {"horizon": 11, "controller": SimpleNamespace(name="cc_qdel")}
    constants = load_result(ROOT / "results" / "proofs" / "cc_qdel_T11.json").constants
    edges = {name: (found.value, found.edge.lemma) for name, found in constants.items() if found.edge}
    assert edges in earlier_constants(ROOT / "results" / "proofs", SimpleNamespace(proof="link_rate_large", **told))
    assert earlier_constants(None, SimpleNamespace(proof="link_rate", **told)) == []


def test_what_was_found_where_the_constants_before_are_alike_is_asked_first():
    earlier = [{"low": (1, "a"), "high": (5, "b")}, {"low": (2, "a"), "high": (6, "c")}, {"low": (3, "a")}]
    assert _guess(earlier, "high", {"low": 2}) == (6, "c") and _guess(earlier, "high", {"low": 4}) == (5, "b")
    assert _guess(earlier, "width", {"low": 2}) is None


@pytest.mark.parametrize("good", range(-1, 9))
@pytest.mark.parametrize("reach", [0, 2])
def test_windows_save_questions_and_change_no_edge(good, reach):
    """Each window also breaks several values before the one that was checked."""
    asked = []

    def ask(index):
        assert index not in asked
        asked.append(index)
        return index <= good

    def known(index):
        return good < index and any(good < each <= index + reach for each in asked)

    assert last_good_from_above(9, ask, known) == good
    assert len(asked) <= (7 - reach)


def test_an_earlier_window_may_break_another_lemma_than_the_one_that_it_was_saved_for():
    """Where a queue grows, it does not drain either."""
    values = {"C_U_most": 3, "sent": 2, "C_L_least": Fraction(1, 20), "queue": 3, "drain": Fraction(1, 20)}
    first, later = Prover("link_rate", "cc_qdel", 3), Prover("link_rate", "cc_qdel", 3)
    saved = first.ask(first.lemmas["converged: nothing degrades"], values).trace
    later.learn([saved])
    later.ask = None
    fault = later.first_fault([later.lemmas["converged: progresses"]], values)
    assert saved.broken == ("converged: nothing degrades",) and fault.trace.broken == ("converged: progresses",)


#: Each a solution's branches for a C_U of 2·C_L and a little more, of queries G7 and G5.
STUCK = {
    "link_rate_any": "if 2*C_L + MSS/R_m > C_U:\n        return C_L + MSS/R_m\n    return 2*C_L + MSS/R_m",
    "ideal_link": "if C_L + 2*MSS/R_m > C_U:\n        return C_L/2 - MSS/R_m\n    return C_L + MSS/R_m",
}


@pytest.mark.parametrize("shape", STUCK)
def test_who_does_not_probe_where_C_U_cannot_time_out_may_believe_it_for_ever(shape):
    """This is so however little progress the shape requires."""
    least = Fraction(1, 10**6)
    controller = controllers.parse(f"def rate(C_L, C_U, MSS, R_m):\n    {STUCK[shape]}\n", "stuck")
    prover = Prover(shape, controller, horizon=5)
    answer = prover.ask(prover.lemmas["C_U too low: progresses"], {"rise": 1 + least, "climb": least})
    assert replay(answer.trace).outcome is Outcome.BREAKS
    C_L, C_U = (answer.trace.columns[name] for name in ("C_L", "C_U"))
    assert 2 * C_L[-1] < C_U[-1] < answer.trace.constants["C"]


@pytest.mark.slow
@pytest.mark.parametrize(("controller", "shape"), [("cc_qdel", "link_rate_large"), ("g5_any_3", "ideal_link")])
def test_a_shape_proves(controller, shape, tmp_path):
    code, out, _ = run("prove", controller, "--proof", shape, "--out", tmp_path, "--json")
    *_, proved = told(out)
    assert code == 0 and proved["proved"]
    result = load_result(proved["result"])
    assert all(replay(found.edge.trace).outcome is Outcome.BREAKS for found in result.constants.values() if found.edge)
    assert cm.check(proved["result"]).verdict == "accepted"


@pytest.mark.parametrize("controller, shape, message", [
    ("cc_qdel", "probes", "the proof probes does not fit cc_qdel: it does not follow C_L, which the controller reads"),
    ("cc_probe_slow", "link_rate",
     "the proof link_rate does not fit the controller: on ccac senders do not know C_Llambda, q_U, which it reads"),
    ("cc_qdel", "window_kept",
     "does not fit the controller: on ccac2021_anywhere senders send by a window, and it sends by a rate"),
    ("aimd", "link_rate", "does not fit the controller: on ccac senders send by a rate, and it sends by a window"),
])  # fmt: skip
def test_a_shape_that_does_not_fit_is_refused(controller, shape, message, tmp_path):
    code, out, err = run("prove", controller, "--proof", shape, cwd=tmp_path)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "controller, proof, message",
    [
        ("aimd", "aimd_any_start", "fit aimd: it reads the state `acked_before`, and aimd remembers window, recover,"),
        ("copa", "window_kept", "`update` reads `delay`, which this network does not measure; expected a network that"),
    ],
)
def test_a_proof_of_what_a_controller_does_not_remember_or_see_is_refused(controller, proof, message, tmp_path):
    """The first ended with a KeyError; the second asked for a longer horizon."""
    code, out, err = run("prove", controller, "--proof", proof, "--out", tmp_path)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1
