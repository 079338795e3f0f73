"""Proofs that nobody writes: `prove` without a proof tries the shapes for the beliefs that a controller reads."""

import json

import pytest

import ccmatic as cm
from ccmatic import proofs
from ccmatic.contracts import load_definition
from ccmatic.proving import load_result
from ccmatic.verification import Outcome, replay
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


def test_where_no_shape_will_do_the_window_that_shows_it_is_saved(tmp_path):
    """In windows of two steps a queue may grow, once converged."""
    code, out, _ = run("prove", "cc_qdel", "--horizon", "3", "--out", tmp_path, "--json")
    *found, last = told(out)
    assert code == 1 and (last["shape"], last["verdict"]) == ("link_rate", "violated")
    assert last["found"] == [line["constant"] for line in found] == ["C_U_most", "sent", "C_L_least"]
    assert last["missing"][0] == "queue" and "'converged: nothing degrades' is violated" in last["why"]
    window = tmp_path / "link_rate-cc_qdel_T3-traces" / "no_queue.json"
    assert str(window) in last["why"] and cm.replay(window).outcome is Outcome.BREAKS


def test_of_what_no_shape_reads_that_is_said():
    code, _, err = run("prove", "cc_probe_slow", "--json")
    assert (
        code == 2 and "no shape is of a controller that reads C_Llambda, q_U" in err and "link_rate (C_L, C_U)" in err
    )


@pytest.mark.slow
@pytest.mark.parametrize("controller", ["cc_qdel", "g1_t11_1"])
def test_a_shape_proves(controller, tmp_path):
    code, out, _ = run("prove", controller, "--out", tmp_path, "--json")
    *_, proved, last = told(out)
    assert code == 0 and last["verdict"] == "holds" and last["missing"] == []
    result = load_result(proved["result"])
    assert set(result.values) == set(last["found"])
    assert all(replay(found.edge.trace).outcome is Outcome.BREAKS for found in result.constants.values() if found.edge)
    assert cm.check(proved["result"]).verdict == "accepted"
