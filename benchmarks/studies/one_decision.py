"""Decide properties of networks with 9 inputs and 2 x 64 ReLU units, and write such a network as a policy.

    python -m benchmarks.studies.one_decision FOLDER [--seconds N]

The weights are random, with He's deviation, and the biases have a deviation of 1/10. The inputs lie in a box around 0.
The threshold lies above the largest of 10,000 sampled outputs, by a quarter of the range of these outputs. The command
prints a line for each network and box.
FOLDER keeps the ONNX files with their VNN-LIB properties, for `ccmatic verify`. The files have the metadata of a policy
that observes three intervals of three numbers, so `ccmatic judge search guard:cc_qdel_wide:policy:FILE` judges the
closed loop.
"""

import argparse
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper, save

import ccmatic as cm

SIZES, SEEDS, BOXES, SAMPLES = (9, 64, 64, 1), (1, 2), (0.02, 0.05, 0.1), 10_000
Layers: TypeAlias = list[tuple[NDArray[np.float32], NDArray[np.float32]]]
POLICY = {"observe": "aurora", "act": "aurora", "history": "3", "interval": "1"}


def layers_of(seed: int) -> Layers:
    """Return the weights and biases of the layers of a random network."""
    rng = np.random.default_rng(seed)
    return [
        (
            np.asarray(rng.normal(size=(taken, given)) * np.sqrt(2 / taken), np.float32),
            np.asarray(rng.normal(size=given) / 10, np.float32),
        )
        for taken, given in pairwise(SIZES)
    ]


def write(layers: Layers, file: Path) -> Path:
    """Write a network to an ONNX file, and return the file."""
    nodes, tensors, value = [], [], "obs"
    for number, arrays in enumerate(layers, 1):
        last = number == len(layers)
        sums, names = "action" if last else f"sums_{number}", [f"weights_{number}", f"biases_{number}"]
        tensors += [numpy_helper.from_array(array, name) for array, name in zip(arrays, names, strict=True)]
        nodes.append(helper.make_node("Gemm", [value, *names], [sums]))
        if not last:
            value = f"units_{number}"
            nodes.append(helper.make_node("Relu", [sums], [value]))
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size])
        for name, size in (("obs", SIZES[0]), ("action", 1))
    ]
    graph = helper.make_graph(nodes, "policy", ends[:1], ends[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, POLICY)
    save(model, file)
    return file


def threshold(layers: Layers, half: float) -> float:
    """Return the threshold of a box."""
    value = np.random.default_rng(0).uniform(-half, half, (SAMPLES, SIZES[0]))
    *hidden, (last, bias) = layers
    for weights, biases in hidden:
        value = np.maximum(0, value @ weights + biases)
    outputs = value @ last + bias
    return float(outputs.max() + (outputs.max() - outputs.min()) / 4)


def property_of(half: float, above: float, file: Path) -> Path:
    """Write the VNN-LIB property that an output exceeds a threshold in a box, and return the file."""
    lines = [f"(declare-const X_{n} Real)" for n in range(SIZES[0])] + ["(declare-const Y_0 Real)"]
    lines += [f"(assert (>= X_{n} -{half}))\n(assert (<= X_{n} {half}))" for n in range(SIZES[0])]
    file.write_text("\n".join([*lines, f"(assert (>= Y_0 {above:.6f}))", ""]))
    return file


def main() -> None:
    """Print a line for each network and box."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS:
        layers = layers_of(seed)
        network = write(layers, given.folder / f"nine_{seed}.onnx")
        for half in BOXES:
            asked = property_of(half, threshold(layers, half), given.folder / f"nine_{seed}_{half}.vnnlib")
            begin = process_time()
            decided = cm.decide(network, asked, timeout=given.seconds)
            spent = process_time() - begin
            print(
                f"seed {seed}, box ±{half}: {decided.verdict}, {spent:.1f} CPU s, {decided.branches} branches",
                flush=True,
            )


if __name__ == "__main__":
    main()
