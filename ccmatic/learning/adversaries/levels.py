"""The levels of an adversary. A level determines which quantity the adversary chooses in each interval.

The adversary chooses one of three quantities: the rate of a link, the error of the smallest RTT that a sender measures,
or the time for which jitter holds served bytes.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import InputError, shown
from ccmatic.contracts import Links
from ccmatic.learning.envs import LinkOptions
from ccmatic.learning.envs.capacity import MBIT, smoothed


class Effect(NamedTuple):
    """The effect of an adversary's action."""

    links: Links  #: the Links for the interval
    rate: Array  #: the rate of each link in the interval, in bytes per second, an array (n)
    kept: Array  #: a value that the level needs for the next action
    wrong: Array | None = None  #: the factor (n) by which senders misjudge the smallest RTT; None for 1


@dataclass(frozen=True)
class Bandwidth:
    """CCLab's environment level: the adversary chooses the rate of the link.

    The action -1 requests the lowest possible rate, and the action 1 requests the highest. The link gets the rate that
    is nearest to the requested rate within the budget.
    """

    features, follows_links = 2, False

    def begin(self, options: LinkOptions, links: Links) -> Effect:
        """Return the first Effect. `kept` has the latest changes of the rate, (window, n), the latest first."""
        return Effect(links, links.capacity[0] / links.slot, jnp.zeros((options.window, len(links.slot))))

    def unharmed(self, key: Array, n: int) -> Array:
        """Return the actions, (n, 1), of a link without an adversary. They request each rate with equal probability."""
        return anything(key, n)

    def choose(self, options: LinkOptions, before: Effect, interval: Array, action: Array) -> Effect:
        """Return the Effect of the actions (n) in an interval, after the Effect `before`."""
        low, high = options.rate.ends
        wanted = MBIT * (low + (action + 1) / 2 * (high - low))
        rate, changes = smoothed(before.rate, before.kept, wanted, options.budget * MBIT)
        links, slots = before.links, options.slots
        rows = jnp.broadcast_to(jnp.floor(rate * links.slot).astype(jnp.int32), (slots, *rate.shape))
        capacity = jax.lax.dynamic_update_slice_in_dim(links.capacity, rows, interval * slots, 0)
        return Effect(links._replace(capacity=capacity), rate, changes)

    def observed(self, options: LinkOptions, effect: Effect) -> list[Array]:
        """Return the rate, and the growth that the budget still allows, each as a share of the largest rate, (n)."""
        high = options.rate.ends[1]
        room = options.window * options.budget - effect.kept[:-1].sum(0) / MBIT
        return [effect.rate / MBIT / high, room / high]


@dataclass(frozen=True)
class LeastRtt:
    """CCLab's feature level: the adversary falsifies the smallest RTT that a sender measures.

    The sender multiplies the smallest RTT by 1 + within · action, and uses this product as R_m.
    """

    within: float
    features, follows_links = 1, True

    def __post_init__(self) -> None:
        if isinstance(self.within, bool) or not isinstance(self.within, int | float) or not 0 < self.within < 1:
            raise InputError(f"within is {shown(self.within)}; expected a number between 0 and 1, such as 0.05")

    def begin(self, options: LinkOptions, links: Links) -> Effect:
        """Return the first Effect. `kept` has the last action (n)."""
        none = jnp.zeros(len(links.slot))
        return Effect(links, links.capacity[0] / links.slot, none, none + 1)

    def unharmed(self, key: Array, n: int) -> Array:
        return jnp.zeros((n, 1))

    def choose(self, options: LinkOptions, before: Effect, interval: Array, action: Array) -> Effect:
        links = before.links
        served = jax.lax.dynamic_slice_in_dim(links.capacity, interval * options.slots, options.slots)
        return Effect(links, served.mean(0) / links.slot, action, 1 + self.within * action)

    def observed(self, options: LinkOptions, effect: Effect) -> list[Array]:
        return [effect.kept]


@dataclass(frozen=True)
class Jitter:
    """The jitter level: the adversary chooses the time for which the link holds bytes behind the bottleneck.

    The laws of a link with jitter allow any choice. With the action -1, the link holds bytes for no time. With the
    action 1, the link holds bytes for the full jitter D. The action also determines the losses.
    """

    features, follows_links = 1, True

    def begin(self, options: LinkOptions, links: Links) -> Effect:
        """Return the first Effect. `kept` has the share of D (n)."""
        return Effect(links, links.capacity[0] / links.slot, jnp.zeros(len(links.slot)))

    def unharmed(self, key: Array, n: int) -> Array:
        return anything(key, n)

    def choose(self, options: LinkOptions, before: Effect, interval: Array, action: Array) -> Effect:
        links, share, slots = before.links, (action + 1) / 2, options.slots
        rows = jnp.broadcast_to(share, (slots, *share.shape))
        held = jax.lax.dynamic_update_slice_in_dim(links.held, rows, interval * slots, 0)
        return Effect(links._replace(held=held), before.rate, share)

    def observed(self, options: LinkOptions, effect: Effect) -> list[Array]:
        return [effect.kept]


def anything(key: Array, n: int) -> Array:
    """Return uniform random actions, (n, 1)."""
    return jax.random.uniform(key, (n, 1), minval=-1, maxval=1)
