"""Policies on held-out links: the links of no training episode, without the random deviations of training."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.learning.agents.links import Links
from ccmatic.learning.agents.networks import Actor
from ccmatic.learning.envs import Environment

if TYPE_CHECKING:
    from ccmatic.learning.agents.query import Training

#: The number of held-out links, and the number of episodes from one measurement on them to the next.
LINKS, EVERY = 64, 5

#: The seed of the held-out links. Training episodes derive their links from other keys.
SEED = 2**32 - 1


class Best(NamedTuple):
    """The best policy so far on held-out links."""

    reward: Array  #: the mean reward of this policy on the held-out links
    episode: Array  #: the number of the episode after which the agent had this policy
    actor: Actor  #: the network of this policy


def played(training: "Training", actor: Actor, key: Array, n: int = LINKS) -> Array:
    """Return the measures of an episode on n links, as in Links.measures."""
    links = Links(training.environment, n)

    def interval(place, _):  # type: ignore[no-untyped-def]
        played, seen, memory = place
        memory = actor.remembered(memory, seen)
        after, seen, _ = links.step(played, training.decided(actor.outputs(memory, seen)))
        return (after, seen, memory), None

    first = (*links.begin(key), actor.first_memory(links.flows))
    (after, *_), _ = jax.lax.scan(interval, first, None, training.environment.options.steps)
    return links.measures(after.sums)


def edges(training: "Training") -> dict[str, float]:
    """Return the mean rewards of the lowest and of the highest rates of an envelope, by field of TrainingLine."""
    environment = training.environment
    if not isinstance(environment, Environment) or environment.envelope is None:
        return {}
    free, rewards = replace(training, environment=replace(environment, choices=())), {}
    for name, action in zip(("held_out_low", "held_out_high"), environment.bounds, strict=True):
        constant = Actor([(jnp.zeros((environment.size, 1)), jnp.full(1, action))])
        reward = jax.jit(lambda actor: played(free, actor, jax.random.key(SEED))[0])(constant)
        rewards[name] = round(float(reward), 4)
    return rewards


def judged(training: "Training", actor: Actor, best: Best, episode: Array) -> tuple[Best, Array]:
    """Return the better of a policy and the best so far, and the policy's mean reward."""
    reward = played(training, actor, jax.random.key(SEED))[0]
    now = Best(reward, episode, actor)
    return jax.tree.map(lambda new, old: jnp.where(reward > best.reward, new, old), now, best), reward
