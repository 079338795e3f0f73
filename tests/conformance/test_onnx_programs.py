"""Networks in ONNX files are programs: their decisions agree with ONNX's own reference."""

import random
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import ccmatic as cm
from ccmatic import controllers
from ccmatic.answers.verification import Judge
from ccmatic.base import InputError

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")

from support import networks  # noqa: E402  it imports onnx

EIGHTH = Fraction(1, 8)
GEMM = ("Gemm", ["x", "W", "b"], "rate", {})


def drawn(seed, *shape):
    """Multiples of 1/8, of this shape."""
    dice = random.Random(seed)
    return np.array([dice.randint(-16, 16) / 8 for _ in range(int(np.prod(shape)))]).reshape(shape)


def every_operator(path):
    """A network with each operator that is read."""
    nodes = [
        ("Identity", ["C_L, C_U"], "rates", {}),
        ("Concat", ["rates", "q_U / R_m"], "x", {"axis": -1}),
        ("Gemm", ["x", "A", "a"], "s1", {"transB": 1, "alpha": 0.5, "beta": 2.0}),
        ("Relu", ["s1"], "h1", {}),
        ("MatMul", ["h1", "B"], "m2", {}),
        ("Constant", [], "b", {"value": onnx.numpy_helper.from_array(np.float32(drawn(5, 3)))}),
        ("Add", ["b", "m2"], "s2", {}),
        ("Clip", ["s2", "least", "most"], "h2", {}),
        ("Clip", ["s2", "", "most"], "h3", {}),
        ("Add", ["h2", "h3"], "h4", {}),
        ("Flatten", ["h4"], "h5", {}),
        ("Gemm", ["h5", "D"], "rate", {}),
    ]
    arrays = {"A": drawn(1, 4, 3), "a": drawn(2, 4), "B": drawn(3, 4, 3), "D": drawn(4, 3, 1), "least": -0.5, "most": 9}
    return networks.write(path, {"C_L, C_U": 2, "q_U / R_m": 1}, nodes, arrays)


def test_each_operator_means_what_onnx_says(tmp_path):
    file = every_operator(tmp_path / "all.onnx")
    controller, judge = cm.load_controller(file), reference.ReferenceEvaluator(str(file))
    assert controller.parameters == ("C_L", "C_U", "MSS", "R_m", "q_U")
    dice, rates = random.Random(1), set()
    for _ in range(100):
        C_L, C_U, q_U = (dice.randint(0, 64) * EIGHTH for _ in range(3))
        packet, R_m = dice.randint(1, 9), dice.randint(1, 3)
        inputs = {"C_L, C_U": [[C_L, C_U]], "q_U / R_m": [[q_U / R_m]]}
        [[[expected]]] = judge.run(None, {n: np.float32(x) for n, x in inputs.items()})
        # Rates are those that the network means, packets per R_m, times MSS/R_m.
        times = Fraction(packet, R_m)
        values = {"C_L": C_L * times, "C_U": C_U * times, "q_U": q_U * times, "R_m": R_m, "MSS": packet}
        rates.add(controller.rate(values))
        assert controller.rate(values) == Fraction(float(expected)) * times  # multiples of 1/8 are exact in float32
    assert len(rates) > 50


def test_weights_are_the_exact_rationals_that_float32_says(tmp_path):
    file = networks.write(tmp_path / "third.onnx", {"C_L": 1}, [("MatMul", ["C_L", "W"], "rate", {})], {"W": [[1 / 3]]})
    rate = cm.load_controller(file).rate({"C_L": 1, "MSS": 1, "R_m": 1})
    assert rate == Fraction(float(np.float32(1 / 3))) != Fraction(1, 3)


def test_a_window_is_decided_from_observations(tmp_path):
    nodes = [("Gemm", ["C_L, (acked - acked[R_m]) / R_m", "W", "b"], "window", {})]
    arrays = {"W": [[1.0], [0.5]], "b": [2.0]}
    file = networks.write(tmp_path / "sends.onnx", {"C_L, (acked - acked[R_m]) / R_m": 2}, nodes, arrays, "window")
    query = cm.Query(cm.Network("ccac_windows", buffer="1", horizon=5), "avoids", what="c_f[0][T-1] > 3 * C * R")
    assert cm.verify(file, query).verdict == "holds"
    tighter = cm.Query(query.network, "avoids", what="c_f[0][T-1] > 3/2 * C * R")
    judgement = cm.verify(file, tighter)
    assert judgement.verdict == "violated" and not judgement.report.faults


@pytest.mark.parametrize(
    ("inputs", "nodes", "arrays", "output", "message"),
    [
        ({"C_L": 1}, [("Softplus", ["C_L"], "rate", {})], {}, "rate", r"node 1 \(Softplus\) is not supported"),
        ({"C_L": 1}, [("Selu", ["C_L"], "rate", {})], {}, "rate", r"node 1 \(Selu\) is not supported; expected Gemm"),
        ({"C_L": 1}, [("Relu", ["C_U"], "rate", {})], {}, "rate", "reads 'C_U', which is not defined before it"),
        ({"C_L": 1}, [("Relu", ["C_L"], "C_L", {})], {}, "rate", "makes 'C_L' again"),
        ({"C_L": 1}, [("Relu", ["C_L"], "speed", {})], {}, "speed", "expected one, named rate or window"),
        ({"C_L, C_U": 2}, [("Relu", ["C_L, C_U"], "rate", {})], {}, "rate", "the output has 2 numbers"),
        ({"C_L, C_U": 3}, [("Relu", ["C_L, C_U"], "rate", {})], {}, "rate", "expected two dimensions, the second 2"),
        ({"C_L": 1}, [], {}, "rate", "an output is no value of the graph"),
        ({"C_L)\n": 1}, [("Relu", ["C_L)\n"], "rate", {})], {}, "rate", "expected terms of rates"),
        ({"x": 1}, [GEMM], {"W": [[1, 2]], "b": [0]}, "rate", "for 1 number|the output has 2"),
        ({"x": 1}, [GEMM], {"W": [[1], [2]], "b": [0]}, "rate", r"weights of the shape \(2, 1\) for 1 number"),
        ({"x": 1}, [GEMM], {"W": [[1]], "b": [0, 1]}, "rate", r"a bias of the shape \(2,\)"),
        ({"x": 1}, [GEMM], {"W": [[np.nan]], "b": [0]}, "rate", "not finite"),
        ({"C_L": 1}, [("Div", ["C_L", "z"], "rate", {})], {"z": np.array([3])}, "rate", "with whole numbers"),
        ({"C_L": 1}, [("MatMul", ["C_L", "W"], "rate", {})], {"W": np.array([[3]])}, "rate", "with whole numbers"),
        ({"x": 1}, [("Gemm", ["x"], "rate", {})], {}, "rate", "other inputs than it takes"),
        ({"x": 1}, [("Relu", ["x"], "rate", {})], {}, "rate", "unknown parameter `x`"),
        ({"qdel_L": 1}, [("Relu", ["qdel_L"], "rate", {})], {}, "rate", r"returns .* \(time\), expected a rate"),
        ({"q_U, C_L": 2}, [("MatMul", ["q_U, C_L", "W"], "rate", {})], {"W": [[1], [1]]}, "rate", "terms of one unit"),
        ({"C_L * C_U": 1}, [("Relu", ["C_L * C_U"], "rate", {})], {}, "rate", "multiplies `C_L` by `C_U`"),
    ],
)  # fmt: skip
def test_what_is_no_network_of_rates_is_refused(tmp_path, inputs, nodes, arrays, output, message):
    file = networks.write(tmp_path / "bad.onnx", inputs, nodes, arrays, output)
    with pytest.raises(InputError, match=message) as refused:
        cm.load_controller(file)
    assert refused.value.file == str(file)


def test_a_number_beyond_32_bits_is_refused(tmp_path):
    nodes = [("MatMul", ["C_L", "W"], "rate", {})]
    file = networks.write(tmp_path / "huge.onnx", {"C_L": 1}, nodes, {"W": [[1e308]]}, dtype=np.float64)
    with pytest.raises(InputError, match="'W' has a number that is not finite in 32 bits"):
        cm.load_controller(file)


def test_whole_numbers_are_refused_as_inputs(tmp_path):
    file = networks.write(tmp_path / "whole.onnx", {"C_L": 1}, [("Relu", ["C_L"], "rate", {})])
    model = onnx.load(str(file))
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    file.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="the input 'C_L' is neither float32 nor float64"):
        cm.load_controller(file)


def test_an_attribute_of_another_type_is_refused(tmp_path):
    """Read as the type that it should have, it would be 0."""
    for attribute, value in (("alpha", 2), ("transB", 1.0)):
        nodes = [("Gemm", ["C_L", "W"], "rate", {attribute: value})]
        file = networks.write(tmp_path / "typed.onnx", {"C_L": 1}, nodes, {"W": [[1]]})
        with pytest.raises(InputError, match="invalid ONNX"):
            cm.load_controller(file)


def test_an_operator_of_the_files_own_is_refused(tmp_path):
    file = networks.write(tmp_path / "own.onnx", {"C_L": 1}, [("Relu", ["C_L"], "rate", {})])
    model = onnx.load(str(file))
    body = [onnx.helper.make_node("Neg", ["x"], ["y"])]
    model.functions.append(onnx.helper.make_function("", "Relu", ["x"], ["y"], body, model.opset_import))
    file.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="defines the operator 'Relu'|defines the operator Relu"):
        cm.load_controller(file)


def test_bytes_that_are_no_onnx_are_refused(tmp_path):
    good = every_operator(tmp_path / "good.onnx").read_bytes()
    dice, file = random.Random(2), tmp_path / "bad.onnx"
    for _ in range(200):
        broken = bytearray(good[: dice.randrange(1, len(good))])
        for _ in range(dice.randrange(4)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        file.write_bytes(broken)
        try:
            cm.load_controller(file)
        except InputError as refused:
            assert refused.file == str(file)
    file.write_bytes(bytes(2**22 + 1))
    with pytest.raises(InputError, match="more than 4 MiB"):
        cm.load_controller(file)


def test_numbers_in_another_file_are_refused(tmp_path):
    file = networks.write(tmp_path / "far.onnx", {"C_L": 1}, [("MatMul", ["C_L", "W"], "rate", {})], {"W": [[1.0]]})
    model = onnx.load(str(file))
    model.graph.initializer[0].ClearField("raw_data")
    model.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL
    entry = model.graph.initializer[0].external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"
    file.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="are in another file"):
        cm.load_controller(file)


def test_a_script_grows_with_the_layers_and_not_with_the_paths_through_them(tmp_path):
    query = cm.Query(cm.Network("cbr_delay", buffer="infinite", horizon=3))
    lengths = []
    for depth in (2, 4):
        sizes = [1, *[8] * depth, 1]
        layers = [
            (drawn(seed, after, before), drawn(seed, after)) for seed, (before, after) in enumerate(pairwise(sizes))
        ]
        file = networks.layered(tmp_path / "deep.onnx", ("C_L",), layers)
        lengths.append(len(Judge(query).script(query.controller(file))))
    assert lengths[1] < 2.5 * lengths[0]


def test_without_the_package_it_says_what_to_install(tmp_path, monkeypatch):
    file = every_operator(tmp_path / "all.onnx")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"onnx is not installed; pip install 'ccmatic\[rl\]'"):
        cm.load_controller(file)


def test_a_trained_policy_is_refused_with_the_reason(tmp_path):
    from support.policies import policy

    policy(tmp_path / "trained.json")
    with pytest.raises(InputError, match="layers end in tanh, and which observes custard's signals: neither is linear"):
        controllers.given(tmp_path / "trained.json")
    policy(tmp_path / "kept.json", act="envelope:wide_qdel")
    with pytest.raises(InputError, match="expected the envelope that it stays in, wide_qdel"):
        controllers.given(tmp_path / "kept.json")
