"""Policies from ONNX files of any framework: a chain of layers, and metadata that describe the sender around it."""

import json
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ccmatic import records
from ccmatic.base import InputError, counted, definitions, shown
from ccmatic.language import neural as networks
from ccmatic.language.neural import Bent, Layer, Scaled

#: The keys that the metadata of a policy must have, and further keys with their values if a key is absent.
REQUIRED = ("observe", "act", "history", "interval")
FURTHER = ("reward", "delay", "choices")

#: A layer of a chain: weights with a row per output, bias, and activation.
Affine: TypeAlias = tuple[list[list[Fraction]], list[Fraction], str]


def has_properties(path: str | Path) -> bool:
    """Return whether a file is an ONNX file whose metadata describe a policy."""
    return Path(path).suffix == ".onnx" and "observe" in _metadata(path)


def properties(file: records.PolicyFile) -> dict[str, str]:
    kept = {name: getattr(file, name) for name in (*REQUIRED, *FURTHER)}
    kept["choices"] = json.dumps(kept["choices"]) if isinstance(file.choices, list) else ""
    return {name: str(value) for name, value in kept.items() if value != ""}


def read(path: str | Path) -> records.PolicyFile:
    """Return the policy of an ONNX file.

    The metadata of the model (`metadata_props`) have the keys `observe`, `act`, `history` and `interval`, as in a query
    of `train`; and optionally `delay`, `reward` (if the observations read the reward) and `choices` (a list in JSON).
    The network is a chain of layers, with ReLU, tanh or a sigmoid after any of them. Factors and offsets of single
    numbers, such as a normalisation of observations, become part of the layers. A GRU may be in front of the layers.
    Then the network has a further input, the memory, which begins with zeros, and a further output, the next memory.
    """
    graph, given = networks.read(path, memory=True), _metadata(path)
    missing = [name for name in REQUIRED if name not in given]
    if missing:
        expected = f"expected metadata_props with {', '.join(REQUIRED)}, and optionally {', '.join(FURTHER)}"
        raise InputError(f"the model has no metadata '{missing[0]}'; {expected}", str(path))
    names: dict[str, Any] = {"observe": given["observe"], "act": given["act"], "interval": given["interval"]}
    names["reward"] = given.get("reward", definitions.chosen("models.signals", "DEFAULT"))
    names |= {name: _whole(given.get(name, "0"), name, path) for name in ("history", "delay")}
    if "choices" in given:
        names["choices"] = _choices(given["choices"], path)
    memory, layers = _parts(graph)
    return records.PolicyFile(query={}, seed=0, layers=layers, memory=memory, curve=[], **names)


def _metadata(path: str | Path) -> dict[str, str]:
    """Return the metadata of an ONNX file, which networks.read may refuse."""
    return {each.key: each.value for each in networks.load_model(path).metadata_props}


def _whole(text: str, name: str, path: str | Path) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InputError(f"the metadata '{name}' is '{shown(text)}'; expected a whole number", str(path))
    return int(text)


def _choices(text: str, path: str | Path) -> list[float]:
    try:
        numbers = json.loads(text)
        assert isinstance(numbers, list) and numbers
        return [float(number) for number in numbers]
    except (ValueError, TypeError, AssertionError, RecursionError, OverflowError):
        raise InputError(f"the metadata 'choices' is '{shown(text)}'; expected a list of numbers", str(path)) from None


def _parts(graph: networks.Graph) -> tuple[records.MemoryRecord | records.Absent, list[records.LayerRecord]]:
    """Return the unit with memory and the layers of a graph that is a chain."""
    latest, output = _ends(graph)
    memory: records.MemoryRecord | records.Absent = records.ABSENT
    chain: list[Affine] = []
    for name, statement in graph.statements.items():
        source = statement.source if isinstance(statement, Layer | Scaled | Bent) else ""
        unit = graph.recurrent.get(source)
        if unit and unit.source == latest:
            latest, memory, chain = source, _memory(unit, chain, graph), []
        if not isinstance(statement, Layer | Scaled | Bent) or source != latest:
            problem = f"'{shown(name)}' is no part of a chain from the input to the output"
            raise InputError(
                f"{problem}; expected layers, factors, offsets, Relu and Tanh, one after another", graph.file
            )
        _add(chain, statement, graph.sizes[latest], graph.file)
        latest = name
    if latest != output or not chain:
        raise InputError("the output is not the end of a chain of layers; expected a network of layers", graph.file)
    return memory, [_record(weights, bias, graph.file, activation) for weights, bias, activation in chain]


def _ends(graph: networks.Graph) -> tuple[str, str]:
    """Return the input and the output of a graph that do not belong to its memory."""
    starts, ends = list(graph.inputs), list(graph.outputs.values())
    for name, unit in graph.recurrent.items():
        if unit.memory not in starts or name not in ends:
            raise InputError(
                "the memory of the GRU is no input, or the next memory no output; expected both", graph.file
            )
        starts.remove(unit.memory)
        ends.remove(name)
    if len(starts) != 1 or len(ends) != 1:
        counts = f"{counted(len(starts), 'input')} and {counted(len(ends), 'output')} that do not belong to its memory"
        raise InputError(f"the network of a policy has {counts}; expected one of each", graph.file)
    return starts[0], ends[0]


def _memory(unit: networks.Recurrent, before: list[Affine], graph: networks.Graph) -> records.MemoryRecord:
    """Return the record of a unit. Factors and offsets of the observations before it become part of its weights."""
    if [activation for _, _, activation in before] not in ([], ["none"]):
        raise InputError(
            "a function such as Relu is in front of the GRU; expected only factors and offsets", graph.file
        )
    inputs = graph.sizes[unit.source]

    def record(part: tuple[networks.Rows, networks.Row], seen: int) -> records.LayerRecord:
        weights, bias = part
        chain = [*before] if seen else []
        _add(chain, Layer("", tuple(row[:seen] for row in weights), bias), seen, graph.file)
        rows, bias_, _ = chain[0]
        return _record([[*row, *rest[seen:]] for row, rest in zip(rows, weights, strict=True)], bias_, graph.file)

    gates = record(unit.update, inputs), record(unit.reset, inputs), record(unit.candidate, inputs)
    return records.MemoryRecord(*gates, record(unit.recalled, 0))


def _add(chain: list[Affine], statement: Layer | Scaled | Bent, size: int, file: str) -> None:
    """Add a statement to a chain. Layers without an activation between them become one layer, exactly."""
    if isinstance(statement, Bent):
        if statement.kind not in ("relu", "tanh"):
            raise InputError(f"the network of a policy has '{statement.kind}'; expected Relu or Tanh", file)
        if not chain or chain[-1][2] != "none":
            chain.append((*_scaling([Fraction(1)] * size, [Fraction(0)] * size), "none"))
        weights, bias, _ = chain[-1]
        chain[-1] = (weights, bias, statement.kind)
        return
    if isinstance(statement, Layer):
        weights, bias = [list(row) for row in statement.weights], list(statement.bias)
    else:
        weights, bias = _scaling(list(statement.factors), list(statement.offsets))
    if chain and chain[-1][2] == "none":
        before, offsets, _ = chain.pop()
        columns = list(zip(*before, strict=True))
        bias = [_dot(row, offsets) + b for row, b in zip(weights, bias, strict=True)]
        weights = [[_dot(row, column) for column in columns] for row in weights]
    chain.append((weights, bias, "none"))


def _scaling(factors: list[Fraction], offsets: list[Fraction]) -> tuple[list[list[Fraction]], list[Fraction]]:
    count = len(factors)
    return [[factors[i] if i == j else Fraction(0) for j in range(count)] for i in range(count)], offsets


def _dot(row: Iterable[Fraction], column: Iterable[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(row, column, strict=True) if a and b), Fraction(0))


def _record(
    weights: list[list[Fraction]], bias: list[Fraction], file: str, activation: str | records.Absent = records.ABSENT
) -> records.LayerRecord:
    """Return a layer with the nearest single floats."""
    most = float(np.finfo(np.float32).max)
    if any(abs(number) > most for row in (*weights, bias) for number in row):
        raise InputError("the network has a number that is not finite in 32 bits; expected smaller numbers", file)
    columns = [[float(number) for number in row] for row in weights]
    rows = np.array(columns, np.float32).T.tolist()
    return records.LayerRecord(rows, np.array([float(number) for number in bias], np.float32).tolist(), activation)
