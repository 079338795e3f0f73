"""Proofs about controllers with state: windows of an execution join, or the reason why not is reported."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.answers.verification import HOLDS, VIOLATED, Judge, Outcome, replay
from ccmatic.logic import isolated
from ccmatic.proving import load_result
from ccmatic.proving.findings import ACCEPTED
from ccmatic.proving.prover import Prover
from ccmatic.questions.query import Network, Query
from support import ROOT
from support.sampling import each_nth

JOINED = (ROOT / "examples" / "controllers" / "aimd_any_start.py").read_text()
PEERS, COPA = (
    json.loads((ROOT / "tests" / "peer_verdicts" / "ccac" / f"{name}.json").read_text()) for name in ("aimd", "copa")
)
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
def faults(controller, proof="aimd", horizon=4):
    prover = Prover(proof, controller, horizon)
    return prover.faults({constant.name: constant.high for constant in prover.proof.constants})


def test_the_published_windows_do_not_join():
    """AIMD's state prevents it: at a window's end it may be recovering."""
    answer = asked("windows join")
    assert answer.verdict == VIOLATED and replay(answer.trace).outcome is Outcome.BREAKS
    columns = answer.trace.columns
    assert columns["recovering"][-1] == 1 or columns["changed"][-1] == 0
    assert faults("aimd") == ["aimd reads `time`, which restarts in each window"]


def test_windows_join_of_a_controller_begun_at_any_step():
    assert asked("windows join", JOINED).verdict == HOLDS and faults(JOINED) == []


@pytest.mark.parametrize(
    "what",
    each_nth(
        3,
        [
            "And(c_f[0][T-1] < c_f[0][3] / 3, Not(ANYT(1, T, lambda t: timeout_f[0][t])))",
            "And(timeout_f[0][5], c_f[0][T-1] > 2 * alpha)",
            "c_f[0][T-1] > c_f[0][3] + 2 * alpha",
        ],
    ),
)
def test_it_does_as_aimd_from_the_third_step_on(what):
    """On executions of AIMD: twice halved, timed out, grown."""
    query = Query(Network("ccac2021_anywhere", "1", 10), "avoids", what=what, given="alpha < 1/10")
    trace = Judge(query).judge(query.controller("aimd")).trace
    joined = query.controller(JOINED)
    columns = {name: column[2:] for name, column in trace.columns.items()}
    columns["acked_before"] = trace.columns["S"][1:-1]
    flow = query.observed(replace(trace, horizon=8, columns=columns), (), joined.state).flows[0]
    assert joined.first_decision(flow) == 1
    assert joined.followed(flow)[0]["window"] == list(columns["window"])


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


@pytest.mark.parametrize("laws", ["delay=DelayMeasurement.UNMEASURED", "begins=Start.ANYWHERE"])
def test_what_a_network_has_at_its_first_step_alone_is_told(laws, tmp_path):
    """Service counted from 0, and an unknown delay."""
    (tmp_path / "first.py").write_text(f"from ccmatic.models.ccac2021 import *\nMODEL = CCAC2021({laws})\n")
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


@pytest.mark.parametrize(
    "lemma, query",
    [
        ("lemma 1: a large window falls", "copa_lemma1__T8_nocomp_bufinf"),
        ("lemma 2: a long queue falls", "copa_lemma2__T8_nocomp_bufinf"),
        ("lemma 3: a small window rises", "copa_lemma3__T6_nocomp_bufinf"),
        ("lemma 4: the steady state is kept", "copa_lemma4__T8_nocomp_bufinf"),
        ("lemma 4: the steady state is kept", "copa_lemma4__T8_comp_bufinf"),
    ],
)
def test_published_lemmas_of_copa_have_the_published_verdicts(lemma, query):
    entry = COPA[query]
    proof = "copa_composing" if entry["query"]["compose"] else "copa"
    answer = asked(lemma, "copa", proof, entry["query"]["T"])
    assert [SAT[case["verdict"]] for case in entry["cases"]] == [answer.verdict]


def test_windows_of_copa_do_not_join():
    assert asked("windows join", "copa", "copa").verdict == VIOLATED
    assert faults("copa", "copa") == [
        "copa reads `before_trace`, which restarts in each window",
        "copa decides from step 2 of a window on, and windows have only one step in common",
    ]
    assert "at a delay that it does not know" in faults("copa", "copa_any_start", 6)[-1]


BOUNDS = {
    "aimd_any_start_T10": "6/5",
    "aimd_any_start_1_2-aimd_any_start_T10": "17/10",
    "aimd_any_start_2-aimd_any_start_T10": "1/4",
}


@pytest.mark.parametrize("file", BOUNDS)
def test_the_bounds_that_aimd_keeps_for_ever(file):
    """Those of CCAC's lemma 3; the third, which it needs, depends on the buffer."""
    values = load_result(ROOT / "results" / "proofs" / f"{file}.json").values
    assert (values["window"], values["undetected"], values["recovering"]) == (2, 2, Fraction(BOUNDS[file]))


@pytest.mark.slow
@pytest.mark.parametrize("file", BOUNDS)
def test_what_aimd_keeps_for_ever_is_checked_anew(file):
    assert cm.check(ROOT / "results" / "proofs" / f"{file}.json").verdict == ACCEPTED
