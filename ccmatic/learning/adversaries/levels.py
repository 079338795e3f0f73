"""What an adversary chooses in an interval, level by level: at what rate a link serves, by how much the least RTT is
wrong that a sender measures, or how much of what is served jitter holds back."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import InputError, shown
from ccmatic.contracts import Links
from ccmatic.learning.envs import LinkOptions
from ccmatic.learning.envs.capacity import MBIT, smoothed


class Chosen(NamedTuple):
    """What became of an action. links: on which the interval is played; rate: (n) at which they serve in it, bytes per
    second; kept: of the level, until the next; wrong: (n) times what it is the least RTT is taken for; None: for what
    it is."""

    links: Links
    rate: Array
    kept: Array
    wrong: Array | None = None


@dataclass(frozen=True)
class Bandwidth:
    """CCLab's environment level: the rate of the link, from -1, the least that was asked for, to 1, the most, as near
    to it as the budget leaves."""

    features, follows_links = 2, False

    def begin(self, options: LinkOptions, links: Links) -> Chosen:
        """The Chosen before the first interval; kept: changes of the rate, (window, n) the latest first."""
        return Chosen(links, links.capacity[0] / links.slot, jnp.zeros((options.window, len(links.slot))))

    def unharmed(self, key: Array, n: int) -> Array:
        """Actions, (n, 1), of those that a sender has without an adversary: any rate is as likely to be wanted."""
        return anything(key, n)

    def choose(self, options: LinkOptions, before: Chosen, interval: Array, action: Array) -> Chosen:
        """The Chosen of an action, (n). before: the Chosen of the interval before."""
        low, high = options.rate.ends
        wanted = MBIT * (low + (action + 1) / 2 * (high - low))
        rate, changes = smoothed(before.rate, before.kept, wanted, options.budget * MBIT)
        links, slots = before.links, options.slots
        rows = jnp.broadcast_to(jnp.floor(rate * links.slot).astype(jnp.int32), (slots, *rate.shape))
        capacity = jax.lax.dynamic_update_slice_in_dim(links.capacity, rows, interval * slots, 0)
        return Chosen(links._replace(capacity=capacity), rate, changes)

    def observed(self, options: LinkOptions, chosen: Chosen) -> list[Array]:
        """Return what an adversary observes of a Chosen, (n) each: the rate, and how much it may still grow, as shares
        of the largest rate of the options."""
        high = options.rate.ends[1]
        room = options.window * options.budget - chosen.kept[:-1].sum(0) / MBIT
        return [chosen.rate / MBIT / high, room / high]


@dataclass(frozen=True)
class LeastRtt:
    """CCLab's feature level: the least RTT that a sender takes for its R_m is 1 + within · action times what it is.
    Raises InputError."""

    within: float
    features, follows_links = 1, True

    def __post_init__(self) -> None:
        if isinstance(self.within, bool) or not isinstance(self.within, int | float) or not 0 < self.within < 1:
            raise InputError(f"within is {shown(self.within)}; expected a number between 0 and 1, such as 0.05")

    def begin(self, options: LinkOptions, links: Links) -> Chosen:
        """As Bandwidth.begin; kept: the last action, (n)."""
        none = jnp.zeros(len(links.slot))
        return Chosen(links, links.capacity[0] / links.slot, none, none + 1)

    def unharmed(self, key: Array, n: int) -> Array:
        """As Bandwidth.unharmed: nothing is wrong."""
        return jnp.zeros((n, 1))

    def choose(self, options: LinkOptions, before: Chosen, interval: Array, action: Array) -> Chosen:
        """As Bandwidth.choose."""
        links = before.links
        served = jax.lax.dynamic_slice_in_dim(links.capacity, interval * options.slots, options.slots)
        return Chosen(links, served.mean(0) / links.slot, action, 1 + self.within * action)

    def observed(self, options: LinkOptions, chosen: Chosen) -> list[Array]:
        """As Bandwidth.observed: the action."""
        return [chosen.kept]


@dataclass(frozen=True)
class Jitter:
    """What the laws of a link with jitter leave open: how much it holds of what it may hold behind the bottleneck, from
    -1, none of it, to 1, all. What is lost follows."""

    features, follows_links = 1, True

    def begin(self, options: LinkOptions, links: Links) -> Chosen:
        """As Bandwidth.begin; kept: the share that is held, (n)."""
        return Chosen(links, links.capacity[0] / links.slot, jnp.zeros(len(links.slot)))

    def unharmed(self, key: Array, n: int) -> Array:
        """As Bandwidth.unharmed: any share is as likely."""
        return anything(key, n)

    def choose(self, options: LinkOptions, before: Chosen, interval: Array, action: Array) -> Chosen:
        """As Bandwidth.choose."""
        links, share, slots = before.links, (action + 1) / 2, options.slots
        rows = jnp.broadcast_to(share, (slots, *share.shape))
        held = jax.lax.dynamic_update_slice_in_dim(links.held, rows, interval * slots, 0)
        return Chosen(links._replace(held=held), before.rate, share)

    def observed(self, options: LinkOptions, chosen: Chosen) -> list[Array]:
        """As Bandwidth.observed: the share."""
        return [chosen.kept]


def anything(key: Array, n: int) -> Array:
    """Actions, (n, 1), any as likely."""
    return jax.random.uniform(key, (n, 1), minval=-1, maxval=1)
