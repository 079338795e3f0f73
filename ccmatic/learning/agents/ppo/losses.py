"""The loss of PPO: a clipped ratio of probabilities for the policy, and a clipped square for the values."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.learning.agents.networks import output
from ccmatic.learning.agents.ppo.networks import Networks, log_probability

#: λ of generalised advantage estimation (Schulman et al., 2016), and the limits of the ratio and of the values.
LAMBDA, CLIP = 0.95, 0.2

#: The weight of the values' loss.
VALUES = 2.5


class Batch(NamedTuple):
    """Intervals of flows. Every array begins with the axes (intervals, flows).

    The intervals of a policy with a memory are consecutive. Otherwise the first axis has the length 1.
    """

    seen: Array  #: the observations
    memory: Array  #: the memory of the policy before it saw the observation
    recalled: Array  #: the memory afterwards
    action: Array  #: the action, or the place of a choice
    log: Array  #: the logarithm of its probability (density)
    value: Array
    returned: Array
    advantage: Array


def advantages(rewards: Array, values: Array, last: Array, gamma: float) -> Array:
    """Return the advantages (intervals, flows) by generalised advantage estimation.

    Rewards and values are (intervals, flows), in the unit of rewards. `last` has the values after the last interval.
    """

    def back(carry: tuple[Array, Array], now: tuple[Array, Array]) -> tuple[tuple[Array, Array], Array]:
        (advantage, following), (reward, value) = carry, now
        advantage = reward + gamma * following - value + gamma * LAMBDA * advantage
        return (advantage, value), advantage

    result: Array = jax.lax.scan(back, (jnp.zeros_like(last), last), (rewards, values), reverse=True)[1]
    return result


def loss(networks: Networks, batch: Batch) -> Array:
    """Return PPO's loss of a Batch. Values and returns are in units of the running standard deviation."""
    outputs = networks.policy.outputs(_memories(networks, batch), batch.seen)
    ratio = jnp.exp(log_probability(networks, outputs, batch.action) - batch.log)
    limited = jnp.clip(ratio, 1 - CLIP, 1 + CLIP)
    policy = -jnp.minimum(batch.advantage * ratio, batch.advantage * limited).mean()
    value = output(networks.value, jnp.concatenate([batch.seen, batch.recalled], axis=-1))
    value = batch.value + jnp.clip(value - batch.value, -CLIP, CLIP)
    return policy + VALUES * ((batch.returned - value) ** 2).mean()


def _memories(networks: Networks, batch: Batch) -> Array:
    """Return the memory after each observation. Its gradient goes back to the first interval of the batch."""
    if networks.policy.cell is None:
        return batch.recalled

    def interval(memory: Array, seen: Array) -> tuple[Array, Array]:
        memory = networks.policy.remembered(memory, seen)
        return memory, memory

    result: Array = jax.lax.scan(interval, batch.memory[0], batch.seen)[1]
    return result
