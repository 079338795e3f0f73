"""Senders and trained policies as players of an environment, their episodes, and a check of an episode by laws."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from ccmatic.answers.verification import check_trace
from ccmatic.base import InputError, definitions
from ccmatic.contracts import Links, Model, SlotOutcome, load_definition
from ccmatic.deployment import policies
from ccmatic.learning.envs import signals
from ccmatic.learning.envs.environment import Environment
from ccmatic.learning.envs.links import LinkOptions
from ccmatic.learning.envs.senders import sender_of_rates
from ccmatic.learning.envs.signals import EnvironmentState, RolloutPolicy
from ccmatic.networks.simulation import delays, sampled
from ccmatic.questions import query as queries


def sender(name: str, environment: Environment) -> RolloutPolicy:
    """Return the RolloutPolicy of a sender.

    Args:
        name: One of these names. `constant:MBIT` sends at a rate in Mbit/s. `oracle` sends at the rate of the link, or
            at an equal share of this rate if there are several flows. `cubic` follows RFC 9438. Any other name is the
            path or the shipped name of a controller.
        environment: The Environment. Its actions must be rates.

    Raises:
        InputError: If there is no such sender, or the environment's actions are not rates.
    """
    if environment.act != definitions.chosen("models.signals", "RATE"):
        raise InputError(f"the actions of the sender '{name}' are rates; expected act='rate', not '{environment.act}'")
    return sender_of_rates(name, environment.options)


def trained(
    policy: policies.Policy, options: LinkOptions, guard: str | None = None
) -> tuple[Environment, RolloutPolicy]:
    """Return the Environment of a trained policy, and the policy's RolloutPolicy there.

    Observations, actions and rewards are those of the policy's training; a guard limits the rates, as in Environment.
    """
    learned = {name: getattr(policy.file, name) for name in policies.TASK}
    environment = Environment(options, **learned, guard=guard)

    units = policy.cell.units if policy.cell else 0

    def act(memory: Array, links: Links, state: EnvironmentState, observation: Array) -> tuple[Array, Array]:
        if policy.cell:
            memory = observation = policies.remembered(policy.cell, observation, memory)
        given = policies.outputs(policy.layers, observation, policy.activations)
        if policy.choices:
            return memory, jnp.asarray(policy.choices, jnp.float32)[jnp.argmax(given, axis=-1)]
        return memory, jnp.clip(given[..., 0], *environment.bounds)

    return environment, RolloutPolicy(lambda links: jnp.zeros((*links.rtt.T.shape, units)), act)


class Episode(NamedTuple):
    links: Links
    knowledge: signals.Knowledge  #: the signals.Knowledge after each interval. The first axis is the interval
    reward: jax.Array  #: the reward after each interval, an array (steps, n, f)
    seen: SlotOutcome  #: the SlotOutcome of each slot. The first axis is the slot
    model: Model  #: the network model of the links


def rollout(environment: Environment, policy: RolloutPolicy, key: Array, n: int) -> Episode:
    """Play an Episode on n links in one compiled loop. The key of jax.random determines all random choices."""

    def play(key: Array) -> tuple[Any, ...]:
        links, state = environment.reset(key, n)
        own = environment.own(links)

        def interval(
            carry: tuple[Any, EnvironmentState], nothing: None
        ) -> tuple[tuple[Any, EnvironmentState], tuple[Any, ...]]:
            memory, state = carry
            memory, action = policy.act(memory, own, state, environment.observation(state))
            state, _, reward, outcomes = environment.watched(links, state, action)
            return (memory, state), (state.knowledge, reward, outcomes)

        _, (knowledge, reward, outcomes) = jax.lax.scan(
            interval, (policy.begin(own), state), None, environment.options.steps
        )
        return links, knowledge, reward, jax.tree.map(jnp.concatenate, outcomes)

    links, knowledge, reward, outcomes = jax.tree.map(np.asarray, jax.jit(play)(key))
    return Episode(links, knowledge, reward, outcomes, environment.options.network)


@dataclass(frozen=True)
class LawCheck:
    windows: int
    broken: Counter[str]  #: the number of violations of each law, by the law's name. The dict should be empty


def lawful(episode: Episode, windows: int = 20, horizon: int = 10, seed: int = 0) -> LawCheck:
    """Check random windows of an Episode, of `horizon` slots each, against every law of a model.

    The model is that of the links, with their jitter rounded up to slots. The model of drop-tail links without jitter
    is `ideal`. All flows together count as one sender. Randomly lost bytes count as not sent, unless the model bounds
    these losses. Throughout a checked window, the link has a constant rate. The link also had this rate while the bytes
    that arrive in the window were on their way. A link with an exported schedule has no such window: its tokens wait.
    """
    rng = np.random.default_rng(seed)
    broken: Counter[str] = Counter()
    places = [place for link in range(len(episode.links.slot)) for place in _windows(episode, link, horizon)]
    if not places:
        raise InputError(f"no link has one rate for {horizon} slots; expected one that does, and no schedule")
    chosen = rng.choice(len(places), min(windows, len(places)), replace=False)
    for link, start in (places[number] for number in chosen):
        broken.update(fault.split(" ")[0] for fault in _faults(episode, link, start, horizon))
    return LawCheck(len(chosen), broken)


def _windows(episode: Episode, link: int, horizon: int) -> Iterator[tuple[int, int]]:
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
    links, outcomes = episode.links, episode.seen
    jitter = ceil(links.jitter[link])
    came, dropped, S, unlucky = (
        _cumulative(column.sum(1)[:, link])
        for column in (outcomes.accepted, outcomes.dropped, outcomes.released, outcomes.unlucky)
    )
    model = _model(episode, link, start)
    lost = dropped + unlucky if model.loses_by_chance else dropped
    samples = {"A": came + lost, "L": lost, "K": _cumulative(outcomes.served[:, link]), "S": S, **delays(came, S)}
    samples |= {"chance": unlucky, "bucket": np.concatenate(([links.buffer[link]], outcomes.kept[:, link]))}
    if outcomes.marks is not None:
        marked, echoed, _ = (_cumulative(column.sum(1)[:, link]) for column in outcomes.marks)
        samples |= {"echoed": echoed, "carried": marked - echoed}
    rate, buffer = int(links.capacity[start, link]), int(links.buffer[link])
    alpha = Fraction(int(links.packet), rate) if model.loses_by_chance else None
    trace = sampled(samples, model, jitter, rate, buffer, start, horizon, alpha).measuring(model.measures)
    return check_trace(queries.from_record(trace.query), trace).faults


#: The fractions of a billionth to which the share of losses is rounded up.
FINEST = 10**9


def _model(episode: Episode, link: int, start: int) -> Model:
    """Return the model whose laws hold on a link from a slot on, with the link's threshold or bound on losses."""
    links, model = episode.links, episode.model
    if model.loses_by_chance:
        share = Fraction(ceil(float(links.loss[link]) * FINEST), FINEST)
        return model.with_parameters({"loss_rate": str(share), "loss_burst": str(links.burst // links.packet)})
    if links.threshold is not None:
        return model.with_threshold(Fraction(int(links.threshold[link]), int(links.capacity[start, link])))
    if model.name == definitions.chosen("models", "EMULATED") and not links.jitter[link]:
        model = load_definition("models", "MODEL", definitions.chosen("models", "WITHOUT_JITTER"))
    return model


def _cumulative(column: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(column, dtype=np.int64)))
