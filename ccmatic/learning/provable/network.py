"""A network of ReLU units from beliefs to a rate, as arrays and as an ONNX file.

The network has no biases, and each input is a rate. So it is homogeneous: if all beliefs double, its rate doubles.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from ccmatic.base import InputError, definitions, write_bytes
from ccmatic.learning.envs.beliefs import Beliefs

#: The weights (inputs, outputs) of each layer.
Weights: TypeAlias = list[Array]

#: The inputs, as terms of the language. `inputs` computes the same terms.
LOWER, UPPER = definitions.chosen("models.beliefs", "LINK_RATE")
WAIT = definitions.chosen("models.beliefs", "WAIT")
INPUTS = (LOWER, f"min({UPPER}, 4 * {LOWER})", f"{LOWER} if {WAIT} > 0 else 0")

#: Weights are rounded to multiples of 1/ROUNDED, so that solvers and integer code stay fast.
ROUNDED = 64


def inputs(bounds: Beliefs) -> Array:
    """Return the inputs (…, inputs) in units of C_L."""
    one = jnp.ones_like(bounds.C_L)
    return jnp.stack([one, jnp.minimum(bounds.C_U / bounds.C_L, 4), jnp.where(bounds.qdel_L > 0, one, 0)], -1)


def begin(layers: Sequence[int], seed: int) -> Weights:
    """Return random initial weights (He's initialisation). The last layer makes the network send at about C_L."""
    dice = np.random.default_rng(seed)
    sizes = [len(INPUTS), *layers, 1]
    drawn = [dice.normal(size=pair) * np.sqrt(2 / pair[0]) for pair in pairwise(sizes)]
    drawn[-1] = np.abs(drawn[-1]) / 2
    return [jnp.asarray(each, jnp.float32) for each in drawn]


def output(weights: Weights, x: Array) -> Array:
    """Return the rate (…), in units of C_L, for inputs (…, inputs)."""
    for number, matrix in enumerate(weights, 1):
        x = x @ matrix
        if number < len(weights):
            x = jax.nn.relu(x)
    return x[..., 0]


def share(weights: Weights, bounds: Beliefs) -> Array:
    """Return the rate (…), in units of C_L, for beliefs."""
    return output(weights, inputs(bounds))


def rounded(weights: Weights) -> list[NDArray[np.float32]]:
    return [np.asarray(np.round(np.asarray(matrix) * ROUNDED) / ROUNDED, np.float32) for matrix in weights]


def write(weights: Sequence[NDArray[np.float32]], path: str | Path, notes: Mapping[str, str]) -> Path:
    """Write a network as an ONNX file, which is a controller."""
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError:
        raise InputError("onnx is not installed; pip install 'ccmatic[rl]'") from None
    name = ", ".join(INPUTS)
    nodes, tensors, value = [], [], name
    for number, matrix in enumerate(weights, 1):
        tensors.append(numpy_helper.from_array(matrix, f"weights_{number}"))
        last = number == len(weights)
        sums = "rate" if last else f"sums_{number}"
        nodes.append(helper.make_node("MatMul", [value, f"weights_{number}"], [sums]))
        if not last:
            value = f"units_{number}"
            nodes.append(helper.make_node("Relu", [sums], [value]))
    ends = [
        helper.make_tensor_value_info(each, TensorProto.FLOAT, ["n", size])
        for each, size in ((name, len(INPUTS)), ("rate", 1))
    ]
    graph = helper.make_graph(nodes, "policy", ends[:1], ends[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, dict(notes))
    checker.check_model(model)
    write_bytes(path, model.SerializeToString())
    return Path(path)
