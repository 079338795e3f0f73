"""Episodes of a policy, from beginning to end; and the check that what happened in them is an execution of a model."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from ccmatic import query as queries
from ccmatic.base import InputError, definitions
from ccmatic.contracts import Links, SlotOutcome, load_definition
from ccmatic.learning.envs import signals
from ccmatic.learning.envs.environment import Environment, EnvironmentState
from ccmatic.simulation import delays, sampled
from ccmatic.verification import check_trace

#: From what a policy remembers, Links, an EnvironmentState and its observation to what it remembers next and its
#: action.
Act: TypeAlias = Callable[[Any, Links, EnvironmentState, Array], tuple[Any, Array]]


@dataclass(frozen=True)
class RolloutPolicy:
    """Who acts. begin: from Links to what it remembers at first, arrays. act: from that, Links, a State and its
    observation to what it remembers next and its action, (n, f)."""

    begin: Callable[[Links], Any]
    act: Act


def stateless(decide: Callable[[Array], Array]) -> RolloutPolicy:
    """The RolloutPolicy that remembers nothing: a function from observations, (n, f, size), to actions, (n, f)."""
    return RolloutPolicy(lambda links: (), lambda memory, links, state, observation: (memory, decide(observation)))


class Episode(NamedTuple):
    """What happened on n links. knowledge: the signals.Knowledge after each interval, intervals first. reward: (steps,
    n, f). seen: the SlotOutcome of each slot, the slots first."""

    links: Links
    knowledge: signals.Knowledge
    reward: jax.Array
    seen: SlotOutcome


def rollout(environment: Environment, policy: RolloutPolicy, key: Array, n: int) -> Episode:
    """An Episode of n links, as one compiled loop."""

    def play(key: Array) -> Episode:
        links, state = environment.reset(key, n)

        def interval(
            carry: tuple[Any, EnvironmentState], nothing: None
        ) -> tuple[tuple[Any, EnvironmentState], tuple[Any, ...]]:
            memory, state = carry
            memory, action = policy.act(memory, links, state, environment.observation(state))
            state, _, reward, seen = environment.watched(links, state, action)
            return (memory, state), (state.knowledge, reward, seen)

        _, (knowledge, reward, seen) = jax.lax.scan(
            interval, (policy.begin(links), state), None, environment.options.steps
        )
        return Episode(links, knowledge, reward, jax.tree.map(jnp.concatenate, seen))

    episode: Episode = jax.tree.map(np.asarray, jax.jit(play)(key))
    return episode


@dataclass(frozen=True)
class Lawful:
    """What the check of an Episode found. windows: how many were checked. broken: how often which law was broken, by
    its name; none should be."""

    windows: int
    broken: Counter[str]


def lawful(episode: Episode, windows: int = 20, horizon: int = 10, seed: int = 0) -> Lawful:
    """Replay windows of an Episode, drawn at random, against every law of a model: `ideal` where no jitter was asked
    for, else CBR-delay with the jitter that was, in slots, rounded up. All flows together are the sender; what is lost
    at random is taken for not sent. A window is of one rate of its link, which it had while what is delivered in it was
    under way. Raises InputError where there is no such window, as on exported schedules, whose tokens wait."""
    rng = np.random.default_rng(seed)
    broken: Counter[str] = Counter()
    places = [place for link in range(len(episode.links.slot)) for place in _windows(episode, link, horizon)]
    if not places:
        raise InputError(f"no link has one rate for {horizon} slots; expected one that has, and no schedule")
    chosen = rng.choice(len(places), min(windows, len(places)), replace=False)
    for link, start in (places[number] for number in chosen):
        broken.update(fault.split(" ")[0] for fault in _faults(episode, link, start, horizon))
    return Lawful(len(chosen), broken)


def _windows(episode: Episode, link: int, horizon: int) -> Iterator[tuple[int, int]]:
    """(link, start) of each window of a link that can be checked."""
    links = episode.links
    if links.keeps is not None and links.keeps[link]:
        return
    capacity = links.capacity[:, link]
    changed = np.flatnonzero(np.diff(capacity, prepend=-1))
    came = _cumulative(episode.seen.accepted.sum(1)[:, link])
    gone = _cumulative(episode.seen.released.sum(1)[:, link])
    for first, end in zip(changed, [*changed[1:], len(capacity)], strict=True):
        clear = np.searchsorted(gone, came[first], side="left") + ceil(links.jitter[link]) + 1
        yield from ((link, start) for start in range(max(1, int(clear)), int(end) - horizon + 1))


def _faults(episode: Episode, link: int, start: int, horizon: int) -> tuple[str, ...]:
    """The laws that a window breaks."""
    links, seen = episode.links, episode.seen
    jitter = ceil(links.jitter[link])
    name = definitions.chosen("models", "EMULATED" if jitter else "WITHOUT_JITTER")
    model = load_definition("models", "MODEL", name)
    came, dropped, S = (_cumulative(column.sum(1)[:, link]) for column in (seen.accepted, seen.dropped, seen.released))
    samples = {"A": came + dropped, "L": dropped, "K": _cumulative(seen.served[:, link]), "S": S, **delays(came, S)}
    rate, buffer = int(links.capacity[start, link]), int(links.buffer[link])
    trace = sampled(samples, model, jitter, rate, buffer, start, horizon).measuring(model.measures)
    return check_trace(queries.from_record(trace.query), trace).faults


def _cumulative(column: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(column, dtype=np.int64)))
