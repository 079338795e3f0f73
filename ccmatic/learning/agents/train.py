"""Train an agent, one episode after another, for several seeds at once.

JAX compiles an episode of all seeds as one function. Each episode starts from the state that the agent has learned so
far, and has its own random keys. So an interrupted training can resume, and has the same result as a training without
interruption.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from msgspec import structs
from numpy.typing import NDArray

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.deployment import policies
from ccmatic.learning import adversaries
from ccmatic.learning.agents import card, checkpoint, held_out
from ccmatic.learning.agents.contract import Agent, AgentState
from ccmatic.learning.agents.networks import Actor
from ccmatic.learning.agents.query import Training
from ccmatic.learning.envs.backends import find_device

#: The number of seconds between checkpoints.
EVERY = 5


class Progress(NamedTuple):
    """The state of a training: the state of the agent, and the best policy so far. Arrays begin with the seeds."""

    agent: AgentState
    best: held_out.Best


def train(
    training: Training,
    seed: int,
    out: str | Path,
    listener: Callable[[records.TrainingLine], object] = lambda line: None,
    seeds: int = 1,
) -> list[Path]:
    """Train the agent of a Training, and write the policy (or adversary) of each seed to a file.

    A file has the policy with the best mean reward on held-out links. Until the training ends, the file OUT.checkpoint
    holds the state of the agents. The same call resumes from this file.

    Args:
        training: The Training.
        seed: The first seed. A seed determines all random choices of a training.
        out: The path of the file of one seed. For several seeds, the name of each file ends with its seed.
        listener: A function that receives a TrainingLine for each seed after each episode.
        seeds: The number of seeds.

    Returns:
        The file of each seed.

    Raises:
        InputError: If the checkpoint belongs to another training, or a file cannot be written.
    """
    chosen = range(seed, seed + seeds)
    files = [Path(out)] if seeds == 1 else [_with(out, f"_{each}") for each in chosen]
    with jax.default_device(find_device(training.agent.device)):
        best, last, curve = _trained(training, chosen, Path(f"{out}.checkpoint"), listener)
    for number, (each, file) in enumerate(zip(chosen, files, strict=True)):
        lines = [line for line in curve if line.seed == each]
        for actors, path in ((last, _with(file, ".last")), (best, file)):
            actor = jax.tree.map(lambda part, place=number: part[place], actors)
            made = _file(training, each, actor, lines)
            policies.save(made, path)
        if isinstance(made, records.PolicyFile):
            card.write(training, file, made, curve)
    Path(f"{out}.checkpoint").unlink(missing_ok=True)
    return files


def _with(path: str | Path, ending: str) -> Path:
    """Return a path whose name has this ending before its suffix."""
    path = Path(path)
    return path.with_name(f"{path.stem}{ending}{path.suffix}")


def _trained(
    training: Training, seeds: Sequence[int], kept: Path, listener: Callable[[records.TrainingLine], object]
) -> tuple[Actor, Actor, list[records.TrainingLine]]:
    """Return the best and the last networks of all seeds, and the TrainingLines."""
    agent, about = training.algorithm(training), {"query": training.sections, "seeds": list(seeds)}
    keys = jax.vmap(jax.random.key)(jnp.array(seeds, jnp.uint32))
    (episode, judge), edges = _compiled(training, agent), held_out.edges(training)
    progress, curve = checkpoint.restore(kept, jax.jit(jax.vmap(lambda key: _begin(agent, key)))(keys), about)
    done, episodes = len(curve) // len(seeds), training.agent.episodes
    began, written = time.monotonic() - (curve[-1].seconds if curve else 0), time.monotonic()
    for number in range(done + 1, episodes + 1):
        state, measures, deviations = episode(progress.agent, keys, number)
        progress, rewards = progress._replace(agent=state), None
        if number % held_out.EVERY == 0 or number == episodes:
            best, rewards = judge(state, progress.best, jnp.full(len(seeds), number))
            progress = progress._replace(best=best)
        measured = np.column_stack([measures, deviations])
        _require_finite(number, measured)
        judged = {} if rewards is None else {"held_out": rewards, **edges}
        lines = list(_lines(training, seeds, number, time.monotonic() - began, measured, judged))
        curve += lines
        for line in lines:
            listener(line)
        if time.monotonic() - written > EVERY:
            checkpoint.write(kept, progress, about, curve)
            written = time.monotonic()
    return progress.best.actor, jax.vmap(agent.actor)(progress.agent), curve


def _begin(agent: Agent, key: Array) -> Progress:
    state = agent.begin(jax.random.fold_in(key, 0))
    return Progress(state, held_out.Best(jnp.float32(-jnp.inf), jnp.int32(0), agent.actor(state)))


def _compiled(training: Training, agent: Agent) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return two compiled functions for all seeds: an episode of training, and a measurement on held-out links."""

    def episode(state: AgentState, key: Array, number: Array) -> tuple[AgentState, Array, Array]:
        links, others = jax.random.split(jax.random.fold_in(key, number))
        state, played = agent.learn(state, links, others)
        return state, training.links.measures(played.sums), agent.deviation(state)

    def judge(state: AgentState, best: held_out.Best, number: Array) -> tuple[held_out.Best, Array]:
        return held_out.judged(training, agent.actor(state), best, number)

    return jax.jit(jax.vmap(episode, (0, 0, None)), donate_argnums=0), jax.jit(jax.vmap(judge))


def _require_finite(number: int, measured: NDArray[Any]) -> None:
    for reward, *_, deviation in measured:
        if not np.isfinite([reward, deviation]).all():
            what = f"reward is {reward:g}, and the deviation of its actions {deviation:g}"
            expected = "expected numbers: choose another observation, reward or rate"
            raise InputError(f"in episode {number} the mean {what}; {expected}")


def _lines(
    training: Training,
    seeds: Sequence[int],
    number: int,
    seconds: float,
    measured: NDArray[Any],
    judged: Mapping[str, Any],
) -> Iterator[records.TrainingLine]:
    """Yield the TrainingLine of each seed."""
    intervals = number * training.environment.options.steps * training.links.flows
    for place, seed in enumerate(seeds):
        reward, utilisation, rtt, deviation = (round(float(value), 4) for value in measured[place])
        yield records.TrainingLine(
            episode=number,
            episodes=training.agent.episodes,
            intervals=intervals,
            seconds=round(seconds, 4),
            reward=reward,
            utilisation=utilisation,
            rtt_ms=rtt,
            deviation=deviation,
            seed=seed,
            **{name: round(float(np.broadcast_to(each, len(seeds))[place]), 4) for name, each in judged.items()},
        )


def _file(
    training: Training, seed: int, actor: Actor, curve: list[records.TrainingLine]
) -> records.PolicyFile | records.AdversaryFile:
    stored, environment = _stored(actor.layers), training.environment
    if actor.activation != "tanh":  # A file without activations has tanh between its layers.
        stored = [
            structs.replace(layer, activation=after) for layer, after in zip(stored, actor.activations, strict=True)
        ]
    if isinstance(environment, adversaries.Attack):
        return records.AdversaryFile(
            query=training.sections, seed=seed, threshold=environment.threshold, layers=stored, curve=curve
        )
    names = {name: getattr(environment, name) for name in ("observe", "act", "reward", "history", "delay")}
    file = records.PolicyFile(
        query=training.sections,
        seed=seed,
        **names,
        interval=str(environment.options.interval),
        layers=stored,
        curve=curve,
        choices=list(environment.choices) or records.ABSENT,
        memory=records.MemoryRecord(*_stored(actor.cell)) if actor.cell else records.ABSENT,
    )
    return policies.with_guarantees(file)


def _stored(layers: Iterable[tuple[Any, Any]]) -> list[records.LayerRecord]:
    return [records.LayerRecord(np.asarray(weights).tolist(), np.asarray(bias).tolist()) for weights, bias in layers]
