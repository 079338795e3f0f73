"""Policies on held-out links: the links of no training episode, without the random deviations of training."""

from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.learning.agents.links import Links
from ccmatic.learning.agents.networks import Network, output

if TYPE_CHECKING:
    from ccmatic.learning.agents.query import Training

#: The number of held-out links, and the number of episodes from one measurement on them to the next.
LINKS, EVERY = 64, 5

#: The seed of the held-out links. Training episodes derive their links from other keys.
SEED = 2**32 - 1


class Best(NamedTuple):
    """The best policy so far on held-out links.

    Attributes:
        reward: The mean reward of this policy on the held-out links.
        episode: The number of the episode after which the agent had this policy.
        layers: The layers of this policy.
    """

    reward: Array
    episode: Array
    layers: Network


def played(training: "Training", layers: Network, key: Array, n: int = LINKS) -> Array:
    """Return the measures of an episode, as `Links.measures` does.

    Args:
        training: The Training, whose environment draws the links.
        layers: The layers of the policy.
        key: The key of jax.random for the links.
        n: The number of links.
    """
    links = Links(training.environment, n)

    def interval(place, _):  # type: ignore[no-untyped-def]
        after, seen, _ = links.step(place[0], output(layers, place[1]))
        return (after, seen), None

    (after, _), _ = jax.lax.scan(interval, links.begin(key), None, training.environment.options.steps)
    return links.measures(after.sums)


def judged(training: "Training", layers: Network, best: Best, episode: Array) -> tuple[Best, Array]:
    """Return the Best that considers a policy after an episode, too, and the policy's mean reward."""
    reward = played(training, layers, jax.random.key(SEED))[0]
    now = Best(reward, episode, layers)
    return jax.tree.map(lambda new, old: jnp.where(reward > best.reward, new, old), now, best), reward
