"""Links for agents: an environment whose flows share one policy, as pure functions."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from ccmatic import contracts
from ccmatic.learning.envs import Learnable


class Played(NamedTuple):
    """An episode that is being played."""

    links: contracts.Links
    state: Any  #: the state of the environment
    sums: Array  #: Four sums over the episode so far: the mean reward, and the environment's `totals`


@dataclass(frozen=True)
class Links:
    """The links of a training."""

    environment: Learnable[Any]  #: the Environment, or another Learnable
    n: int

    @property
    def flows(self) -> int:
        """The number of flows of all links."""
        return self.n * self.environment.options.flows

    def begin(self, key: Array) -> tuple[Played, Array]:
        """Begin an episode on links that the key determines. Return the Played and the observation (flows, size)."""
        links, state = self.environment.reset(key, self.n)
        return Played(links, state, jnp.zeros(4)), self._flat(self.environment.observation(state))

    def step(self, played: Played, actions: Array) -> tuple[Played, Array, Array]:
        """Play one interval with actions (flows). Return the Played, observations (flows, size) and rewards (flows)."""
        environment, (links, state, sums) = self.environment, played
        actions = jnp.clip(actions.reshape(self.n, -1), *environment.bounds)
        state, observation, reward = environment.step(links, state, actions)
        sums = sums + jnp.stack([reward.mean(), *environment.totals(links, state)])
        return Played(links, state, sums), self._flat(observation), reward.reshape(-1)

    def measures(self, sums: Array) -> Array:
        """Return the mean reward, the acknowledged share of what the links could serve, and the mean RTT in ms."""
        reward, acked, served, waited = jnp.moveaxis(sums, -1, 0)
        return jnp.stack(
            [reward / self.environment.options.steps, acked / served, waited / jnp.maximum(acked, 1) * 1000], axis=-1
        )

    def _flat(self, observation: Array) -> Array:
        return observation.reshape(self.flows, -1)
