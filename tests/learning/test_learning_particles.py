"""Learn-to-Probe's particles of many links at once do as the filter of one flow; rewards are of widths."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import numpy as np
import pytest

from ccmatic.answers.estimation import ParticleFilter, Signals

import jax.numpy as jnp
from jax import jit, random

from ccmatic.learning import Environment, LinkOptions, RolloutPolicy
from ccmatic.learning.envs import rollout
from ccmatic.learning.envs import particles

LINKS = LinkOptions(rate=24, rtt=30, buffer_bdp=1, steps=60, first=1)

#: What is sent in an interval, in C.
ROUND = jnp.array([0.8, 1.0, 1.25, 1.5, 0.7, 0.5])


@pytest.fixture(scope="module")
def episode():
    """Return an episode of 64 equal links with different particles."""
    environment = Environment(LINKS, act="rate", reward="ltp_particles")

    def act(memory, links, state, seen):
        rate = ROUND[state.interval % len(ROUND)] * state.knowledge.capacity
        return memory, rate.T

    return rollout(environment, RolloutPolicy(lambda links: (), act), random.key(1), 64)


def ends(state):
    """From the 10th to the 90th percentile, of own rate and delay, means over links: (2, 2)."""
    return np.array([np.percentile(column, (10, 90), axis=-1).mean(-1) for column in (state.own, state.delay)])


def test_particles_of_many_links_do_as_those_of_one(episode):
    known, found = episode.knowledge, []
    measures = (known.measure(name) for name in ("throughput", "loss_rate", "sending_rate_before"))
    rtt, throughput, loss, sent = (np.asarray(column)[:, 0, 0] for column in (known.now.rtt_end, *measures))
    for seed in range(12):
        one = ParticleFilter(float(known.now.seconds[0, 0, 0]), seed)
        for t in range(2, len(rtt)):
            one.update(Signals(sent[t] / sent[t - 1], rtt[t], throughput[t], loss[t]))
        found.append([one.ranges()["own"], one.ranges()["delay"]])
    many = ends(type(known.particles.state)(*(np.asarray(column)[-1, 0] for column in known.particles.state)))
    np.testing.assert_allclose(many, np.mean(found, axis=0), rtol=0.25, atol=0.004)


def test_the_reward_is_less_the_wider_particles_and_beliefs_are(episode):
    delay, own, others = (np.asarray(width) for width in episode.knowledge.particles.widths())
    assert all((width >= 0).all() for width in (delay, own, others)) and delay.max() > 0 and own.max() > 0
    less = np.asarray(episode.knowledge.measure("relative_power")) - np.swapaxes(episode.reward, 1, 2)
    np.testing.assert_allclose(less, 0.2 * (10 * delay + 0.2 * own + 0.2 * others), atol=1e-5)


def test_widths_are_of_percentiles():
    state = particles.first(random.uniform(random.key(2), (4, 1, 3, 100)))
    told = particles.Particles(state, None, None, None)
    expected = np.ptp(np.percentile(state.delay, (10, 90), axis=-1), axis=0)
    np.testing.assert_allclose(told.widths()[0], expected, atol=0.004)


def test_beliefs_are_formed_where_they_are_rewarded():
    environment = Environment(LINKS, observe="ltp", act="ltp", reward="ltp_beliefs")

    @jit
    def played():
        links, state = environment.reset(random.key(1), 2)
        state, _, reward = environment.step(links, state, jnp.zeros((2, 1)))
        assert state.knowledge.bounds is not None and state.knowledge.particles is None
        return reward.T, state.knowledge.measure("relative_power")

    reward, without = map(np.asarray, played())
    assert (reward < without).all()
