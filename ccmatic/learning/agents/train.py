"""Train an agent, one episode after another.

Each episode starts from the state that the agent has learned so far, and has its own seeds. So an interrupted training
can resume, and has the same result as a training without interruption.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.learning import adversaries, policies
from ccmatic.learning.agents import checkpoint
from ccmatic.learning.agents.contract import Agent
from ccmatic.learning.agents.links import Links
from ccmatic.learning.agents.query import Training

#: The number of seconds between checkpoints.
EVERY = 5


def train(
    training: Training,
    seed: int,
    out: str | Path,
    listener: Callable[[records.TrainingLine], object] = lambda line: None,
) -> None:
    """Train the agent of a Training, and write the policy (or adversary) to the file `out`.

    Until the training ends, the file OUT.checkpoint holds the state of the agent. The same call resumes from this file.

    Args:
        training: The Training.
        seed: The seed of all random choices.
        out: The path of the policy's or adversary's file.
        listener: A function that receives a TrainingLine after each episode.

    Raises:
        InputError: If the checkpoint belongs to another training, or a file cannot be written.
    """
    section, kept = training.agent, Path(f"{out}.checkpoint")
    about = {"query": training.sections, "seed": seed}
    links = Links(training.environment, section.parallel, section.device)
    agent = training.algorithm(training, links, seed)
    curve = checkpoint.restore(kept, agent, about)
    began, written = time.monotonic() - (curve[-1].seconds if curve else 0), time.monotonic()
    for episode in range(len(curve), section.episodes):
        links.seed, choices = _seeds(seed, episode)
        agent.learn(choices)
        curve.append(_line(links, agent, episode, section.episodes, time.monotonic() - began))
        listener(curve[-1])
        if time.monotonic() - written > EVERY:
            checkpoint.write(kept, agent, about, curve)
            written = time.monotonic()
    policies.save(_file(training, seed, agent, curve), out)
    kept.unlink(missing_ok=True)


def _seeds(seed: int, episode: int) -> Iterator[int]:
    """Yield the seeds of an episode: first the seed of the links, then the seed of the agent."""
    return (int(drawn) for drawn in np.random.SeedSequence([seed, episode]).generate_state(2))


def _line(links: Links, agent: Agent, episode: int, episodes: int, seconds: float) -> records.TrainingLine:
    reward, utilisation, rtt = links.measures()
    deviation = agent.deviation
    if not np.isfinite([reward, deviation]).all():
        what = f"reward is {reward:g}, and the deviation of its actions {deviation:g}"
        raise InputError(f"in episode {episode + 1} the mean {what}; expected numbers: choose another reward or rate")
    intervals = (episode + 1) * links.environment.options.steps * links.num_envs
    rounded = [round(value, 4) for value in (seconds, reward, utilisation, rtt, deviation)]
    return records.TrainingLine(episode + 1, episodes, intervals, *rounded)


def _file(
    training: Training, seed: int, agent: Agent, curve: list[records.TrainingLine]
) -> records.PolicyFile | records.AdversaryFile:
    layers = [
        records.LayerRecord(np.asarray(weights).tolist(), np.asarray(bias).tolist()) for weights, bias in agent.layers()
    ]
    environment = training.environment
    if isinstance(environment, adversaries.Attack):
        return records.AdversaryFile(
            query=training.sections, seed=seed, threshold=environment.threshold, layers=layers, curve=curve
        )
    names = {name: getattr(environment, name) for name in ("observe", "act", "reward", "history", "delay")}
    interval = str(environment.options.interval)
    return policies.with_guarantees(
        records.PolicyFile(query=training.sections, seed=seed, **names, interval=interval, layers=layers, curve=curve)
    )
