"""Episodes are judged law by law, and what no link does is found; several flows are agents."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import numpy as np
import pytest


import jax
import jax.numpy as jnp
from pettingzoo.test import parallel_api_test

from ccmatic.base import InputError
from ccmatic.learning import LinkOptions, Environment, LinkParallelEnv, lawful, stateless
from ccmatic.learning.envs import rollout

WANDERING = stateless(lambda seen: 8 * jnp.sin(40 * jnp.sum(seen, axis=-1) + jnp.arange(seen.shape[0])[:, None]))


def episode(**options):
    environment = Environment(LinkOptions(steps=60, **options), act="aurora", observe="aurora")
    return rollout(environment, WANDERING, jax.random.key(3), 6)


def test_a_link_that_does_what_none_can_is_found():
    good = episode(buffer_bdp=1, jitter=8)
    S = good.seen.released
    impossible = {
        "faster than the link": good.seen._replace(served=good.seen.served * 2),
        "before it is sent": good.seen._replace(released=np.roll(S, -2, axis=0)),
        "later than jitter allows": good.seen._replace(released=np.roll(S, 3, axis=0)),
        "lost where there is room": good.seen._replace(dropped=good.seen.dropped + 1000),
    }
    for what, seen in impossible.items():
        assert lawful(good._replace(seen=seen)).broken, what


@pytest.mark.slow
def test_links_that_are_never_the_same_are_not_judged():
    with pytest.raises(InputError, match="no link has one rate for 10 slots"):
        lawful(episode(links="smooth"))


def test_flows_are_agents_that_come_and_go():
    env = LinkParallelEnv(flows=3, steps=30, starts=[0, 0.2], lasts=[0.1, 0.3], rtt=[16, 32])
    parallel_api_test(env, num_cycles=60)
    env.reset(seed=2)
    came, gone = set(env.agents), set()
    while env.agents:
        before = {*env.agents}
        _, rewards, terminated, truncated, _ = env.step({agent: np.ones(1) for agent in env.agents})
        came |= {*env.agents}
        gone |= {agent for agent in terminated if terminated[agent]}
        assert before <= rewards.keys()
    assert came == {*env.possible_agents} and truncated["flow_0"] and gone <= {"flow_1", "flow_2"} and gone
