"""Play episodes of an attack, and find the worst episode."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import ArrayLike, NDArray

from ccmatic.learning.adversaries.attack import Attack, AttackState
from ccmatic.learning.envs.capacity import MBIT

Numbers: TypeAlias = NDArray[Any]

#: A function that maps an AttackState, its observation and a random key to actions, (n, 1).
Decide: TypeAlias = Callable[[AttackState, Array, Array], Array]


class EpisodeResults(NamedTuple):
    """The outcome of episodes on n links."""

    rates: Numbers  #: the rates of the links in Mbit/s, an array (steps, n)
    used: Numbers  #: the share of these rates that senders used, an array (n)
    delay: Numbers  #: the mean queueing delay of acknowledged bytes in seconds, an array (n)
    p95: Numbers  #: the 95th percentile of this delay in seconds, an array (n)
    lost: Numbers  #: the lost bytes as a share of the bytes that were acknowledged or lost, an array (n)
    held: Numbers | None = None  #: how long jitter holds bytes, as a share of D, (steps, n); None without jitter


def play(attack: Attack, decide: Decide, n: int, seed: int = 0) -> EpisodeResults:
    """Play n episodes in one compiled loop."""

    def episode(key: Array) -> tuple[tuple[Array, ...], Array | None]:
        links, state = attack.reset(key, n)

        def interval(state: AttackState, key: Array) -> tuple[AttackState, tuple[Array, ...]]:
            state, _, served = attack.watched(state, decide(state, attack.observation(state), key))
            now = state.target.knowledge.now
            waited = now.rtt - links.rtt * links.slot
            return state, (state.effect.rate / MBIT, served, now.acked[0], now.lost[0], waited[0])

        state, outcomes = jax.lax.scan(interval, state, jax.random.split(key, attack.options.steps))
        return (state.links.capacity, *outcomes), state.links.held

    results, held = jax.jit(episode)(jax.random.key(seed))
    capacity, rates, served, acked, lost, waited = map(np.asarray, results)
    heard = np.maximum(1, acked.sum(0) + lost.sum(0))
    mean = (acked * waited).sum(0) / np.maximum(1, acked.sum(0))
    used, held = served.sum(0) / capacity.sum(0), None if held is None else np.asarray(held[:: attack.options.slots])
    return EpisodeResults(rates, used, mean, _late(acked, waited), lost.sum(0) / heard, held)


def _late(acked: Numbers, waited: Numbers) -> Numbers:
    """Return the 95th percentile of the delays of each link, weighted by bytes."""
    order = np.argsort(waited, axis=0)
    by = np.cumsum(np.take_along_axis(acked, order, axis=0), axis=0)
    place = np.argmax(by >= 0.95 * by[-1], axis=0)
    late: Numbers = np.take_along_axis(waited, order, axis=0)[place, np.arange(waited.shape[1])]
    return late


def baseline(attack: Attack) -> EpisodeResults:
    """Play the sender of an Attack without an adversary."""
    return play(attack, lambda state, observation, key: attack.level.unharmed(key, len(observation)), attack.runs)


def following(attack: Attack, rates: ArrayLike) -> Decide:
    """Return a function `decide` that requests the given rates one after the other: (steps, n), in Mbit/s."""
    actions = attack.wanting(jnp.asarray(rates))
    return lambda state, observation, key: actions[state.interval][:, None]


def worst(episodes: EpisodeResults, threshold: float) -> tuple[int, bool]:
    """Find the episode with the lowest use of the link among those whose mean delay reaches a threshold, in seconds.

    Return its number, and whether any episode reaches the threshold. If none does, it is the one with the longest
    delay.
    """
    allowed = np.flatnonzero(episodes.delay >= threshold)
    if not len(allowed):
        return int(np.argmax(episodes.delay)), False
    return int(allowed[np.argmin(episodes.used[allowed])]), True
