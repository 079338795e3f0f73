"""Policies on held-out links: their rewards, and their model cards.

The links are those of no training episode, without the random deviations of training.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic import records
from ccmatic.base import counted, write_text
from ccmatic.learning.agents.contract import Actor, Links
from ccmatic.learning.agents.query import Training
from ccmatic.learning.envs import Environment

#: The number of held-out links, and the number of episodes from one measurement on them to the next.
LINKS, EVERY = 64, 5

#: The seed of the held-out links. Training episodes derive their links from other keys.
SEED = 2**32 - 1


class Best(NamedTuple):
    """The best policy so far on held-out links."""

    reward: Array  #: the mean reward of this policy on the held-out links
    episode: Array  #: the number of the episode after which the agent had this policy
    actor: Actor  #: the network of this policy


def played(training: Training, actor: Actor, key: Array, n: int = LINKS) -> Array:
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


def edges(training: Training) -> dict[str, float]:
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


def judged(training: Training, actor: Actor, best: Best, episode: Array) -> tuple[Best, Array]:
    """Return the better of a policy and the best so far, and the policy's mean reward."""
    reward = played(training, actor, jax.random.key(SEED))[0]
    now = Best(reward, episode, actor)
    return jax.tree.map(lambda new, old: jnp.where(reward > best.reward, new, old), now, best), reward


def write_card(
    training: Training, file: Path, policy: records.PolicyFile, groups: Sequence[records.TrainingLine]
) -> None:
    write_text(file.with_suffix(".md"), "\n".join(_lines(training, file, policy, groups)) + "\n")


def _lines(
    training: Training, file: Path, policy: records.PolicyFile, groups: Sequence[records.TrainingLine]
) -> Iterator[str]:
    yield from (f"# {file.stem}", "", "## Task", "")
    history = counted(policy.history, "interval")
    yield f"A sender that observes `{policy.observe}` of {history} and acts by `{policy.act}`."
    yield f"A monitor interval is {policy.interval} R_m. The reward is `{policy.reward}`."
    if training.warning:
        yield f"Warning: {training.warning}"
    yield from ("", "## Training", "", f"Seed {policy.seed}, {counted(policy.curve[-1].intervals, 'interval')}.", "")
    for section, values in training.sections.items():
        yield from (f"    {section}.{key} = {value!r}" for key, value in values.items())
    yield from ("", "## Held-out links", "")
    own = _rewards(policy.curve)
    best = max(own, key=lambda episode: own[episode])
    yield f"{LINKS} links that no training episode used, without random deviations. This file has the policy"
    yield f"of episode {best}, with the best mean reward, {own[best]:g}. The last policy has"
    yield f"{own[max(own)]:g}. The best episode was chosen on these links, so measure the policy on other links:"
    yield from ("", f"    ccmatic bench policy:{file}", "")
    lasts = sorted(_rewards([line])[line.episode] for line in groups if line.episode == line.episodes)
    if len(lasts) > 1:
        yield f"The last policies of {len(lasts)} seeds have {lasts[0]:g} to {lasts[-1]:g}."
    edges = [getattr(policy.curve[-1], name) for name in ("held_out_low", "held_out_high")]
    if isinstance(edges[0], float):
        yield f"The lowest rates of the envelope have {edges[0]:g}, and the highest {edges[1]:g}."
    yield from ("", "## Guarantee", "")
    if isinstance(policy.guarantees, list):
        yield from policy.guarantees
    else:
        yield "No guarantee: no envelope with a proof limits the rates of this policy."


def _rewards(lines: Sequence[records.TrainingLine]) -> dict[int, float]:
    """Return the mean rewards on held-out links by episode."""
    return {line.episode: line.held_out for line in lines if isinstance(line.held_out, float)}
