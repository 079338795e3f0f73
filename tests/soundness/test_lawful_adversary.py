"""Adversaries that use the freedom of a model's laws: their runs are executions.

benchmarks/studies/lawful.py detects a run that is none, or that breaks a lemma.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

pytest.importorskip("jax", reason="no jax: pip install -e '.[rl]'")
pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")

import jax
import jax.numpy as jnp

from ccmatic.base import InputError
from ccmatic.learning import Environment, adversaries, lawful
from ccmatic.learning.envs import rollout
from ccmatic.proving import load_result
from support import ROOT
from support.benchmarks import defined_by

LINKS = {"links": "constant", "rate": 24, "rtt": 10, "jitter": 20, "interval": 2, "buffer_bdp": 2, "first": 1}
SEED = 0


@cache
def benchmark():
    return defined_by("lawful")


@pytest.fixture(scope="module")
def run():
    """A run against cc_qdel in which all is held back for nine steps, and nothing for nine."""
    return runs().holding([1] * 9 + [0] * 9, "always")


def runs(**constants):
    """The Runs of the proof of cc_qdel, with other constants."""
    result = load_result(ROOT / "results/proofs/cc_qdel_T10.json")
    found = {name: replace(result.constants[name], value=Fraction(value)) for name, value in constants.items()}
    return benchmark()["Runs"](replace(result, constants=result.constants | found), SEED)


@pytest.mark.slow
def test_what_is_held_back_is_what_was_chosen():
    """All in one interval, none in the next, in each of its slots; and every law is kept."""
    attack = adversaries.make_attack({"target": "constant:20", "level": "jitter"}, {**LINKS, "steps": 40})
    found = adversaries.play(attack, lambda state, seen, key: jnp.full((2, 1), 1 - 2.0 * (state.interval % 2)), 2)
    assert (found.held[::2] == 1).all() and (found.held[1::2] == 0).all()

    class Held(Environment):
        def reset(self, key, n):
            links, state = super().reset(key, n)
            return links._replace(held=jnp.repeat(found.held, attack.options.slots, axis=0)), state

    made = attack.target.environment
    episode = rollout(Held(made.options, act=made.act), attack.target.policy, jax.random.key(0), 2)
    assert episode.seen.served.sum((0, 1)) / episode.links.capacity.sum((0, 1)) == pytest.approx(found.used.mean())
    assert np.std(episode.seen.released[40:, 0, 0]) > 0.2 * episode.links.capacity[0, 0]
    assert not lawful(episode).broken


def test_a_link_without_jitter_leaves_nothing_open():
    with pytest.raises(InputError, match="the jitter of a link may be 0; an adversary at 'jitter' needs more"):
        adversaries.make_attack({"target": "vegas", "level": "jitter"}, {**LINKS, "jitter": [0, 5]})


def test_each_window_of_a_run_keeps_every_law(run):
    looked, kept = benchmark()["executions"](run, 10)
    assert looked == kept == 13


@pytest.mark.parametrize("planted", ["held longer than D", "served before it came", "lost where there is room"])
def test_what_breaks_a_law_is_found(run, planted):
    """By what is sent in two steps."""
    step, horizon = run.path.step, 10
    late = np.flatnonzero((run.sent > 57 * step) & (run.sent <= 59 * step))
    column, value = {
        "held longer than D": ("released", run.token[late] + 3 * step),
        "served before it came": ("released", run.sent[late] - 4 * step),
        "lost where there is room": ("dropped", run.sent[late]),
    }[planted]
    changed = getattr(run, column).copy()
    changed[late] = value
    changed = np.sort(changed) if column == "released" else changed
    looked, kept = benchmark()["executions"](replace(run, **{column: changed}), horizon)
    assert looked == 13 and kept < looked


def test_a_bound_that_is_too_tight_is_broken():
    """By windows that are counted; the one that is proved is not."""
    proved, tight = runs(), runs(utilisation="21/20")
    for each in (proved, tight):
        assert 0.83 < each.least(each.holding([1] * 9 + [0] * 9, "always")) < 1.05
    assert proved.trial.windows and not proved.trial.broken
    assert tight.trial.broken.total() > 0
