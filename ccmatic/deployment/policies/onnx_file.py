"""A policy's program as an ONNX model. The package `onnx` writes the file."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ccmatic.base import InputError, write_bytes
from ccmatic.deployment.policies import onnx_policy
from ccmatic.deployment.policies.policy import Policy
from ccmatic.deployment.policies.program import OBSERVATION, Cell, program
from ccmatic.language import Affine, Extreme, Function, Name, Number, Visit, Walker, replaced

if TYPE_CHECKING:
    import onnx

#: The version of the ONNX operators. Version 13 is the first version that supports Gemm in the form used here.
OPSET = 13

#: The names of the memory before and after an observation.
MEMORY, NEXT_MEMORY = "memory", "next_memory"


def write_onnx(policy: Policy, path: str | Path) -> Path:
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
    helper.set_model_props(model, onnx_policy.properties(policy.file))
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
