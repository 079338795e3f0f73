"""The networks of PPO, and the distribution of its actions."""

from math import log, pi
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.learning.agents.networks import Actor, Network


class Networks(NamedTuple):
    """What PPO learns."""

    policy: Actor  #: the network of the mean action, or of a score for each choice
    value: Network  #: the network of the value. Its inputs are the observation and then the memory of the policy
    log_deviation: Array | None  #: the logarithm of the standard deviation of actions; None for choices


def sampled(networks: Networks, outputs: Array, key: Array) -> Array:
    """Return random actions, or the places of random choices, given the outputs (…, outputs) of the policy."""
    if networks.log_deviation is None:
        return jax.random.categorical(key, outputs).astype(jnp.float32)
    noise = jax.random.normal(key, outputs.shape[:-1])
    return outputs[..., 0] + jnp.exp(networks.log_deviation) * noise


def log_probability(networks: Networks, outputs: Array, action: Array) -> Array:
    """Return the logarithm of the density of actions, or of the probability of the places of choices."""
    if networks.log_deviation is None:
        places = action.astype(jnp.int32)[..., None]
        return jnp.take_along_axis(jax.nn.log_softmax(outputs), places, axis=-1)[..., 0]
    away = (action - outputs[..., 0]) / jnp.exp(networks.log_deviation)
    return -0.5 * away**2 - networks.log_deviation - 0.5 * log(2 * pi)


def deviation(networks: Networks, outputs: Array, choices: tuple[float, ...]) -> Array:
    """Return the standard deviation of actions; for choices, its mean over the outputs (…, outputs)."""
    if networks.log_deviation is not None:
        return jnp.exp(networks.log_deviation)
    shares, numbers = jax.nn.softmax(outputs), jnp.asarray(choices, jnp.float32)
    mean = shares @ numbers
    return jnp.sqrt((shares * (numbers - mean[..., None]) ** 2).sum(-1)).mean()
