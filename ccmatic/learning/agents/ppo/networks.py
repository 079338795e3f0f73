"""The networks of PPO, and the distribution of its actions."""

from math import log, pi
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from ccmatic.learning.agents.networks import Network, output


class Networks(NamedTuple):
    """What PPO learns.

    Attributes:
        policy: The network of the mean action.
        value: The network of the value.
        log_deviation: The logarithm of the standard deviation of actions.
    """

    policy: Network
    value: Network
    log_deviation: Array


def log_probability(networks: Networks, seen: Array, action: Array) -> Array:
    """Return the logarithm of the density of actions, given the observations."""
    away = (action - output(networks.policy, seen)) / jnp.exp(networks.log_deviation)
    return -0.5 * away**2 - networks.log_deviation - 0.5 * log(2 * pi)
