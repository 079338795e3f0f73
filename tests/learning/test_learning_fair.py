"""A reward that depends on the shares of all flows on a link."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import numpy as np


import jax
import jax.numpy as jnp

from ccmatic.controllers import signal
from ccmatic.learning import Environment, LinkOptions
from ccmatic.learning.envs import signals

C = 1e6


def known(*acked):
    """Of flows that got so many shares of the link, columns of links, in an interval of R_m, 20 ms."""
    share = jnp.array(acked)
    rtt = jnp.full_like(share, 0.02)
    begun = signals.first(rtt, rtt, jnp.int32(1500), signal.shared_memory(), capacity=jnp.full_like(share, C))
    return begun._replace(now=begun.now._replace(sent=share * C * rtt, acked=share * C * rtt))


def reward(name, known):
    return known.value(signal.load("reward", name).term)


def test_fair_shares_are_rewarded_more_than_unequal_ones_of_the_same_sum():
    shares = known([1 / 3, 0.5, 1], [1 / 3, 0.25, 0], [1 / 3, 0.25, 0])
    alone, fair = reward("ltp", shares).mean(0), reward("ltp_fair", shares).mean(0)
    np.testing.assert_allclose(alone, 1 / 3, rtol=1e-5)
    np.testing.assert_allclose(alone - fair, [0, 1 / 72**0.5, 2**0.5 / 3], atol=1e-6)


def test_shares_count_not_the_scale_of_what_is_got():
    full, half = known([0.6], [0.4]), known([0.3], [0.2])
    terms = [reward("ltp", each) - reward("ltp_fair", each) for each in (full, half)]
    np.testing.assert_allclose(terms, 0.1, rtol=1e-5)


def test_who_is_alone_is_rewarded_as_without_the_term():
    alone = known([1.0, 0.2, 0.0])
    np.testing.assert_array_equal(reward("ltp_fair", alone), reward("ltp", alone))


def test_each_flow_of_an_environment_is_rewarded_for_fair_shares():
    environment = Environment(LinkOptions(flows=3), observe="ltp", reward="ltp_fair")
    shares = known([0.5], [0.25], [0.25])
    _, state = jax.jit(environment.reset, static_argnums=1)(jax.random.key(0), 1)
    _, reward = jax.jit(environment.learn)(state._replace(knowledge=shares), shares.now)
    np.testing.assert_allclose(reward, np.array([[0.5, 0.25, 0.25]]) - 1 / 72**0.5, rtol=1e-5)
