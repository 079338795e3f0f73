"""Proofs against simulations: windows of the deployed controller on links of changing rate break no lemma.

By default there are some runs. With `pytest -m slow` there are a thousand for each proof, and `check` of each proof.
"""

import json
from fractions import Fraction

import pytest

import ccmatic as cm
from benchmarks.trials import Trial
from ccmatic import controllers
from ccmatic.answers.verification import VIOLATED, Outcome, check_trace, replay
from ccmatic.language import is_stateful
from ccmatic.proving import result as proved
from ccmatic.proving.findings import ACCEPTED
from ccmatic.proving.prover import Prover
from ccmatic.questions.query import from_record
from support import ROOT
from support.sampling import each_nth

PROOFS = ROOT / "results" / "proofs"
SAVED = {file: json.loads(file.read_text()) for file in sorted(PROOFS.glob("*.json"))}

#: Of controllers that form beliefs; tests/proofs/test_stateful_proofs.py is of those that remember.
ACCEPTABLE = [file for file, saved in SAVED.items() if not is_stateful(saved["controller"]["source"])]
RESULTS = [file for file in ACCEPTABLE if SAVED[file]["constants"]]  # the others bound nothing


def each(files):
    """A test for each of these."""
    return pytest.mark.parametrize("file", files, ids=lambda file: file.stem)


results, some_results = each(RESULTS), each(each_nth(12, RESULTS))


def trial(file, runs):
    """Return a Trial after some runs."""
    tried = Trial(proved.load_result(file))
    for seed in range(runs):
        tried.run(seed)
    return tried


def final(tried):
    """The name of the state that is never left."""
    return tried.prover.proof.states[-1].name


def test_there_are_proofs():
    assert {"cc_qdel_T10", "cc_probe_slow_T10"} <= {file.stem for file in RESULTS}


@some_results
def test_no_window_breaks_a_lemma(file):
    runs = 3 if "-" in file.stem else 12  # several proofs share one definition
    tried = trial(file, runs)
    assert not tried.broken
    assert sum(tried.windows.values()) > 5 * runs and tried.windows[final(tried)]


@pytest.mark.parametrize("name", ["cc_qdel_T10", "cc_probe_slow_T10"])
def test_what_an_adversary_holds_back_and_hides_keeps_every_law(name):
    """Its choices are among those that the model leaves; so no lemma is broken."""
    tried = Trial(proved.load_result(PROOFS / f"{name}.json"))

    def hiding(rng, bound, step):
        return lambda now: now // step % 3 > 0

    def windows(share):
        run = tried.run(0, lambda rng, bound, step: lambda now: now + share(now // step) * bound // 2, hiding, {})
        traces = (run.trace(start, 10) for start in range(1, 120, 10))
        return [trace.measuring(run.path.model.measures) for trace in traces]

    held = windows(lambda step: step % 3)
    assert not any(check_trace(from_record(trace.query), trace).faults for trace in held)
    assert tried.windows and not tried.broken
    assert [trace.columns["S"] for trace in held] != [trace.columns["S"] for trace in windows(lambda step: 0)]


@some_results
def test_a_bound_that_is_too_good_is_broken(file):
    """The check can fail: no queue at all is more than any controller ensures, as is more than the link has."""
    result = proved.load_result(file)
    name, factor = ("inflight", Fraction(1, 100)) if "inflight" in result.constants else ("utilisation", 4)
    found = result.constants[name]
    result.constants[name] = type(found)(found.value * factor)
    tried = Trial(result)
    for seed in range(3):
        tried.run(seed)
    assert tried.broken[f"{final(tried)}: bounds inflight"] or tried.broken[f"{final(tried)}: uses the link"]


def test_a_probe_of_five_packets_may_learn_nothing():
    """As the paper's α = 5 MSS has it, in the formula alone. Which window shows it is the solver's choice."""
    found = proved.load_result(next(file for file in RESULTS if file.stem == "cc_probe_slow_T10"))
    source = found.controller.source.replace("q_U > MSS", "q_U > 5 * MSS").replace("+ MSS", "+ 5 * MSS")
    prover = Prover(found.proof, controllers.parse(source, "five"))
    answer = prover.ask(prover.lemmas["C_Llambda low: progresses"], found.values)
    assert answer.verdict == VIOLATED
    C_Llambda, MSS = answer.trace.columns["C_Llambda"], answer.trace.constants["MSS"]
    assert C_Llambda[-1] < C_Llambda[0] + found.values["climb"] * MSS


@pytest.mark.parametrize("horizon", [18, 20])
def test_with_a_jitter_of_four_C_L_may_fall_while_C_U_is_too_low(horizon):
    answer = proved.load_result(PROOFS / f"cc_qdel_jitter4-cc_qdel_T{horizon}.json").answers[
        "C_U too low: nothing degrades"
    ]
    assert answer.verdict == VIOLATED and replay(answer.trace).outcome is Outcome.BREAKS
    C_L, C_U = (answer.trace.columns[name] for name in ("C_L", "C_U"))
    assert C_L[-1] < C_L[0] <= C_U[0] <= C_U[-1] < answer.trace.constants["C"]


@pytest.mark.slow
@each(ACCEPTABLE)
def test_check_accepts_it(file):
    assert cm.check(file).verdict == ACCEPTED


@pytest.mark.slow
@results
def test_no_window_of_a_thousand_runs_breaks_a_lemma(file):
    tried = trial(file, 1000)
    assert not tried.broken
    assert sum(tried.windows.values()) > 5000 and len(tried.windows) >= 3
