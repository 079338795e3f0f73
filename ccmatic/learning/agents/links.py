"""Links as an environment of the library skrl. The flows of all links are agents that share one policy."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box
from jax import Array
from skrl.envs.wrappers.jax import Wrapper

from ccmatic import contracts
from ccmatic.learning.envs import Fluid, Learnable, spaces


class Links(Wrapper):  # type: ignore[misc]  # skrl has no types
    """An Environment with n links for skrl. The environment plays one episode at a time.

    Attributes:
        environment: The Environment of the links.
        seed: The seed of the next episode.
        sums: The sums over the episode so far, which the method `measures` reads.
    """

    def __init__(self, environment: Learnable[Any], n: int, device: str | None) -> None:
        self.environment, self._spaces = environment, spaces(environment)
        self._backend = Fluid(environment, n, device)
        self._device = jax.devices(device)[0]
        self._step = jax.jit(partial(_interval, environment), donate_argnums=(1, 2))
        self.seed = 0

    @property
    def observation_space(self) -> "Box[np.float32]":
        """The space of observations, as skrl describes."""
        return self._spaces[0]

    @property
    def action_space(self) -> "Box[np.float32]":
        """The space of actions, as skrl describes."""
        return self._spaces[1]

    @property
    def num_envs(self) -> int:
        """The number of flows of all links."""
        return self._backend.n * self.environment.options.flows

    @property
    def device(self) -> jax.Device:
        """The device of JAX, as skrl describes."""
        return self._device

    def reset(self) -> tuple[Array, dict[str, Any]]:
        """Begin the episode that `seed` determines."""
        self._links, self._state, observation = self._backend.reset(self.seed)
        self.sums = jnp.zeros(4)
        return self._flat(observation), {}

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Play one interval. No episode ends here: the trainer plays a fixed number of steps."""
        actions = actions.reshape(self._backend.n, -1)
        self._state, self.sums, observation, reward = self._step(self._links, self._state, self.sums, actions)
        ended = jnp.zeros((self.num_envs, 1), jnp.int8)
        return self._flat(observation), reward.reshape(-1, 1), ended, ended, {}

    def measures(self) -> tuple[float, float, float]:
        """Return three measures of the episode.

        Returns:
            The mean reward, the acknowledged bytes as a share of the bytes that the links could serve, and the mean RTT
            in ms.
        """
        reward, acked, served, waited = (float(total) for total in self.sums)
        return reward / self.environment.options.steps, acked / served, waited / max(acked, 1) * 1000

    def state(self) -> None:
        """Return None, because the observation is the whole state."""

    def render(self) -> None:
        """Draw nothing."""

    def close(self) -> None:
        """Do nothing, because the environment has no open resources."""

    def _flat(self, observation: Array) -> Array:
        return observation.reshape(self.num_envs, -1)


def _interval(
    environment: Learnable[Any], links: contracts.Links, state: Any, sums: Array, actions: Array
) -> tuple[Any, Array, Array, Array]:
    state, observation, reward = environment.step(links, state, jnp.clip(actions, *environment.bounds))
    return state, sums + jnp.stack([reward.mean(), *environment.totals(links, state)]), observation, reward
