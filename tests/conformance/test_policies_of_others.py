"""Policies from ONNX files of other frameworks: the same actions in ONNX's own runtime, Python, JAX and C."""

import json
import os

import msgspec
import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.deployment import policies
from ccmatic.deployment.emulation.kinds import Trained
from ccmatic.worlds.runtime import Library
from support.machine import needs_compiler
from support.policies import FLOATS, pointer

onnx = pytest.importorskip("onnx", reason="no onnx: pip install -e '.[rl]'")

import ctypes  # noqa: E402

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

METADATA = {"observe": "aurora", "act": "aurora", "history": "2", "interval": "1"}


def like_pytorch(path, outputs=1, metadata=METADATA, last=(), seed=1):
    """Write a network as PyTorch's exporter does: normalised observations, Gemm with transB, Relu and Tanh."""
    rng = np.random.default_rng(seed)
    arrays = {
        "mean": rng.normal(size=6), "std": rng.uniform(0.5, 2, 6), "net.0.weight": rng.normal(size=(8, 6)),
        "net.0.bias": rng.normal(size=8), "net.2.weight": rng.normal(size=(5, 8)), "net.2.bias": rng.normal(size=5),
        "out.weight": rng.normal(size=(5, outputs)), "out.bias": rng.normal(size=outputs),
    }  # fmt: skip
    nodes = [
        helper.make_node("Sub", ["obs", "mean"], ["/Sub_output_0"]),
        helper.make_node("Div", ["/Sub_output_0", "std"], ["/Div_output_0"]),
        helper.make_node("Gemm", ["/Div_output_0", "net.0.weight", "net.0.bias"], ["/net/0"], transB=1),
        helper.make_node("Relu", ["/net/0"], ["/net/1"]),
        helper.make_node("Gemm", ["/net/1", "net.2.weight", "net.2.bias"], ["/net/2"], transB=1),
        helper.make_node("Tanh", ["/net/2"], ["/net/3"]),
        helper.make_node("MatMul", ["/net/3", "out.weight"], ["/out/MatMul"]),
        helper.make_node("Add", ["/out/MatMul", "out.bias"], ["sum" if last else "action"]),
        *(helper.make_node(kind, ["sum"], ["action"]) for kind in last),
    ]
    ends = [("obs", 6), ("action", outputs)]
    taken, given = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", n]) for name, n in ends)
    tensors = [numpy_helper.from_array(np.float32(array), name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "main_graph", [taken], [given], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, metadata)
    onnx.save(model, path)
    return ReferenceEvaluator(model)


def like_scikit(path, function, seed=1):
    """Write a network as skl2onnx does for a pipeline of a StandardScaler and an MLPRegressor."""
    rng = np.random.default_rng(seed)
    arrays = {
        "coefficient": rng.normal(size=(6, 8)), "intercepts": rng.normal(size=(1, 8)),
        "coefficient1": rng.normal(size=(8, 1)), "intercepts1": rng.normal(size=(1, 1)),
    }  # fmt: skip
    nodes = [
        helper.make_node("Scaler", ["X"], ["scaled"], domain="ai.onnx.ml",
                         offset=rng.normal(size=6).tolist(), scale=rng.uniform(0.5, 2, 6).tolist()),
        helper.make_node("Cast", ["scaled"], ["cast"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["cast", "coefficient"], ["mul"]),
        helper.make_node("Add", ["mul", "intercepts"], ["add"]),
        helper.make_node(function, ["add"], ["next"]),
        helper.make_node("MatMul", ["next", "coefficient1"], ["mul1"]),
        helper.make_node("Add", ["mul1", "intercepts1"], ["add1"]),
        helper.make_node("Reshape", ["add1", "shape"], ["variable"]),
    ]  # fmt: skip
    taken, given = (helper.make_tensor_value_info(*end) for end in (
        ("X", TensorProto.FLOAT, [None, 6]), ("variable", TensorProto.FLOAT, [None, 1])))  # fmt: skip
    tensors = [numpy_helper.from_array(np.float32(array), name) for name, array in arrays.items()]
    tensors.append(numpy_helper.from_array(np.array([-1, 1]), "shape"))
    versions = [helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", 17)]
    graph = helper.make_graph(nodes, "scikit", [taken], [given], tensors)
    model = helper.make_model(graph, opset_imports=versions, ir_version=8)
    helper.set_model_props(model, METADATA)
    onnx.save(model, path)
    return ReferenceEvaluator(model)


@needs_compiler
@pytest.mark.parametrize("function", ["Relu", "Tanh", "Sigmoid"])
def test_a_pipeline_of_scikit_learn_gives_its_numbers_in_c_and_again_in_onnx(tmp_path, function):
    theirs, seen = like_scikit(tmp_path / "x.onnx", function), observations(100)
    [expected] = theirs.run(None, {"X": seen})
    assert np.ptp(expected) > 1
    policy = policies.load(tmp_path / "x.onnx")
    network = Library(policies.exported(policy))["network"]
    network.restype, network.argtypes = ctypes.c_float, [FLOATS]
    np.testing.assert_allclose([network(pointer(row)) for row in seen], expected[:, 0], rtol=1e-4, atol=1e-5)
    written = policies.write_onnx(policy, tmp_path / "again.onnx")
    [ours] = ReferenceEvaluator(onnx.load(written)).run(None, {"observation": seen})
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5)


def observations(count):
    return np.float32(np.random.default_rng(2).normal(size=(count, 6)) * 3)


@needs_compiler
def test_a_network_of_another_framework_gives_its_numbers_in_every_world(tmp_path):
    pytest.importorskip("jax", reason="no jax: pip install -e '.[rl]'")
    theirs = like_pytorch(tmp_path / "x.onnx")
    policy = policies.load(tmp_path / "x.onnx")
    assert policy.activations == ("relu", "tanh", "none") and len(policy.layers) == 3
    seen = observations(200)
    [expected] = theirs.run(None, {"obs": seen})
    assert np.ptp(expected) > 1
    arrays = policies.outputs(policy.layers, seen, policy.activations)
    np.testing.assert_allclose(arrays, expected, rtol=1e-4, atol=1e-5)
    network = Library(policies.exported(policy))["network"]
    network.restype, network.argtypes = ctypes.c_float, [FLOATS]
    np.testing.assert_allclose([network(pointer(row)) for row in seen], expected[:, 0], rtol=1e-4, atol=1e-5)
    written = policies.write_onnx(policy, tmp_path / "again.onnx")
    [ours] = ReferenceEvaluator(onnx.load(written)).run(None, {"observation": seen})
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5)
    again = policies.load(written)
    np.testing.assert_allclose(policies.outputs(again.layers, seen, again.activations), arrays, rtol=1e-6)


@needs_compiler
def test_choices_take_the_action_with_the_highest_score(tmp_path):
    choices = [-2.0, 0.0, 5.0]
    theirs = like_pytorch(tmp_path / "x.onnx", outputs=3, metadata={**METADATA, "choices": json.dumps(choices)})
    policy = policies.load(tmp_path / "x.onnx")
    [scores] = theirs.run(None, {"obs": observations(200)})
    expected = np.array(choices)[scores.argmax(1)]
    assert {*expected} == {*choices}
    network = Library(policies.exported(policy))["network"]
    network.restype, network.argtypes = ctypes.c_float, [FLOATS]
    assert [network(pointer(row)) for row in observations(200)] == expected.tolist()
    again = policies.load(policies.write_onnx(policy, tmp_path / "again.onnx"))
    assert again.choices == tuple(choices)


@pytest.mark.parametrize("options, message", [
    ({"metadata": {}}, "the model has no metadata 'observe'; expected metadata_props with observe, act, history"),
    ({"metadata": {**METADATA, "history": "3"}}, "layer 1 takes 6 numbers, and 3 aurora vectors have 9 numbers"),
    ({"metadata": {**METADATA, "history": "x"}}, "the metadata 'history' is 'x'; expected a whole number"),
    ({"metadata": {**METADATA, "observe": "arora"}}, "unknown observe 'arora'; did you mean 'aurora'?"),
    ({"metadata": {**METADATA, "choices": "[1"}}, "the metadata 'choices' is '.*expected a list of numbers"),
    ({"metadata": {**METADATA, "choices": "[]"}}, "the metadata 'choices' is '.*expected a list of numbers"),
    ({"metadata": {**METADATA, "choices": "[NaN, 1]"}}, "choices is .*expected 2 to 1024 ascending numbers"),
    ({"metadata": {**METADATA, "choices": "[0, 1]"}}, "the last layer gives 1; expected 2 numbers, one for"),
    ({"outputs": 2}, "the last layer gives 2; expected one number"),
    ({"last": ["LSTM"]}, r"node 9 \(LSTM\) is not supported; expected .*GRU.*Sigmoid"),
    ({"last": ["GRU"]}, r"node 9 \(GRU\): other inputs than it takes"),
    ({"last": ["Softplus"]}, r"node 9 \(Softplus\) is not supported; expected .*Relu"),
    ({"last": ["Abs"]}, "the network of a policy has 'abs'; expected Relu or Tanh"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_with_the_reason(tmp_path, options, message):
    like_pytorch(tmp_path / "x.onnx", **options)
    with pytest.raises(InputError, match=message):
        policies.load(tmp_path / "x.onnx")


def test_metadata_tell_a_flow_of_a_policy_from_a_flow_of_a_controller(tmp_path):
    like_pytorch(tmp_path / "policy.onnx")
    assert isinstance(Trained(tmp_path / "policy.onnx").export, policies.PolicyExport)
    like_pytorch(tmp_path / "bare.onnx", metadata={})
    with pytest.raises(InputError, match="the input 'obs' has the shape .*or the metadata of a policy"):
        Trained(tmp_path / "bare.onnx")


def test_a_file_that_is_no_onnx_is_refused(tmp_path):
    (tmp_path / "x.onnx").write_bytes(b"no model")
    with pytest.raises(InputError, match="no ONNX file"):
        policies.load(tmp_path / "x.onnx")


def test_a_named_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "x.onnx")
    with pytest.raises(InputError, match="a named pipe; expected a regular file"):
        policies.load(tmp_path / "x.onnx")


def test_an_unknown_activation_is_refused(tmp_path):
    like_pytorch(tmp_path / "x.onnx")
    file = policies.load(tmp_path / "x.onnx").file
    layers = [msgspec.structs.replace(layer, activation="sine") for layer in file.layers]
    policies.save(msgspec.structs.replace(file, layers=layers), tmp_path / "x.json")
    with pytest.raises(InputError, match="layer 1 has the activation 'sine'; expected tanh, relu, none"):
        policies.load(tmp_path / "x.json")
