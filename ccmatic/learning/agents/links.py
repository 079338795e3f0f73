"""Links for agents: an environment whose flows share one policy, as pure functions."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from ccmatic import contracts
from ccmatic.learning.envs import Learnable


class Played(NamedTuple):
    """An episode that is being played.

    Attributes:
        links: The links.
        state: The state of the environment.
        sums: Four sums over the episode so far: the mean reward, and the environment's `totals`.
    """

    links: contracts.Links
    state: Any
    sums: Array


@dataclass(frozen=True)
class Links:
    """The links of a training.

    Attributes:
        environment: The Environment, or another Learnable.
        n: The number of links.
    """

    environment: Learnable[Any]
    n: int

    @property
    def flows(self) -> int:
        """The number of flows of all links."""
        return self.n * self.environment.options.flows

    def begin(self, key: Array) -> tuple[Played, Array]:
        """Begin an episode.

        Args:
            key: The key of jax.random, which determines the links.

        Returns:
            The Played, and the observation (flows, size).
        """
        links, state = self.environment.reset(key, self.n)
        return Played(links, state, jnp.zeros(4)), self._flat(self.environment.observation(state))

    def step(self, played: Played, actions: Array) -> tuple[Played, Array, Array]:
        """Play one interval.

        Args:
            played: The Played.
            actions: The actions (flows). The environment's bounds limit them.

        Returns:
            The next Played, the observation (flows, size) and the reward (flows).
        """
        environment, (links, state, sums) = self.environment, played
        actions = jnp.clip(actions.reshape(self.n, -1), *environment.bounds)
        state, observation, reward = environment.step(links, state, actions)
        sums = sums + jnp.stack([reward.mean(), *environment.totals(links, state)])
        return Played(links, state, sums), self._flat(observation), reward.reshape(-1)

    def measures(self, sums: Array) -> Array:
        """Return three measures of an episode from its sums.

        Returns:
            The mean reward, the acknowledged bytes as a share of the bytes that the links could serve, and the mean RTT
            in ms.
        """
        reward, acked, served, waited = jnp.moveaxis(sums, -1, 0)
        return jnp.stack(
            [reward / self.environment.options.steps, acked / served, waited / jnp.maximum(acked, 1) * 1000], axis=-1
        )

    def _flat(self, observation: Array) -> Array:
        return observation.reshape(self.flows, -1)
