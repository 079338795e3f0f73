"""What is proved against what happens: windows of simulated runs of the deployed controller, on links of changing rate,
break no lemma. Default: some runs; `pytest -m slow`: a thousand of each, and `check` of each proof."""

from fractions import Fraction
from pathlib import Path

import pytest

from ccmatic.proving import ACCEPTED, check
from ccmatic.proving import result as proved
from ccmatic.proving.simulation_test import Trial

RESULTS = sorted((Path(__file__).parent.parent / "proofs").glob("*.json"))
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
