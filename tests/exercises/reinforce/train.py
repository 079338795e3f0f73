"""REINFORCE, by JAX alone: one step of gradient descent after each episode."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from ccmatic.base import InputError
from ccmatic.learning import agents

from .losses import loss
from .networks import begin, mean


@dataclass(frozen=True)
class Options:
    """Options of a training. `shrink` is the factor of the actions' deviation after each episode."""

    shrink: float = 0.9

    def __post_init__(self):
        if not isinstance(self.shrink, float) or not 0 < self.shrink <= 1:
            raise InputError(f"shrink is {self.shrink}; expected a number above 0, at most 1")


class Reinforce(agents.Agent):
    """A policy whose actions deviate less and less."""

    Options = Options
    deviation = 0.0

    @classmethod
    def check(cls, training):
        """One hidden layer."""
        if len(training.agent.layers) != 1:
            raise InputError(f"layers is {list(training.agent.layers)}; expected one hidden layer")

    def __init__(self, training, links, seed):
        self._asked, self._links = training.agent, links
        self._steps, self._lag = training.environment.options.steps, training.lag
        inputs = links.observation_space.shape[0]
        self._layers, self.deviation = begin(seed, inputs, *self._asked.layers), self._asked.deviation
        self._descend = jax.jit(jax.value_and_grad(loss))

    def learn(self, seed):
        """The reward of an interval is that of the action `lag` intervals before."""
        key, (seen, _) = jax.random.key(seed), self._links.reset()
        observations, actions, rewards = [], [], []
        for step in range(self._steps):
            noise = jax.random.normal(jax.random.fold_in(key, step), (self._links.num_envs, 1))
            action = mean(self._layers, seen) + self.deviation * noise
            observations.append(seen)
            actions.append(action)
            seen, reward, *_ = self._links.step(action)
            rewards.append(reward)
        kept = self._steps - self._lag
        parts = map(jnp.concatenate, (observations[:kept], actions[:kept], rewards[self._lag :]))
        _, slope = self._descend(self._layers, *parts, self.deviation)
        rate = self._asked.learning_rate
        self._layers = jax.tree.map(lambda weight, change: weight - rate * change, self._layers, slope)
        self.deviation *= self._asked.options.shrink

    def layers(self):
        """Both."""
        return self._layers

    def state(self):
        """The layers, and the deviation."""
        return {"layers": self._layers, "deviation": jnp.array(self.deviation)}

    def restore(self, state):
        """The same."""
        self._layers, self.deviation = state["layers"], float(state["deviation"])


AGENT = Reinforce
