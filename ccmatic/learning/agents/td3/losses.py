"""The losses of TD3: two critics learn from the lower of two target values, and a policy learns from one critic."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.learning.agents.networks import Network, output

#: The noise on the target policy's actions: its standard deviation and its limit, as shares of the largest action
#: (values of the TD3 authors).
SMOOTHING = 0.2, 0.5


class Transitions(NamedTuple):
    """Intervals of flows: observation (…, size), action, reward, and the next observation (…, size)."""

    seen: Array
    action: Array
    reward: Array
    following: Array


def act(policy: Network, seen: Array, most: float) -> Array:
    """Return the actions of a policy. A tanh limits them to the range from -most to most."""
    return most * jnp.tanh(output(policy, seen))


def worth(critic: Network, seen: Array, action: Array) -> Array:
    """Return a critic's value of actions, given the observations."""
    return output(critic, jnp.concatenate([seen, action[..., None]], axis=-1))


def target(
    policy: Network, critics: tuple[Network, Network], batch: Transitions, most: float, gamma: float, key: Array
) -> Array:
    """Return the values that the critics should have for a batch, by the target policy and the target critics."""
    noise = jax.random.normal(key, batch.action.shape) * SMOOTHING[0] * most
    limit = SMOOTHING[1] * most
    action = jnp.clip(act(policy, batch.following, most) + jnp.clip(noise, -limit, limit), -most, most)
    value = jnp.minimum(*(worth(critic, batch.following, action) for critic in critics))
    return batch.reward + gamma * value


def critics_loss(critics: tuple[Network, Network], batch: Transitions, wanted: Array) -> Array:
    errors = [worth(critic, batch.seen, batch.action) - wanted for critic in critics]
    return sum(((error**2).mean() for error in errors), jnp.float32(0))


def policy_loss(policy: Network, critic: Network, batch: Transitions, most: float) -> Array:
    return -worth(critic, batch.seen, act(policy, batch.seen, most)).mean()
