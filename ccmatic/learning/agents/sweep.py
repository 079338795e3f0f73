"""Sweeps: trainings whose queries differ in the values that the section [sweep] of one file lists."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import product
from math import prod
from pathlib import Path
from statistics import median
from typing import Any

from ccmatic import records
from ccmatic.base import InputError, counted, line_of, load_toml, read_text, shown, suggest
from ccmatic.learning.agents import query
from ccmatic.learning.agents.query import Training
from ccmatic.learning.agents.train import train

#: The largest number of trainings in a sweep.
MOST = 1000

#: The section of a file that describes a sweep.
SECTION = "sweep"


def is_sweep(file: str | Path) -> bool:
    """Return whether a TOML file describes a sweep. Raise InputError if it cannot be read."""
    return SECTION in load_toml(file)[0]


def load(file: str | Path) -> list[tuple[dict[str, Any], Training]]:
    """Return each training of a sweep, with its own values by names such as `agent.gamma`.

    Raises:
        InputError: If the section [sweep] or one of the trainings is wrong.
    """
    sections, text = load_toml(file)
    lists = _lists(sections.pop(SECTION, None), file, text)
    trainings = []
    for values in product(*lists.values()):
        chosen, own = dict(zip(lists, values, strict=True)), deepcopy(sections)
        for name, value in chosen.items():
            section, key = name.split(".")
            own.setdefault(section, {})[key] = value
        trainings.append((chosen, query.of_sections(own, text, file)))
    return trainings


def _lists(section: Any, file: str | Path, text: str) -> dict[str, list[Any]]:
    """Return the lists of values, by names such as `agent.gamma`."""
    lists = {}
    for name, part in section.items() if isinstance(section, dict) else ():
        if name not in query.KNOWN or not isinstance(part, dict):
            raise InputError(f"unknown section [sweep.{shown(name)}]; {suggest(shown(name), query.KNOWN)}", str(file))
        for key, values in part.items():
            if not isinstance(values, list) or not values:
                problem = f"{key} of the sweep is {shown(values)}; expected a list of values"
                raise InputError(problem, str(file), line_of(text, key))
            lists[f"{name}.{key}"] = values
    count = prod(map(len, lists.values()))
    if not lists or count > MOST:
        found = f"{counted(count, 'training')}" if lists else "no lists"
        raise InputError(f"the section [sweep] has {found}; expected 1 to {MOST} trainings", str(file))
    return lists


def run(
    file: str | Path,
    seed: int,
    out: Path,
    listener: Callable[[int, records.TrainingLine], object],
    seeds: int = 1,
) -> Iterator[records.SweepLine]:
    """Train the trainings of a sweep one after the other, and yield a SweepLine for each.

    Args:
        file: The TOML file.
        seed: The first seed of each training.
        out: The path from which the names of policies derive: NAME.json stands for NAME-1.json, NAME-2.json and so on.
        listener: A function that receives the number of a training, and each of its TrainingLines.
        seeds: The number of seeds of each training.

    Raises:
        InputError: As for `load` and `train`.
    """
    for number, (values, training) in enumerate(load(file), 1):

        def listens(line: records.TrainingLine, number: int = number) -> None:
            listener(number, line)

        files = train(training, seed, out.with_name(f"{out.stem}-{number}{out.suffix}"), listens, seeds)
        yield _line(training, values, files)


def _line(training: Training, values: Mapping[str, Any], files: Sequence[Path]) -> records.SweepLine:
    """Return the SweepLine of a finished training."""
    best = [_best(training, file) for file in files]
    return records.SweepLine(
        values=dict(values),
        policies=[str(file) for file in files],
        held_out=round(median(best), 4),
        least=min(best),
        most=max(best),
    )


def _best(training: Training, file: Path) -> float:
    """Return the best mean reward on held-out links that a file records."""
    kind: type[Any] = records.AdversaryFile if training.attacks else records.PolicyFile
    curve = records.read_record(read_text(file), kind, str(file)).curve
    return max(line.held_out for line in curve if isinstance(line.held_out, float | int))
