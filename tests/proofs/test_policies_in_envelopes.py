"""Whoever chooses the rates of a proved envelope, at random or to do harm: no window of simulated runs breaks a
lemma."""

from random import Random
from types import SimpleNamespace

import pytest

from benchmarks import trials
from benchmarks.trials import Trial
from ccmatic.proving import load_result
from ccmatic.worlds.exact import Rates
from support import ROOT

RESULT = load_result(ROOT / "results" / "proofs" / "cc_qdel-cc_qdel_wide_T11.json")
every_policy = pytest.mark.parametrize("kind", trials.KINDS, ids=lambda kind: kind.__name__.strip("_"))

#: A link that serves 40 packets a step.
LINK = SimpleNamespace(path=SimpleNamespace(rate=40, propagation=1, packet=1))


def chosen(kind, allowed):
    """The rates of 60 steps, in which what is out and the delay change."""
    choose = kind(RESULT, Random(2), LINK)
    steps = range(1, 61)
    seen = [SimpleNamespace(step=t, sent=40 * t, delivered=35 * t, lost=0, last=t % 3) for t in steps]
    return [choose(allowed, each) for each in seen]


@every_policy
def test_a_policy_stays_in_the_envelope(kind):
    rates = chosen(kind, Rates(30, 60))
    assert all(30 <= rate <= 60 for rate in rates)
    assert len(set(rates)) > 1 or kind.__name__ in ("_low", "_high", "_against")


def test_hostile_policies_are_hostile():
    assert set(chosen(trials._low, Rates(30, 60))) == {30} and set(chosen(trials._high, Rates(30, 60))) == {60}
    assert set(chosen(trials._against, Rates(30, 60))) == {60}
    assert set(chosen(trials._against, Rates(10, 60))) == {10}


@every_policy
def test_no_window_breaks_a_lemma(kind):
    trial = Trial(RESULT, kind)
    trial.run(7)
    assert not trial.broken and sum(trial.windows.values()) > 5
