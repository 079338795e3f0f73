"""Policies as ONNX files: of any framework, and by the package `onnx`.

The network is a chain of layers, and the metadata describe the sender around it.
"""

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ccmatic import records
from ccmatic.base import InputError, counted, definitions, shown, write_bytes
from ccmatic.deployment.policies.program import OBSERVATION, Cell, program
from ccmatic.language import Affine, Extreme, Function, Name, Number, Visit, Walker, replaced
from ccmatic.language import neural as networks
from ccmatic.language.neural import Bent, Layer, Scaled

if TYPE_CHECKING:
    import onnx

    from ccmatic.deployment.policies.policy import Policy

#: The keys that the metadata of a policy must have, and further keys with their values if a key is absent.
REQUIRED = ("observe", "act", "history", "interval")
FURTHER = ("reward", "delay", "choices")

#: A layer of a chain: weights with a row per output, bias, and activation.
ChainLayer: TypeAlias = tuple[list[list[Fraction]], list[Fraction], str]


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
    chain: list[ChainLayer] = []
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


def _memory(unit: networks.Recurrent, before: list[ChainLayer], graph: networks.Graph) -> records.MemoryRecord:
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


def _add(chain: list[ChainLayer], statement: Layer | Scaled | Bent, size: int, file: str) -> None:
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


#: The version of the ONNX operators. Version 13 is the first version that supports Gemm in the form used here.
OPSET = 13

#: The names of the memory before and after an observation.
MEMORY, NEXT_MEMORY = "memory", "next_memory"


def write_onnx(policy: "Policy", path: str | Path) -> Path:
    """Write a Policy as an ONNX model.

    The input of the model is `observation` (n, numbers). The output is `action` (n, 1), before limits apply, or
    `scores` (n, k) of k choices. A policy with a memory has the further input `memory` (n, units), which begins with
    zeros, and the further output `next_memory`. All are float32. The metadata of the model describe the policy, as
    onnx_policy.read expects.
    """
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise InputError("onnx is not installed; pip install 'ccmatic[rl]'") from None
    names = [(f"weights_{number}", f"bias_{number}") for number in range(1, len(policy.layers) + 1)]
    arrays = dict(zip(chain(*names), chain(*policy.layers), strict=True))
    graph = _Graph(arrays)
    layers = program(names, policy.activations)
    output = ("scores", len(policy.choices)) if policy.choices else ("action", 1)
    taken, given = [(OBSERVATION, len(policy.layers[0][0]))], [output]
    if policy.cell:
        taken = [(OBSERVATION, len(policy.cell.candidate[0])), (MEMORY, policy.cell.units)]
        given = [output, (NEXT_MEMORY, policy.cell.units)]
        graph.recall(policy.cell)
        layers = replaced(layers, {OBSERVATION: Name(NEXT_MEMORY)})
    graph.walk(layers)
    graph.nodes[-1].output[0] = output[0]
    first, last = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name, size in each]
        for each in (taken, given)
    )
    made = helper.make_graph(graph.nodes, policy.name, first, last, graph.tensors)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    helper.set_model_props(model, properties(policy.file))
    checker.check_model(model)
    write_bytes(path, model.SerializeToString())
    return Path(path)


class _Graph(Walker[str]):
    """The ONNX graph nodes of a program. The walk returns the name in the graph for each value."""

    WORLD = "ONNX operator"

    def __init__(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        super().__init__()
        self.arrays = arrays
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def add(self, kind: str, *reads: str) -> str:
        """Add a node that computes one value, and return the name of this value."""
        from onnx import helper

        value = f"{kind.lower()}_{len(self.nodes) + 1}"
        self.nodes.append(helper.make_node(kind, reads, [value]))
        return value

    def recall(self, cell: Cell) -> None:
        """Add ONNX's GRU, with the reset gate after the product, for one step of one observation."""
        from onnx import helper, numpy_helper

        (update, one), (reset, two), (seen, three), (recalled, four) = cell
        inputs, none = len(seen), np.zeros_like(one)
        arrays: dict[str, NDArray[Any]] = {
            "gru_weights": np.concatenate([update[:inputs], reset[:inputs], seen], axis=1).T[None],
            "gru_recurrent": np.concatenate([update[inputs:], reset[inputs:], recalled], axis=1).T[None],
            "gru_bias": np.concatenate([one, two, three, none, none, four])[None],
            "first_axis": np.array([0]),
        }
        self.tensors += [numpy_helper.from_array(array, name) for name, array in arrays.items()]
        steps = [
            helper.make_node("Unsqueeze", [OBSERVATION, "first_axis"], ["sequence"]),
            helper.make_node("Unsqueeze", [MEMORY, "first_axis"], ["first_memory"]),
            helper.make_node(
                "GRU",
                ["sequence", "gru_weights", "gru_recurrent", "gru_bias", "", "first_memory"],
                ["", "last_memory"],
                hidden_size=cell.units,
                linear_before_reset=1,
            ),
            helper.make_node("Squeeze", ["last_memory", "first_axis"], [NEXT_MEMORY]),
        ]
        self.nodes += steps

    def visit_Name(self, node: Name) -> str:
        return node.name

    def visit_Affine(self, node: Affine) -> Visit[str]:
        from onnx import numpy_helper

        weights, bias = node.weights, node.bias
        assert isinstance(weights, str) and isinstance(bias, str)  # These are the names of arrays.
        vector = yield node.vector
        self.tensors += [numpy_helper.from_array(self.arrays[name], name) for name in (weights, bias)]
        return self.add("Gemm", vector, weights, bias)

    def visit_Number(self, node: Number) -> str:
        return ""  # Only the 0 of a ReLU is a number.

    def visit_Extreme(self, node: Extreme) -> Visit[str]:
        *_, part = yield from self.results(node.terms)
        return self.add("Relu", part)

    def visit_Function(self, node: Function) -> Visit[str]:
        [part] = yield from self.results(node.parts)
        return self.add(node.name.capitalize(), part)
