"""One link as pure functions with autoreset, in the manner of gymnax, for loops that JAX compiles.

`jax.vmap` plays many links, each with its own clock and its own parameters.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import InputError, shown
from ccmatic.contracts import Links
from ccmatic.learning.envs.backends import MEASURES, measured
from ccmatic.learning.envs.environment import Environment
from ccmatic.learning.envs.links import Ranges
from ccmatic.learning.envs.signals import EnvironmentState


class TaskState(NamedTuple):
    links: Links
    state: EnvironmentState


@dataclass(frozen=True)
class Task:
    """An Environment with one flow, as pure functions of one link."""

    environment: Environment

    def __post_init__(self) -> None:
        flows = self.environment.options.flows
        if flows != 1:
            raise InputError(f"a task of {flows} flows; expected one")

    def init(self, key: Array, params: Ranges | None = None) -> tuple[Array, TaskState]:
        """Begin an episode.

        Args:
            key: The key of jax.random for all random choices.
            params: Ranges (low, high) from which the link is drawn, by the names of options, as in LinkOptions.within.
                They may be traced. None for the ranges of the options.

        Returns:
            The observation, an array (size), and the TaskState.

        Raises:
            InputError: If the key does not come from `jax.random.key`, or a range is wrong.
        """
        if not isinstance(key, Array) or not jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
            raise InputError(f"the key is {shown(key)}; expected a key such as jax.random.key(1)")
        links, state = self.environment.reset(key[None], 1, params)
        return self.environment.observation(state)[0, 0], TaskState(links, state)

    def step(
        self, key: Array, task: TaskState, action: Array, params: Ranges | None = None
    ) -> tuple[Array, TaskState, Array, Array, dict[str, Array]]:
        """Play one interval. At the end of an episode, the next one begins.

        Args:
            key: The key of jax.random for the next episode.
            task: The TaskState.
            action: A number. If the environment has `choices`, the index of a choice.
            params: The ranges for the next episode, as in `init`.

        Returns:
            The observation, the TaskState, the reward, whether the episode has ended, and a dict. If the episode has
            ended, the observation and the TaskState are those of the next episode. The dict contains the measurements,
            and under `final_obs` the observation at the end of the interval.

        Raises:
            InputError: If the action is not one number, or for a reason that `init` states.
        """
        if jnp.size(action) != 1:
            raise InputError(f"the action has the shape {jnp.shape(action)}; expected one number")
        choices = self.environment.choices
        chosen = jnp.asarray(choices, jnp.float32)[action] if choices else jnp.asarray(action, jnp.float32)
        state, observation, reward = self.environment.step(task.links, task.state, chosen.reshape(1, 1))
        done = state.interval >= self.environment.options.steps
        info = {name: value[0, 0] for name, value in zip(MEASURES, measured(state.knowledge), strict=True)}
        last = observation[0, 0], TaskState(task.links, state)
        after: Any = jax.lax.cond(done, lambda: self.init(key, params), lambda: last)
        return *after, reward[0, 0], done, info | {"final_obs": last[0]}
