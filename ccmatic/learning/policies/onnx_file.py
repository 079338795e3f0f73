"""A policy as an ONNX model, by the package `onnx`."""

from pathlib import Path

from ccmatic.base import InputError, write_bytes

#: The operators' version: the first with Gemm as it is used here was 13.
OPSET = 13


def write_onnx(policy, path):
    """Write a Policy as ONNX: `observation` (n, numbers) in, `action` (n, 1) out, before it is limited; float32. The
    path. Raises InputError if the package onnx is not installed, or the file cannot be written."""
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError:
        raise InputError("onnx is not installed; pip install 'ccmatic[rl]'") from None
    nodes, weights, taken = [], [], "observation"
    for number, arrays in enumerate(policy.layers, 1):
        names = [f"weights_{number}", f"bias_{number}"]
        weights += [numpy_helper.from_array(array, name) for array, name in zip(arrays, names, strict=True)]
        last = number == len(policy.layers)
        given = "action" if last else f"sum_{number}"
        nodes.append(helper.make_node("Gemm", [taken, *names], [given]))
        if not last:
            taken = f"layer_{number}"
            nodes.append(helper.make_node("Tanh", [given], [taken]))
    ends = [("observation", len(policy.layers[0][0])), ("action", 1)]
    taken, given = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name, size in ends)
    graph = helper.make_graph(nodes, policy.name, [taken], [given], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    checker.check_model(model)
    write_bytes(path, model.SerializeToString())
    return Path(path)
