"""Training of small networks by an evolution strategy (Salimans et al., 2017), compiled as one loop.

The gradient of the reward is estimated from pairs of networks that differ from the current one by opposite random
amounts. No gradient has to pass through beliefs, which jump.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import Array

from ccmatic.learning.envs import Environment, beliefs
from ccmatic.learning.envs.beliefs import Beliefs
from ccmatic.learning.provable import network
from ccmatic.learning.provable.network import Weights
from ccmatic.learning.provable.query import ProvableTraining

#: The pairs of networks in a generation, and the standard deviation of their differences.
PAIRS, DEVIATION = 16, 0.1

#: The weight, in a generation's reward, of sending faster or slower than the guard allows.
GUARD = 10.0


def improved(training: ProvableTraining, weights: Weights, seed: int) -> tuple[Weights, float]:
    """Return the weights after all generations of a training, and the mean reward of the last generation."""
    environment = training.environment
    optimiser = optax.adam(training.learning_rate)

    def score(weights: Weights, key: Array) -> Array:
        reward, outside = played(environment, partial(network.share, weights), key, training.links, training.guard)
        return reward - GUARD * outside

    def generation(carry: Any, key: Array) -> tuple[Any, Array]:
        weights, state = carry
        one, two = jax.random.split(key)
        keys = jax.random.split(one, len(weights))
        noise = [jax.random.normal(k, (PAIRS, *w.shape)) for k, w in zip(keys, weights, strict=True)]
        both = [jnp.concatenate([w + DEVIATION * n, w - DEVIATION * n]) for w, n in zip(weights, noise, strict=True)]
        scores = jax.vmap(score, (0, None))(both, two)
        ranks = jnp.argsort(jnp.argsort(scores)) / (2 * PAIRS - 1) - 0.5
        better = ranks[:PAIRS] - ranks[PAIRS:]
        gradient = [-jnp.tensordot(better, n, 1) / (PAIRS * DEVIATION) for n in noise]
        changes, state = optimiser.update(gradient, state, weights)
        return (optax.apply_updates(weights, changes), state), scores.mean()

    @jax.jit
    def run(weights: Weights, key: Array) -> tuple[Weights, Array]:
        begin = weights, optimiser.init(weights)
        (after, _), scores = jax.lax.scan(generation, begin, jax.random.split(key, training.generations))
        return after, scores[-1]

    after, reward = run(weights, jax.random.key(seed))
    return after, float(reward)


def played(
    environment: Environment,
    decide: Callable[[Beliefs], Array],
    key: Array,
    n: int,
    guard: tuple[Array, Array] | None = None,
) -> tuple[Array, Array]:
    """Return the mean reward of an episode, and the mean distance of the rates from the guard, in units of C_L.

    Args:
        environment: The Environment, whose actions are rates.
        decide: The function that returns the rates, in units of C_L, for beliefs.
        key: The key of jax.random for the links.
        n: The number of links.
        guard: The lowest and the highest rate in units of C_L, each for no delay and for a delay; None for no guard.
    """
    options = environment.options
    links, state = environment.reset(key, n)

    def interval(carry: Any, nothing: None) -> tuple[Any, tuple[Array, Array]]:
        bounds, state = carry
        after = bounds.learned(state.knowledge)
        bounds = jax.tree.map(lambda new, old: jnp.where(state.interval > 0, new, old), after, bounds)
        share = decide(bounds)
        outside = jnp.zeros_like(share)
        if guard is not None:
            low, high = (jnp.where(bounds.qdel_L > 0, end[1], end[0]) for end in guard)
            outside = jnp.maximum(0, low - share) + jnp.maximum(0, share - high)
        rate = jnp.maximum(share * bounds.C_L, bounds.packet) / state.knowledge.now.seconds
        state, _, reward = environment.step(links, state, rate.T)
        return (bounds, state), (reward.mean(), outside.mean())

    first = beliefs.of_links(links, options.slots), state
    _, (rewards, distances) = jax.lax.scan(interval, first, None, options.steps)
    return rewards.mean(), distances.mean()
