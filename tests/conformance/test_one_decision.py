"""Properties of one decision: networks of others are read as ONNX means them, and decided exactly."""

import json
import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import z3

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.language import neural as networks
from ccmatic.language.neural.deciding import decide_function
from ccmatic.language.neural.graph import ONE, Form, Piecewise, combined
from ccmatic.language.neural.relaxation import Range, Relaxation
from support.cli import run

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")
pytest.importorskip("highspy")

HELPER, FLOAT = onnx.helper, onnx.TensorProto.FLOAT


def written(path, shape, nodes, arrays, output="out", version=13):
    """Write a network with the input `in` of this shape. The tensors have the shapes of the arrays."""
    tensors = [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]
    ends = [HELPER.make_tensor_value_info(name, FLOAT, size) for name, size in (("in", shape), (output, ["n", "k"]))]
    made = [HELPER.make_node(kind, reads, [to], **attributes) for kind, reads, to, attributes in nodes]
    graph = HELPER.make_graph(made, "of others", ends[:1], ends[1:], tensors)
    model = HELPER.make_model(graph, opset_imports=[HELPER.make_opsetid("", version)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def drawn(dice, *shape):
    return (dice.integers(-16, 17, shape) / 8).astype(np.float32)


def of_operators(path):
    """A network in the forms of several frameworks: normalised, flattened, with a column and a skip connection."""
    dice = np.random.default_rng(1)
    nodes = [
        ("Sub", ["in", "mean"], "s1", {}),
        ("Div", ["s1", "spread"], "s2", {}),
        ("Flatten", ["s2"], "s3", {"axis": 1}),
        ("MatMul", ["s3", "A"], "s4", {}),
        ("Add", ["s4", "a"], "s5", {}),
        ("Relu", ["s5"], "h1", {}),
        ("Reshape", ["h1", "column"], "h2", {}),
        ("MatMul", ["B", "h2"], "s6", {}),
        ("LeakyRelu", ["s6"], "h3", {"alpha": 0.25}),
        ("Reshape", ["h3", "row"], "h4", {}),
        ("Mul", ["h4", "half"], "h5", {}),
        ("Sub", ["h1", "h5"], "h6", {}),
        ("Abs", ["h6"], "h7", {}),
        ("Sub", ["one", "h7"], "h8", {}),
        ("Max", ["h8", "h5", "least"], "h9", {}),
        ("Min", ["h9", "h1"], "h10", {}),
        ("Neg", ["h10"], "h11", {}),
        ("Clip", ["h11", "low", "high"], "h12", {}),
        ("Gemm", ["h12", "D", "d"], "out", {"transB": 1}),
    ]
    arrays = {
        "mean": drawn(dice, 1, 1, 1, 3),
        "spread": np.float32([1, 2, 4]),
        "A": drawn(dice, 3, 4),
        "a": drawn(dice, 4),
        "column": np.int64([4, 1]),
        "B": drawn(dice, 4, 4),
        "row": np.int64([1, -1]),
        "half": np.float32(0.5),
        "one": np.float32([1]),
        "least": np.float32([[-0.25]]),
        "low": np.float32(-3),
        "high": np.float32(2),
        "D": drawn(dice, 2, 4),
        "d": drawn(dice, 2),
    }
    return written(path, [1, 1, 1, 3], nodes, arrays)


def test_each_operator_means_what_onnx_says(tmp_path):
    file = of_operators(tmp_path / "all.onnx")
    network, judge = networks.piecewise(networks.read(file)), reference.ReferenceEvaluator(str(file))
    dice, outputs = random.Random(1), set()
    for _ in range(200):
        inputs = [Fraction(dice.randint(-32, 32), 8) for _ in range(3)]
        [[expected]] = judge.run(None, {"in": np.float32(inputs).reshape(1, 1, 1, 3)})
        values = network.values(inputs)
        exact = [form.at(values) for form in network.outputs]
        assert exact == [Fraction(float(each)) for each in expected]  # multiples of 2^-12, so exact in float32
        outputs.add(tuple(exact))
    assert len(outputs) > 100


ZEROS = np.zeros((6, 6), np.float32)
HALVES = {"W": np.float32(2), "V": np.float32(1)}


@pytest.mark.parametrize(
    ("shape", "nodes", "arrays", "message"),
    [
        ([1, 2], [("Softplus", ["in"], "out", {})], {}, r"\(Softplus\) is not supported; expected Gemm, MatMul"),
        ([1, 2], [("Tanh", ["in"], "out", {})], {}, "not piecewise linear; expected a network of Relu"),
        ([1, 2], [("Mul", ["in", "in"], "out", {})], {}, "multiplies two values that depend on the inputs"),
        ([1, 2], [("Div", ["in", "W"], "out", {})], {"W": np.float32(0)}, "divides by 0"),
        ([2, 1], [("Add", ["in", "W"], "out", {})], {"W": ZEROS[0, :2]}, r"a bias of the shape \(2,\)"),
        ([1, 2], [("Add", ["in", "W"], "out", {})], {"W": ZEROS[:2, :1]}, r"a bias of the shape \(2, 1\)"),
        ([2, 2], [("Flatten", ["in"], "out", {})], {}, "makes several rows"),
        ([2, 3], [("MatMul", ["in", "W"], "out", {})], {"W": ZEROS[:3, :1]}, r"weights of the shape \(3, 1\)"),
        ([1, 2**20], [("Relu", ["in"], "out", {})], {}, "has 1048576 numbers; expected at most 4096"),
        ([1, 2], [("Relu", ["in"], "out", {})], {"W": np.float64([np.inf])}, "not finite"),
        ([1, 2], [("Clip", ["in", "W", "V"], "out", {})], HALVES, "the lower limit is above"),
        ([1, 2], [("LeakyRelu", ["in"], "out", {"alpha": 2.0})], {}, "alpha is above 1"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_refused(tmp_path, shape, nodes, arrays, message):
    file = written(tmp_path / "bad.onnx", shape, nodes, arrays)
    with pytest.raises(InputError, match=message) as refused:
        networks.piecewise(networks.read(file))
    assert refused.value.file == str(file)


def test_an_input_may_have_the_name_of_a_node(tmp_path):
    nodes = [("Relu", ["in"], "a", {}), ("Relu", ["a"], "b", {}), ("Sub", ["b", "in"], "out", {})]
    path = written(tmp_path / "named.onnx", [1, 1], nodes, {})
    for name in ("relu_2", "sub_3", "sub_3_negated"):
        model = onnx.load(path)
        model.graph.input[0].name = name
        for node in model.graph.node:
            node.input[:] = [name if each == "in" else each for each in node.input]
        onnx.save(model, tmp_path / "renamed.onnx")
        network = networks.piecewise(networks.read(tmp_path / "renamed.onnx"))
        for x in (Fraction(-3), Fraction(2)):
            values = network.values([x])
            assert [form.at(values) for form in network.outputs] == [max(0, x) - x]


def vnnlib(path, *lines, inputs=2, outputs=1):
    """Write a VNN-LIB file: declarations, then these lines."""
    declared = [f"(declare-const X_{n} Real)" for n in range(inputs)] + [
        f"(declare-const Y_{n} Real)" for n in range(outputs)
    ]
    path.write_text("\n".join(["; a property", *declared, *lines]))
    return path


def test_a_file_is_read_as_the_violation(tmp_path):
    file = vnnlib(
        tmp_path / "p.vnnlib",
        "(assert (or (and (>= X_0 -1.5) (<= X_0 1e-1)) (<= X_1 (- 3))))",
        "(assert (>= (+ Y_0 (* 2 X_1)) (- X_0 0.25 Y_1)))",
        outputs=2,
    )
    violation = networks.read_property(file)
    assert (violation.inputs, violation.outputs, len(violation.cases)) == (2, 2, 2)
    dice, answers = random.Random(4), []
    for _ in range(500):
        x0, x1, y0, y1 = values = [Fraction(dice.randint(-40, 40), 8) for _ in range(4)]
        expected = (Fraction(-3, 2) <= x0 <= Fraction(1, 10) or x1 <= -3) and y0 + 2 * x1 >= x0 - Fraction(1, 4) - y1
        assert networks.violates(violation, values) == expected
        answers.append(expected)
    assert 50 < sum(answers) < 450


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("(assert (<= X_0 1)", r"1 '\(' too many"),
        ("(assert (<= X_0 1)))", r"5: a '\)' too many"),
        ("(assert (<= X_7 1))", "5: 'X_7' is neither a number nor a declared variable"),
        ("(assert (<= (* X_0 X_1) 1))", r"'\(\* X_0 X_1\)' is not linear"),
        ("(assert (=> X_0 1))", r"'\(=> X_0 1\)' is no condition"),
        ("(assert (<= X_0 __import__))", "'__import__' is neither a number"),
        ("(declare-const X_5 Real)", "declares 'X_5'; expected the next of X_2 or Y_1"),
        ("(declare-const Z Real)", "declares 'Z'"),
        ("(get-model)", r"'\(get-model\)' is no command"),
        ("(assert " + "(and " * 60 + "(<= X_0 1)" + ")" * 61, "nested more than 50 levels"),
        ("".join("(assert (or (<= X_0 1) (<= X_1 1)))" for _ in range(30)), "16384 cases"),
        ("(assert (<= X_0 1e999999999))", "is neither a number"),
    ],
)
def test_a_file_that_is_no_property_is_refused(tmp_path, line, message):
    with pytest.raises(InputError, match=message) as refused:
        networks.read_property(vnnlib(tmp_path / "bad.vnnlib", line))
    assert refused.value.file


def random_network(seed, sizes):
    """A network of dense layers with ReLU between them; weights are multiples of 1/8."""
    dice, made = np.random.default_rng(seed), Piecewise(sizes[0])
    vector = [Form({place: ONE}) for place in range(sizes[0])]
    for number, (before, after) in enumerate(pairwise(sizes), 2):
        weights, bias = drawn(dice, after, before), drawn(dice, after)
        forms = [
            combined([(Fraction(float(w)), x) for w, x in zip(row, vector, strict=True)], Fraction(float(b)))
            for row, b in zip(weights, bias, strict=True)
        ]
        vector = forms if number == len(sizes) else [made.unit(form) for form in forms]
    made.outputs = vector
    return made


def largest(network, end):
    """The largest output for inputs from -end to end, by another solver."""
    context = z3.Context()
    optimise = z3.Optimize(ctx=context)
    values = [z3.Real(f"x{n}", context) for n in range(network.inputs)]
    for value in values:
        optimise.add(value >= -end, value <= end)

    def text(form):
        return z3.Sum([z3.RealVal(str(k), context) * values[n] for n, k in form.factors.items()]) + z3.RealVal(
            str(form.constant), context
        )

    for number, form in enumerate(network.units):
        unit = z3.Real(f"z{number}", context)
        optimise.add(unit == z3.If(text(form) > 0, text(form), 0))
        values.append(unit)
    goal = optimise.maximize(text(network.outputs[0]))
    assert optimise.check() == z3.sat
    return Fraction(str(optimise.upper(goal)))


def exceeds(inputs, end, threshold):
    """The violation that the output is at least a threshold."""
    box = [form for n in range(inputs) for form in (Form({n: ONE}, -end), Form({n: -ONE}, -end))]
    return networks.Violation(inputs, 1, ((*box, Form({inputs: -ONE}, threshold)),))


@pytest.mark.parametrize("seed", range(8))
def test_answers_are_exact_up_to_the_edge(seed):
    """The output reaches its largest value, and no larger one."""
    network, end = random_network(seed, (2, 5, 4, 1)), Fraction(1)
    top = largest(network, end)
    at = decide_function(network, exceeds(2, end, top), 60)
    assert at.verdict == "violated" and at.outputs == (top,) and max(map(abs, at.inputs)) <= 1
    assert decide_function(network, exceeds(2, end, top + Fraction(1, 10**9)), 60).verdict == "holds"
    below = decide_function(network, exceeds(2, end, top - Fraction(1, 10)), 60)
    assert below.verdict == "violated" and below.outputs[0] >= top - Fraction(1, 10)


def test_a_wrong_hint_never_gives_a_wrong_bound():
    """Whatever multipliers a solver of floats returns, the bound lies below the values of the network."""
    network = random_network(3, (2, 4, 3, 1))
    relaxation = Relaxation(network, [Range(Fraction(-1), Fraction(1))] * 2)
    for form in network.units:
        reach = sum(
            (abs(k) * (relaxation.box[n].high - min(0, relaxation.box[n].low)) for n, k in form.factors.items()), 0
        )
        relaxation.add_unit(Range(form.constant - reach, form.constant + reach))
    dice, objective, bounds = np.random.default_rng(5), network.outputs[0], set()
    low = min(
        objective.at(network.values([Fraction(x, 8), Fraction(y, 8)])) for x in range(-8, 9) for y in range(-8, 9)
    )
    rows = len(relaxation.above) + len(relaxation.below)
    for scale in (0.01, 0.1, 1, 100):
        for _ in range(50):
            bound = relaxation.lower_bound(objective, scale * dice.normal(size=rows))
            assert bound <= low
            bounds.add(bound)
    best = relaxation.smallest(objective).bound
    assert max(bounds) < best <= low


def test_the_time_limit_gives_unknown():
    network = random_network(1, (9, 64, 64, 1))
    top = exceeds(9, Fraction(1), 10**6)
    assert decide_function(network, top, 60).verdict == "holds"
    assert decide_function(network, exceeds(9, Fraction(1), Fraction(10**3)), 0.001).verdict == "unknown"


def test_the_command_has_an_exit_code_for_each_answer(tmp_path):
    network = of_operators(tmp_path / "all.onnx")
    box = [f"(assert (and (>= X_{n} -1) (<= X_{n} 1)))" for n in range(3)]
    safe = vnnlib(tmp_path / "safe.vnnlib", *box, "(assert (>= Y_0 1000))", inputs=3, outputs=2)
    code, told, _ = run("verify", network, "--property", safe)
    assert code == 0 and "holds" in told
    broken = vnnlib(tmp_path / "broken.vnnlib", *box, "(assert (<= Y_0 1000))", inputs=3, outputs=2)
    code, told, _ = run("verify", network, "--property", broken)
    assert code == 1 and "violated" in told and "X_2 = " in told and "Y_1 = " in told
    code, told, _ = run("verify", network, "--property", broken, "--json")
    line = json.loads(told)
    assert line["verdict"] == "violated" and len(line["inputs"]) == 3 and len(line["outputs"]) == 2
    judge = reference.ReferenceEvaluator(str(network))
    [[expected]] = judge.run(None, {"in": np.float32([float(Fraction(x)) for x in line["inputs"]]).reshape(1, 1, 1, 3)})
    assert [float(Fraction(y)) for y in line["outputs"]] == pytest.approx(list(map(float, expected)), abs=1e-4)
    code, _, told = run("verify", network, "--property", safe, "--model", "ccac")
    assert code == 2 and "--model does not fit here" in told
    open_ended = vnnlib(tmp_path / "open.vnnlib", *box[1:], "(assert (<= Y_0 1000))", inputs=3, outputs=2)
    code, _, told = run("verify", network, "--property", open_ended)
    assert code == 2 and "X_0 has no lower bound" in told
    other = vnnlib(tmp_path / "other.vnnlib", *box[:2], "(assert (<= Y_0 1000))")
    code, _, told = run("verify", network, "--property", other)
    assert code == 2 and "declares 2 inputs and 1 output; expected as many as the network has, 3 and 2" in told


def test_in_python_it_is_one_call(tmp_path):
    network = of_operators(tmp_path / "all.onnx")
    box = [f"(assert (and (>= X_{n} -1) (<= X_{n} 1)))" for n in range(3)]
    safe = vnnlib(tmp_path / "safe.vnnlib", *box, "(assert (>= Y_0 1000))", inputs=3, outputs=2)
    assert cm.decide(network, safe, timeout=60).verdict == "holds"
