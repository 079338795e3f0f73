"""Links as skrl asks for an environment: all flows of all of them are agents of one policy."""

from functools import partial

import jax
import jax.numpy as jnp
from skrl.envs.wrappers.jax import Wrapper

from ccmatic.learning.envs import Fluid, spaces


class Links(Wrapper):
    """n links of an Environment, an episode at a time. sums: of the episode so far, what `measures` reads."""

    observation_space, action_space = property(lambda self: self._spaces[0]), property(lambda self: self._spaces[1])
    num_envs = property(lambda self: self._backend.n * self.environment.options.flows)
    device = property(lambda self: self._device)

    def __init__(self, environment, n, device):
        self.environment, self._spaces = environment, spaces(environment)
        self._backend = Fluid(environment, n, device)
        self._device = jax.devices(device)[0]
        self._step = jax.jit(partial(_interval, environment), donate_argnums=(1, 2))
        self.seed = 0

    def reset(self):
        """Begin the episode of `seed`."""
        self._links, self._state, observation = self._backend.reset(self.seed)
        self.sums = jnp.zeros(4)
        return self._flat(observation), {}

    def step(self, actions):
        """An interval. No episode ends here: the trainer asks for as many steps as it has."""
        actions = actions.reshape(self._backend.n, -1)
        self._state, self.sums, observation, reward = self._step(self._links, self._state, self.sums, actions)
        ended = jnp.zeros((self.num_envs, 1), jnp.int8)
        return self._flat(observation), reward.reshape(-1, 1), ended, ended, {}

    def measures(self):
        """Of the episode: (mean reward, share of what the links could serve that was acknowledged, mean RTT in ms)."""
        reward, acked, served, waited = (float(total) for total in self.sums)
        return reward / self.environment.options.steps, acked / served, waited / max(acked, 1) * 1000

    def state(self):
        """There is none but the observation."""

    def render(self):
        """Nothing is drawn."""

    def close(self):
        """Nothing is open."""

    def _flat(self, observation):
        return observation.reshape(self.num_envs, -1)


def _interval(environment, links, state, sums, actions):
    state, observation, reward = environment.step(links, state, jnp.clip(actions, *environment.bounds))
    return state, sums + jnp.stack([reward.mean(), *environment.totals(links, state)]), observation, reward
