"""A trained policy as a file. The file is data: ccmatic checks each number, and runs no code from the file."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ccmatic import controllers, records
from ccmatic.base import InputError, counted, definitions, exact, located, read_text, shown, write_text
from ccmatic.controllers import Controller, signal
from ccmatic.deployment.policies import onnx_policy
from ccmatic.deployment.policies.formulas import exportable
from ccmatic.deployment.policies.program import ACTIVATIONS, Cell, activations_of

#: The type of a network's layers: the weights (inputs, outputs) and the bias (outputs) of each layer.
Layers: TypeAlias = list[tuple[NDArray[np.float32], NDArray[np.float32]]]

#: LARGEST limits three numbers: the intervals in an observation, the delay of an observation in intervals, and the
#: outputs of a layer. DEEPEST and WEIGHTS limit the numbers of layers and weights of a network, so that a compiler
#: takes only seconds.
LARGEST, DEEPEST, WEIGHTS = 1024, 20, 2**20

#: The horizon T in the proofs of shipped envelopes. In an envelope, a sender's beliefs time out as in the envelope's
#: proof.
PROVED_HORIZON = 11

#: The fields of a PolicyFile, and options of an environment, that define the task of a policy.
TASK = ("observe", "act", "reward", "history", "delay")


def envelope(act: str) -> Controller | None:
    """Return the envelope NAME in which an action `envelope:NAME` chooses a rate; None for other actions.

    The action -1 is the lowest rate that this controller allows, and the action 1 is the highest.
    """
    word, _, name = act.partition(":") if isinstance(act, str) else ("", "", "")
    if word != "envelope":
        return None
    controller: Controller = controllers.load(name)
    if not getattr(controller, "is_envelope", False):
        raise InputError(
            f"act is '{act}', which leaves no choice; expected an envelope, which returns between(low, high)"
        )
    return controller


@dataclass(frozen=True)
class Policy:
    """A checked PolicyFile and its name."""

    file: records.PolicyFile
    name: str  #: the name of the policy's file

    @cached_property
    def layers(self) -> Layers:
        return arrays(self.file.layers)

    @cached_property
    def cell(self) -> Cell | None:
        """The unit with memory in front of the layers; None if the layers read the observation."""
        if not isinstance(self.file.memory, records.MemoryRecord):
            return None
        return Cell(*arrays([getattr(self.file.memory, name) for name in Cell._fields]))

    @cached_property
    def activations(self) -> tuple[str, ...]:
        usual = activations_of(len(self.file.layers))
        given = (layer.activation for layer in self.file.layers)
        return tuple(own if isinstance(own, str) else other for own, other in zip(given, usual, strict=True))

    @property
    def choices(self) -> tuple[float, ...]:
        """The actions of a discrete choice; empty if the network computes the action itself."""
        return tuple(self.file.choices) if isinstance(self.file.choices, list) else ()

    @property
    def interval(self) -> Fraction:
        return exact(self.file.interval)

    @cached_property
    def envelope(self) -> Controller | None:
        return envelope(self.file.act)

    @cached_property
    def formulas(self) -> list[signal.Signal]:
        """The Signals that the policy's sender computes, as in `formulas.exportable`. The first is the observations."""
        return exportable(self.file.observe, self.file.reward, None if self.envelope else self.file.act)

    @property
    def memory(self) -> tuple[tuple[signal.Register, ...], ...]:
        return signal.memory_of(self.formulas)

    @property
    def bounds(self) -> tuple[float, float]:
        if self.envelope:
            return -1.0, 1.0
        bounds = self.formulas[-1].bounds
        assert bounds is not None  # Every formula of actions has bounds.
        return bounds

    @property
    def about(self) -> str:
        sizes = "-".join(str(len(layer.bias)) for layer in self.file.layers)
        memory = f"a GRU of {counted(self.cell.units, 'unit')} before " if self.cell else ""
        what = f"A policy of {counted(self.file.history, 'interval')}, {memory}a network of {sizes}"
        return f"{what}, trained for {self.file.reward}'s reward."


def load(path: str | Path) -> Policy:
    """Return the Policy of a file, or of an ONNX file with the suffix `.onnx`; see onnx_policy.read."""
    if Path(path).suffix == ".onnx":
        file = onnx_policy.read(path)
    else:
        file = records.read_record(read_text(path), records.PolicyFile, str(path))
    with located(str(path)):
        observed, *_ = Policy(file, Path(path).stem).formulas
    _check_query(file, str(path))
    for name, least in (("history", 1), ("delay", 0)):
        if not least <= getattr(file, name) <= LARGEST:
            raise InputError(f"{name} is {getattr(file, name)}; expected {least} to {LARGEST}", str(path))
    _check_interval(file.interval, str(path))
    inputs = file.history * observed.size
    policy = Policy(file, Path(path).stem)
    with located(str(path)):
        signal.choices(list(policy.choices), policy.bounds)
    why = f"{file.history} {file.observe} vectors have {inputs} numbers"
    if isinstance(file.memory, records.MemoryRecord):
        inputs, why = _check_memory(file.memory, inputs, why, str(path)), "the memory before it has as many units"
    check_layers(file.layers, inputs, why, str(path), outputs=len(policy.choices) or 1)
    return policy


def is_policy(path: str | Path) -> bool:
    """Return whether a path names a policy's file, or an ONNX file whose metadata describe a policy."""
    return Path(path).suffix == ".json" or onnx_policy.has_properties(path)


def save(file: records.PolicyFile | records.AdversaryFile, path: str | Path) -> None:
    write_text(path, records.line(file) + "\n")


def _check_query(file: records.PolicyFile, path: str) -> None:
    """Raise InputError if the query of a policy's training states another sender. Names of files are not compared."""
    asked = file.query.get("environment")
    for name in TASK:
        stated = asked.get(name) if isinstance(asked, dict) else None
        is_file = definitions.is_path(str(stated).rpartition(":")[2])
        if stated is not None and not is_file and stated != getattr(file, name):
            raise InputError(f"{name} is {getattr(file, name)}; expected {shown(stated)}, as in its query", path)


def _check_interval(text: str, path: str) -> None:
    try:
        interval = exact(text)
    except InputError:
        interval = Fraction(0)
    if interval <= 0 or max(interval.as_integer_ratio()) > 64:
        raise InputError(f"the interval is '{shown(text)}'; expected such as 1, 2 or 1/2, of numbers up to 64", path)


def arrays(layers: Sequence[records.LayerRecord]) -> Layers:
    """Return (weights (inputs, outputs), bias (outputs)) of each LayerRecord, as float32 arrays."""
    return [(np.array(layer.weights, np.float32), np.array(layer.bias, np.float32)) for layer in layers]


def _check_memory(memory: records.MemoryRecord, inputs: int, what: str, path: str) -> int:
    """Return the number of units of a MemoryRecord whose layers fit."""
    units = len(memory.update.bias)
    rows = {"update": inputs + units, "reset": inputs + units, "candidate": inputs, "recalled": units}
    for name, taken in rows.items():
        layer = getattr(memory, name)
        if isinstance(layer.activation, str):
            raise InputError(f"memory.{name} has an activation; expected none", path)
        if not 0 < units <= LARGEST or len(layer.bias) != units or len(layer.weights) != taken:
            shape = f"{counted(len(layer.weights), 'row')} and {len(layer.bias)} biases"
            raise InputError(f"memory.{name} has {shape}; expected {counted(taken, 'row')} of {units}: {what}", path)
        _check_numbers(layer, f"memory.{name}", path)
    return units


def _check_numbers(layer: records.LayerRecord, what: str, path: str) -> None:
    size = len(layer.bias)
    if not 0 < size <= LARGEST or any(len(row) != size for row in layer.weights):
        raise InputError(f"{what}: expected as many weights in each row as in the bias, {size}", path)
    if not all((np.abs(numbers) <= np.finfo(np.float32).max).all() for numbers in (layer.weights, layer.bias)):
        raise InputError(f"{what} has a number that is not finite in 32 bits", path)


def check_layers(layers: Sequence[records.LayerRecord], inputs: int, what: str, path: str, outputs: int = 1) -> None:
    """Check that LayerRecords form a network with these inputs and outputs. Messages say `what` has as many inputs."""
    if len(layers) > DEEPEST:
        raise InputError(f"{len(layers)} layers; expected at most {DEEPEST}", path)
    weights = sum(len(row) for layer in layers for row in layer.weights)
    if weights > WEIGHTS:
        raise InputError(f"{weights} weights; expected at most {WEIGHTS}", path)
    for number, layer in enumerate(layers, 1):
        if len(layer.weights) != inputs:
            raise InputError(f"layer {number} takes {counted(len(layer.weights), 'number')}, and {what}", path)
        if isinstance(layer.activation, str) and layer.activation not in ACTIVATIONS:
            known = ", ".join(ACTIVATIONS)
            raise InputError(f"layer {number} has the activation '{shown(layer.activation)}'; expected {known}", path)
        _check_numbers(layer, f"layer {number}", path)
        inputs, what = len(layer.bias), f"the layer before gives {len(layer.bias)}"
    if inputs != outputs or not layers:
        expected = "one number" if outputs == 1 else f"{outputs} numbers, one for each choice"
        raise InputError(f"the last layer gives {inputs if layers else 'nothing'}; expected {expected}", path)
