"""Proofs about controllers with state: windows of an execution join, or it is said what keeps them from that."""

import json
from pathlib import Path

import pytest

from ccmatic.logic import isolated
from ccmatic.proving import Prover
from ccmatic.verification import HOLDS, VIOLATED, Outcome, replay
from support import ROOT

JOINED = (ROOT / "examples" / "controllers" / "aimd_any_start.py").read_text()
PEERS = json.loads((Path(__file__).parent / "peer_verdicts" / "ccac" / "aimd.json").read_text())
SAT = {"sat": VIOLATED, "unsat": HOLDS}


@isolated
def asked(lemma, controller="aimd", proof="aimd", horizon=4):
    """The Answer on a lemma of a proof without constants."""
    prover = Prover(proof, controller, horizon)
    return prover.ask(prover.lemmas[lemma], {})


def changed(folder, **parts):
    """The path of AIMD's proof with other parts."""
    file = folder / "proof.py"
    begin = "from dataclasses import replace\nfrom ccmatic.proofs.aimd import PROOF\n"
    file.write_text(f"{begin}PROOF = replace(PROOF, **{parts})\n")
    return str(file)


@isolated
def faults(controller, proof="aimd"):
    return Prover(proof, controller, 4).faults({})


def test_the_published_windows_do_not_join():
    """Not of what AIMD remembers: at a window's end it may be recovering."""
    answer = asked("windows join")
    assert answer.verdict == VIOLATED and replay(answer.trace).outcome is Outcome.BREAKS
    columns = answer.trace.columns
    assert columns["recovering"][-1] == 1 or columns["changed"][-1] == 0
    assert faults("aimd") == ["aimd reads `time`, which begins anew in each window"]


def test_windows_join_of_a_controller_begun_at_any_step():
    assert asked("windows join", JOINED).verdict == HOLDS and faults(JOINED) == []


@pytest.mark.parametrize(
    "there, instead",
    [
        ("recovering: condition = anything()", "recovering: condition = False"),
        ("window: bytes = above(0)", "window: bytes = above(MSS)"),
        ("acked_before: bytes = anything()", "acked_before: bytes = between(0, 3 * MSS)"),
        ("since: bytes = anything()", "since: bytes = any_of(0, MSS)"),
        ("since: bytes = anything()", "since: bytes = 0"),
    ],
)
def test_state_that_only_the_first_window_begins_with_is_told(there, instead):
    assert asked("windows join", JOINED.replace(there, instead)).verdict == VIOLATED


@pytest.mark.parametrize("laws", ['delay="not measured"', 'begins="anywhere"'])
def test_what_a_network_has_at_its_first_step_alone_is_told(laws, tmp_path):
    """Service counted from 0, and a delay that nobody knows yet."""
    (tmp_path / "first.py").write_text(f"from ccmatic.models.ccac2021 import CCAC2021\nMODEL = CCAC2021({laws})\n")
    assert asked("windows join", JOINED, changed(tmp_path, model=f"{tmp_path}/first.py")).verdict == VIOLATED


@pytest.mark.parametrize(
    "lemma, query",
    [
        ("lemma 1: the window falls", "aimd_lemma1__T8_comp_buf1.0"),
        ("lemma 1: the window falls", "aimd_lemma1__T6_comp_buf0.5"),
        ("lemma 2: undetected losses fall", "aimd_lemma2__T8_comp_buf1.0"),
        ("lemma 2: undetected losses fall", "aimd_lemma2__T6_comp_buf2.0"),
        ("lemma 3: the steady state is kept", "aimd_lemma3__T6_comp_buf1.0"),
    ],
)
def test_published_lemmas_have_the_published_verdicts(lemma, query, tmp_path):
    entry = PEERS[query]
    proof = changed(tmp_path, buffer=str(entry["query"]["buf_min"]))
    assert [SAT[case["verdict"]] for case in entry["cases"]] == [
        asked(lemma, proof=proof, horizon=entry["query"]["T"]).verdict
    ]


def test_lemma_4_is_of_no_loss_where_the_queue_is_short():
    assert asked("no loss at all", proof="aimd_lemma_4").verdict == HOLDS
    assert asked("lemma 4 as meant: no loss at any step", proof="aimd_lemma_4").verdict == HOLDS


def test_a_controller_that_looks_back_two_steps_decides_too_late():
    text = JOINED.replace("lost > lost[step]", "lost > lost[2 * step]")
    (fault,) = faults(text)
    assert "decides from step 2 of a window on" in fault
