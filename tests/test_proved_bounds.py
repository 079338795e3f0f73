"""What is proved against what happens: windows of simulated runs of the deployed controller, on links of changing rate,
break no lemma. Default: some runs; `pytest -m slow`: a thousand of each, and `check` of each proof."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from ccmatic import language
from ccmatic.language.stateful import is_stateful
from ccmatic.proving import ACCEPTED, check
from ccmatic.proving import result as proved
from ccmatic.proving.prover import Prover
from ccmatic.proving.simulation_test import Trial
from ccmatic.verification import VIOLATED

#: Of controllers that form beliefs; tests/test_stateful_proofs.py is of those that remember.
RESULTS = [
    file
    for file in sorted((Path(__file__).parent.parent / "proofs").glob("*.json"))
    if not is_stateful(json.loads(file.read_text())["controller"]["source"])
]
results = pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.stem)


def trial(file, runs):
    """A Trial of so many runs."""
    tried = Trial(proved.load_result(file))
    for seed in range(runs):
        tried.run(seed)
    return tried


def test_there_are_proofs():
    assert {"cc_qdel_T10", "cc_probe_slow_T10"} <= {file.stem for file in RESULTS}


@results
def test_no_window_breaks_a_lemma(file):
    runs = 3 if "-" in file.stem else 12  # several proofs share one definition
    tried = trial(file, runs)
    assert not tried.broken
    assert sum(tried.windows.values()) > 5 * runs and tried.windows["steady"]


@results
def test_a_bound_that_is_too_good_is_broken(file):
    """The check can fail: no queue at all is more than any controller ensures, as is more than the link has."""
    result = proved.load_result(file)
    name, factor = ("inflight", Fraction(1, 100)) if "inflight" in result.constants else ("utilisation", 2)
    found = result.constants[name]
    result.constants[name] = type(found)(found.value * factor)
    tried = Trial(result)
    for seed in range(3):
        tried.run(seed)
    assert tried.broken["steady: bounds inflight"] or tried.broken["steady: uses the link"]


def test_a_probe_of_five_packets_may_learn_nothing_on_a_slow_link():
    """As the paper's α = 5 MSS has it, in the formula alone. Which window shows it is the solver's choice."""
    found = proved.load_result(next(file for file in RESULTS if file.stem == "cc_probe_slow_T10"))
    source = found.controller.source.replace("q_U > MSS", "q_U > 5 * MSS").replace("+ MSS", "+ 5 * MSS")
    prover = Prover(found.proof, language.parse(source, "five"))
    answer = prover.ask(prover.lemmas["C_Llambda low: progresses"], found.values)
    assert answer.verdict == VIOLATED
    C_Llambda, MSS = answer.trace.columns["C_Llambda"], answer.trace.constants["MSS"]
    assert C_Llambda[-1] < C_Llambda[0] + found.values["climb"] * MSS
    assert 25 * MSS > answer.trace.constants["C"]


@pytest.mark.slow
def test_windows_of_19_steps_are_too_short_for_a_jitter_of_four():
    prover = Prover(str(Path(__file__).parent / "proofs" / "jitter4.py"), "cc_qdel")
    answer = prover.ask(prover.lemmas["C_U too low: nothing degrades"], {})
    C_L, C_U = (answer.trace.columns[name] for name in ("C_L", "C_U"))
    assert answer.verdict == VIOLATED and C_L[-1] < C_L[0] <= C_U[0] < 1


@pytest.mark.slow
@results
def test_check_accepts_it(file):
    assert check(proved.load_result(file)).verdict == ACCEPTED


@pytest.mark.slow
@results
def test_no_window_of_a_thousand_runs_breaks_a_lemma(file):
    tried = trial(file, 1000)
    assert not tried.broken
    assert sum(tried.windows.values()) > 5000 and len(tried.windows) >= 3
