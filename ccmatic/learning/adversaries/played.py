"""Episodes of an attack from beginning to end, what a sender has of them, and the worst of them."""

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

#: From an AttackState, its observation and a key to actions, (n, 1).
Decide: TypeAlias = Callable[[AttackState, Array, Array], Array]


class Played(NamedTuple):
    """What became of n links. rates: (steps, n) at which they served, Mbit/s. used: (n) the share of it that was used;
    delay, p95: (n) queueing delay of what was acknowledged, mean and 95th percentile, seconds; lost: (n) the share of
    what is heard of that is lost. held: (steps, n) the share of what jitter may hold that was held at the beginning of
    each interval; None: there is no jitter."""

    rates: Numbers
    used: Numbers
    delay: Numbers
    p95: Numbers
    lost: Numbers
    held: Numbers | None = None


def play(attack: Attack, decide: Decide, n: int, seed: int = 0) -> Played:
    """Play n episodes, as one compiled loop: a Played. decide: from a State, its observation and a key to actions, (n,
    1)."""

    def episode(key: Array) -> tuple[tuple[Array, ...], Array | None]:
        links, state = attack.reset(key, n)

        def interval(state: AttackState, key: Array) -> tuple[AttackState, tuple[Array, ...]]:
            state, _, served = attack.watched(state, decide(state, attack.observation(state), key))
            now = state.target.knowledge.now
            waited = now.rtt - links.rtt * links.slot
            return state, (state.chosen.rate / MBIT, served, now.acked[0], now.lost[0], waited[0])

        state, outcomes = jax.lax.scan(interval, state, jax.random.split(key, attack.options.steps))
        return (state.links.capacity, *outcomes), state.links.held

    results, held = jax.jit(episode)(jax.random.key(seed))
    capacity, rates, served, acked, lost, waited = map(np.asarray, results)
    heard = np.maximum(1, acked.sum(0) + lost.sum(0))
    mean = (acked * waited).sum(0) / np.maximum(1, acked.sum(0))
    used, held = served.sum(0) / capacity.sum(0), None if held is None else np.asarray(held[:: attack.options.slots])
    return Played(rates, used, mean, _late(acked, waited), lost.sum(0) / heard, held)


def _late(acked: Numbers, waited: Numbers) -> Numbers:
    """The 95th percentile of each link's delays, by bytes."""
    order = np.argsort(waited, axis=0)
    by = np.cumsum(np.take_along_axis(acked, order, axis=0), axis=0)
    place = np.argmax(by >= 0.95 * by[-1], axis=0)
    late: Numbers = np.take_along_axis(waited, order, axis=0)[place, np.arange(waited.shape[1])]
    return late


def baseline(attack: Attack) -> Played:
    """What the sender of an Attack has unharmed."""
    return play(attack, lambda state, seen, key: attack.level.unharmed(key, len(seen)), attack.runs)


def following(attack: Attack, rates: ArrayLike) -> Decide:
    """What decides for given rates, (steps, n) Mbit/s, one after the other."""
    actions = attack.wanting(jnp.asarray(rates))
    return lambda state, seen, key: actions[state.interval][:, None]


def worst(episodes: Played, threshold: float) -> tuple[int, bool]:
    """The number of the episode in a Played that uses least of those whose mean queueing delay is a threshold at least,
    seconds; where none is, that of the longest delay. And whether there is one."""
    allowed = np.flatnonzero(episodes.delay >= threshold)
    if not len(allowed):
        return int(np.argmax(episodes.delay)), False
    return int(allowed[np.argmin(episodes.used[allowed])]), True
