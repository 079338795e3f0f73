"""Networks as programs: one text is read, encoded, run and compiled to C, in a size that grows with its weights."""

import ctypes
import random
from fractions import Fraction
from itertools import pairwise

import pytest

from ccmatic.controllers import parse
from ccmatic.language import nodes, value
from ccmatic.logic import real
from ccmatic.worlds.c import Decision
from ccmatic.worlds.runtime import compile_c, shipped
from support.machine import needs_compiler

NAMES = ("C_L", "C_U", "MSS")
HEAD = "#include <stdbool.h>\n#include <stdint.h>\n#define CCM_LARGEST (UINT64_C(1) << 40)\n"


def network(sizes, seed=1, bits=20):
    """The text of a network of these many units, with drawn weights, that computes in packets per R_m."""
    rng = random.Random(seed)
    lines, body = [], ["    unit = MSS / R_m", "    h0 = [C_L, C_U, unit, C_L - C_U]"]
    for layer, (before, after) in enumerate(pairwise(sizes), 1):
        rows = [[rng.randrange(-(2**bits), 2**bits) / 2**bits for _ in range(before)] for _ in range(after)]
        bias = [rng.randrange(-(2**bits), 2**bits) / 2**bits for _ in range(after)]
        lines += [f"W{layer} = {rows}", f"b{layer} = {bias}"]
        zero = f"[0 for c in b{layer}]"
        body.append(f"    y{layer} = [y + c * unit for y, c in zip(affine(W{layer}, h{layer - 1}, {zero}), b{layer})]")
        body.append(f"    h{layer} = [max(0, y) for y in y{layer}]")
    return "\n".join([*lines, "", "def rate(C_L, C_U, MSS, R_m):", *body, f"    return y{len(sizes) - 1}[0]", ""])


def points(count):
    rng = random.Random(2)
    return [{"C_L": rng.randrange(10**9), "C_U": rng.randrange(10**9), "MSS": 1500} for _ in range(count)]


def sizes(*hidden):
    return (4, *hidden, 1)


@pytest.mark.parametrize("hidden", [(3,), (16, 16), pytest.param((64, 64, 64), marks=pytest.mark.slow)])
def test_a_network_is_read_run_and_encoded(hidden):
    text = network(sizes(*hidden))
    controller = parse(text)
    weights = sum(a * b for a, b in pairwise(sizes(*hidden)))
    assert sum(1 for _ in nodes(controller.body)) < 20 * sum(sizes(*hidden)) + 50
    assert len(controller.pretty()) < 100 * weights + 2000
    for point in points(5):
        known = {**point, "R_m": 1}
        rate = controller.rate(known)
        assert value(controller.body, known) == rate
        encoded = controller.encode(known, real("rate"), 1)
        assert str(max(Fraction(1), rate)) in str(encoded.node)


@needs_compiler
@pytest.mark.parametrize("hidden", [(3,), (16, 16), pytest.param((64, 64, 64), marks=pytest.mark.slow)])
def test_c_decides_as_the_network_does(hidden, tmp_path):
    controller = parse(network(sizes(*hidden)))
    decision = Decision(controller, 1)
    assert decision.error.endswith("of the sum of the sizes of its terms")
    arguments = ", ".join(f"int64_t {name}" for name in NAMES)
    code = [HEAD, *map(shipped, ("arithmetic.h", "decision.h", "law.h"))]
    code += [f"uint64_t decide({arguments})", "{", *decision.lines, "}"]
    (tmp_path / "decide.c").write_text("\n".join(code))
    compile_c(["-std=c99", "-shared", "-fPIC", "-o", str(tmp_path / "decide.so"), str(tmp_path / "decide.c")])
    decide = ctypes.CDLL(str(tmp_path / "decide.so")).decide
    decide.restype, decide.argtypes = ctypes.c_uint64, [ctypes.c_int64] * len(NAMES)
    for point in points(200 if hidden != (64, 64, 64) else 20):
        rate = max(0, value(controller.body, {**point, "R_m": 1}))
        assert abs(decide(*point.values()) - rate) <= 1 + Fraction(sum(point.values()) * max(hidden), 2**18)


def test_what_is_read_often_is_a_variable():
    controller = parse("def rate(C_L, C_U):\n    x = 2 * C_L - C_U\n    return max(x, x / 3 + C_U, C_L)\n")
    lines = [line.strip() for line in Decision(controller, 1).lines]
    assert lines[0] == "const int64_t x1_x = 2 * C_L - C_U;"
    assert lines[1] == "return ccm_divided(ccm_max(3 * x1_x, ccm_max(x1_x + 3 * C_U, 3 * C_L)), 3);"
