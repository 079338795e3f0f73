"""Networks, written as ONNX."""

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def write(path, inputs, nodes, arrays=None, output="rate", dtype=np.float32, version=13):
    """Write an ONNX file. inputs: by name, how many numbers one has; nodes: (operator, inputs, output, attributes);
    arrays: by name; those of whole numbers in numpy stay whole."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name, size in inputs.items()]
    made = [helper.make_node(kind, reads, [to], **attributes) for kind, reads, to, attributes in nodes]
    whole = np.dtype(np.int64)
    given = (arrays or {}).items()
    kept = {name: array if getattr(array, "dtype", None) == whole else dtype(array) for name, array in given}
    tensors = [numpy_helper.from_array(array, name) for name, array in kept.items()]
    decided = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["n", 1])
    graph = helper.make_graph(made, "policy", ends, [decided], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)
    Path(path).write_bytes(model.SerializeToString())
    return path


def layered(path, inputs, layers, between="Relu", output="rate"):
    """Write a network of layers, (weights, bias) of each, of inputs of one number."""
    nodes, arrays, taken = [("Concat", list(inputs), "inputs", {"axis": 1})], {}, "inputs"
    for number, (weights, bias) in enumerate(layers, 1):
        arrays |= {f"weights_{number}": weights, f"bias_{number}": bias}
        last = number == len(layers)
        sums = output if last else f"sums_{number}"
        nodes.append(("Gemm", [taken, f"weights_{number}", f"bias_{number}"], sums, {"transB": 1}))
        if not last:
            taken = f"layer_{number}"
            nodes.append((between, [sums], taken, {}))
    return write(path, dict.fromkeys(inputs, 1), nodes, arrays, output)
