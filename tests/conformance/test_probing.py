"""The benchmark of Learn-to-Probe's figures: learners that run at once, and one beside others."""

import numpy as np
import pytest

from support.benchmarks import defined_by
from support.policies import policy

jax = pytest.importorskip("jax", reason="no jax: pip install -e '.[rl]'")
pytest.importorskip("gymnasium", reason="no gymnasium: pip install -e '.[rl]'")

from ccmatic.learning import Environment, LinkOptions, sender, trained  # noqa: E402

LINKS = LinkOptions(rate=100, rtt=30, flows=2, steps=4)


@pytest.mark.slow
def test_the_first_flow_sends_as_learned_and_the_others_as_they_do(tmp_path):
    made = policy(tmp_path / "made.json", observe="ltp", act="ltp", reward="ltp")
    environment = Environment(LINKS, observe="ltp", act="rate", reward="ltp", history=3)
    links, state = environment.reset(jax.random.key(1), 3)
    other = sender("reno", environment)
    seen = environment.observation(state) + 0.5
    defined = defined_by("trained")
    both = defined["beside"](defined["saying_rates"]([made]), other)
    _, rates = both.act(both.begin(links), links, state, seen)
    _, others = other.act(other.begin(links), links, state, seen)
    learned, alone = trained(made, LINKS)
    _, action = alone.act((), links, state, seen)
    expected = learned.acted(links, state, action).rate.T
    np.testing.assert_allclose(rates[:, 0], expected[:, 0], rtol=1e-5)
    np.testing.assert_allclose(rates[:, 1], np.asarray(others)[:, 1])
    assert np.ptp(np.asarray(rates)[:, 0] - np.asarray(others)[:, 0]) > 0


@pytest.mark.slow
def test_learners_that_are_played_together_are_told_apart(tmp_path):
    defined = defined_by("probing")
    given = defined["Options"](folder=tmp_path, seeds=1, figure="8", algorithm="ppo")
    kept = {"observe": "ltp", "act": "ltp", "history": 10}
    for name, bias in (("ltp_particles", -1.0), ("ltp_beliefs", 0.0), ("ltp_no_probe", 1.0)):
        reward = defined["LEARNERS"][name]["reward"]
        policy(tmp_path / f"{name}_large_1.json", [(np.zeros((50, 1)), [bias])], reward=reward, **kept)
    rates = []
    for name in ("ltp_particles", "ltp_beliefs", "ltp_no_probe"):
        episode, seeds = defined["played"](given, name, LinkOptions(rate=100, rtt=30, steps=4, first=1), 2)
        assert seeds == 1 and episode.reward.shape[1] == 6 and episode.knowledge.now.sent.shape == (4, 1, 2)
        rates.append(episode.knowledge.now.sent[-1].mean())
    assert rates[0] < rates[1] < rates[2]


def test_links_are_repeated_with_the_same_random_events():
    """The ranking of figure 9 plays every learner on the same links."""
    options = defined_by("probing")["RepeatedLinks"](steps=4, times=3, rate=[10, 100], loss=0.1)
    links, _ = Environment(options, act="rate").reset(jax.random.key(1), 6)
    for table in (links.capacity, links.luck):
        first, *others = np.split(np.asarray(table), 3, axis=-1)
        assert np.ptp(first) > 0
        for other in others:
            np.testing.assert_array_equal(first, other)
