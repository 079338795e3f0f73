"""Train an agent, one episode after another, for several seeds at once.

JAX compiles an episode of all seeds as one function. Each episode starts from the state that the agent has learned so
far, and has its own random keys. So an interrupted training can resume, and has the same result as a training without
interruption.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from copy import deepcopy
from itertools import product
from math import prod
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from msgspec import structs
from numpy.typing import NDArray

from ccmatic import records
from ccmatic.base import InputError, Unreadable, counted, line_of, load_toml, read_text, require_folder, shown, suggest
from ccmatic.deployment import policies
from ccmatic.learning import adversaries
from ccmatic.learning.agents import held_out
from ccmatic.learning.agents.contract import Actor, Agent, AgentState
from ccmatic.learning.agents.files import Board, restore_checkpoint, write_checkpoint
from ccmatic.learning.agents.query import KNOWN, Training, load, of_sections
from ccmatic.learning.envs.backends import find_device

#: The number of seconds between checkpoints.
EVERY = 5

#: The largest number of trainings in a sweep.
MOST_TRAININGS = 1000

#: The section of a file that describes a sweep.
SECTION = "sweep"


class Progress(NamedTuple):
    """The state of a training: the state of the agent, and the best policy so far. Arrays begin with the seeds."""

    agent: AgentState
    best: held_out.Best


def train(
    query: str | Path | Training,
    out: str | Path | None = None,
    *,
    seed: int = 0,
    seeds: int = 1,
    told: Callable[[records.TrainingLine], None] = lambda line: None,
    warned: Callable[[str], None] = warnings.warn,
    tensorboard: str | Path | None = None,
) -> list[Path]:
    """Train a policy or an adversary in the environment that a file describes. Training needs the extra `rl`.

    `cm.train("custard.toml", seeds=3)` writes custard_0.json, custard_1.json and custard_2.json. A file has the policy
    with the best mean reward on held-out links.

    Args:
        query: The TOML file that describes the environment (docs/learned.md), or its Training.
        out: The file of the policy. The same call resumes from OUT.checkpoint beside it. By default, NAME.json.
        seed: The first seed. A seed determines all random numbers of a training.
        seeds: The number of seeds, which are trained at once. The file of each seed ends with the seed.
        told: A function that is called with a record for each seed after each episode.
        warned: A function that is called with a warning, if senders that harm cheat the reward of the training.
        tensorboard: A folder for event files of TensorBoard; None for no such files. This needs the extra
            `tensorboard`.

    Returns:
        The file of each seed's policy.

    Raises:
        InputError: If the file describes no training, the checkpoint belongs to another one, or the extra is not
            installed.
    """
    training = query if isinstance(query, Training) else load(query)
    file = policy_file(query, out, ".json")
    if training.warning:
        warned(training.warning)
    with ExitStack() as stack:
        board = stack.enter_context(closing(Board(tensorboard))) if tensorboard is not None else None

        def listen(line: records.TrainingLine) -> None:
            if board is not None:
                board(line)
            told(line)

        return _train(training, range(seed, seed + seeds), file, listen)


def _train(
    training: Training, chosen: Sequence[int], file: Path, listen: Callable[[records.TrainingLine], object]
) -> list[Path]:
    """Train the agents of all seeds, and return the files.

    Until the training ends, the file FILE.checkpoint holds the state of the agents. The same call resumes from it.
    """
    files = [file] if len(chosen) == 1 else [_with(file, f"_{each}") for each in chosen]
    checkpoint_file = Path(f"{file}.checkpoint")
    with jax.default_device(find_device(training.agent.device)):
        best, last, curve = _trained(training, chosen, checkpoint_file, listen)
    for number, (each, own) in enumerate(zip(chosen, files, strict=True)):
        lines = [line for line in curve if line.seed == each]
        for actors, path in ((last, _with(own, ".last")), (best, own)):
            actor = jax.tree.map(lambda part, place=number: part[place], actors)
            made = _file(training, each, actor, lines)
            policies.save(made, path)
        if isinstance(made, records.PolicyFile):
            held_out.write_card(training, own, made, curve)
    checkpoint_file.unlink(missing_ok=True)
    return files


def policy_file(query: str | Path | Training, out: str | Path | None, suffix: str) -> Path:
    """Return the file of a policy, by default that of the query with another suffix."""
    name = query.name if isinstance(query, Training) else Path(query).stem
    file = Path(out or f"{name}{suffix}")
    require_folder(file)
    if file.is_dir() or (not isinstance(query, Training) and file.exists() and file.samefile(query)):
        what = "a folder" if file.is_dir() else "the file of the training"
        raise Unreadable(f"this is {what}; expected a file for the policy, such as NAME{suffix}", str(file))
    return file


def _with(path: str | Path, ending: str) -> Path:
    path = Path(path)
    return path.with_name(f"{path.stem}{ending}{path.suffix}")


def _trained(
    training: Training, seeds: Sequence[int], kept: Path, listener: Callable[[records.TrainingLine], object]
) -> tuple[Actor, Actor, list[records.TrainingLine]]:
    agent, about = training.algorithm(training), {"query": training.sections, "seeds": list(seeds)}
    keys = jax.vmap(jax.random.key)(jnp.array(seeds, jnp.uint32))
    (episode, judge), edges = _compiled(training, agent), held_out.edges(training)
    progress, curve = restore_checkpoint(kept, jax.jit(jax.vmap(lambda key: _begin(agent, key)))(keys), about)
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
            write_checkpoint(kept, progress, about, curve)
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
    names = {name: getattr(environment, name) for name in policies.TASK}
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


def sweep(
    query: str | Path,
    out: str | Path | None = None,
    *,
    seed: int = 0,
    seeds: int = 1,
    told: Callable[[int, records.TrainingLine], None] = lambda number, line: None,
) -> Iterator[records.SweepLine]:
    """Train once for each combination of the values in the section [sweep] of a file. This needs the extra `rl`.

    `for line in cm.sweep("rates.toml"): print(line.values, line.held_out)` prints the rewards on held-out links.

    Args:
        query: The TOML file of a training, with a section [sweep] (docs/reference/learning.md#sweeps).
        out: NAME.json: training k writes NAME-k.json. By default, NAME is the name of the query.
        seed: The first seed of each training.
        seeds: The number of seeds of each training.
        told: A function that is called with the number of a training, from 1, and with each of its records.

    Yields:
        A record for each training.

    Raises:
        InputError: If a training of the sweep is wrong, or the extra is not installed.
    """
    file = policy_file(query, out, ".json")
    for number, (values, training) in enumerate(_trainings(query), 1):

        def listens(line: records.TrainingLine, number: int = number) -> None:
            told(number, line)

        own = file.with_name(f"{file.stem}-{number}{file.suffix}")
        files = _train(training, range(seed, seed + seeds), own, listens)
        yield _swept(training, values, files)


def is_sweep(file: str | Path) -> bool:
    return SECTION in load_toml(file)[0]


def _trainings(file: str | Path) -> list[tuple[dict[str, Any], Training]]:
    """Return each training of a sweep, with its own values by names such as `agent.gamma`."""
    sections, text = load_toml(file)
    lists = _lists(sections.pop(SECTION, None), file, text)
    trainings = []
    for values in product(*lists.values()):
        chosen, own = dict(zip(lists, values, strict=True)), deepcopy(sections)
        for name, value in chosen.items():
            section, key = name.split(".")
            own.setdefault(section, {})[key] = value
        trainings.append((chosen, of_sections(own, text, file)))
    return trainings


def _lists(section: Any, file: str | Path, text: str) -> dict[str, list[Any]]:
    lists = {}
    for name, part in section.items() if isinstance(section, dict) else ():
        if name not in KNOWN or not isinstance(part, dict):
            raise InputError(f"unknown section [sweep.{shown(name)}]; {suggest(shown(name), KNOWN)}", str(file))
        for key, values in part.items():
            if not isinstance(values, list) or not values:
                problem = f"{key} of the sweep is {shown(values)}; expected a list of values"
                raise InputError(problem, str(file), line_of(text, key))
            lists[f"{name}.{key}"] = values
    count = prod(map(len, lists.values()))
    if not lists or count > MOST_TRAININGS:
        found = f"{counted(count, 'training')}" if lists else "no lists"
        raise InputError(f"the section [sweep] has {found}; expected 1 to {MOST_TRAININGS} trainings", str(file))
    return lists


def _swept(training: Training, values: Mapping[str, Any], files: Sequence[Path]) -> records.SweepLine:
    best = [_best(training, file) for file in files]
    return records.SweepLine(
        values=dict(values),
        policies=[str(file) for file in files],
        held_out=round(median(best), 4),
        least=min(best),
        most=max(best),
    )


def _best(training: Training, file: Path) -> float:
    kind: type[Any] = records.AdversaryFile if training.attacks else records.PolicyFile
    curve = records.read_record(read_text(file), kind, str(file)).curve
    return max(line.held_out for line in curve if isinstance(line.held_out, float | int))
