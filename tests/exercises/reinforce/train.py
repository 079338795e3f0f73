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
    """A policy whose actions deviate less and less. Its state is (layers, deviation)."""

    Options = Options

    @classmethod
    def check(cls, training):
        """One hidden layer."""
        if len(training.agent.layers) != 1:
            raise InputError(f"layers is {list(training.agent.layers)}; expected one hidden layer")

    def begin(self, key):
        """Random layers, and the deviation of the query."""
        return begin(key, self.training.environment.size, *self.training.agent.layers), jnp.float32(
            self.training.deviation
        )

    def learn(self, state, links, key):
        """The reward of an interval is that of the action `lag` intervals before."""
        (layers, deviation), training = state, self.training

        def interval(place, key):
            played, seen = place
            action = mean(layers, seen)[:, 0] + deviation * jax.random.normal(key, seen.shape[:1])
            played, following, reward = training.links.step(played, action)
            return (played, following), (seen, action, reward)

        keys = jax.random.split(key, training.environment.options.steps)
        (played, _), (seen, action, reward) = jax.lax.scan(interval, training.links.begin(links), keys)
        kept = len(keys) - training.lag
        slope = jax.grad(loss)(layers, seen[:kept], action[:kept, :, None], reward[training.lag :, :, None], deviation)
        layers = jax.tree.map(lambda weight, change: weight - training.agent.learning_rate * change, layers, slope)
        return (layers, deviation * training.agent.options.shrink), played

    def deviation(self, state):
        """The second part of the state."""
        return state[1]

    def layers(self, state):
        """Both layers."""
        return state[0]


AGENT = Reinforce
