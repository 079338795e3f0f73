"""Assigned terms are stored once, and lists are expanded; the meaning is that of Python."""

import time
from fractions import Fraction

import pytest

from ccmatic.base import InputError
from ccmatic.controllers import parse
from ccmatic.language import Affine, Binary, Function, Item, Name, Number, Vector, Walker, nodes, value
from ccmatic.logic import equal, real

RATE = "def rate(C_L, C_U, qdel_L, R_m, D, MSS):\n"
VALUES = {"C_L": 3, "C_U": 5, "qdel_L": 2, "R_m": 1, "D": 1, "MSS": 1}


def of(*lines, before=""):
    return parse(before + RATE + "".join(f"    {line}\n" for line in lines), file="rows.py")


ROWS = [
    ("", ["xs = [C_L, C_U]", "return xs[1]"], 5),
    ("", ["xs = [C_L, 2 * C_U]", "return sum(xs)"], 13),
    ("", ["return sum(k * C_L for k in range(1, 5))"], 30),
    ("", ["return max(C_L / (k * R_m + D) * R_m for k in range(3))"], 3),
    ("", ["return min([C_L, C_U])"], 3),
    ("", ["xs = [k * C_L for k in range(4)]", "return max(xs)"], 9),
    ("", ["return max(x for x in [C_L, C_U])"], 5),
    ("", ["return max([C_L])"], 3),
    ("", ["return C_L if all(C_L > k * C_U for k in range(2)) else C_U"], 5),
    ("", ["return C_L if any(C_L > k * C_U for k in range(2)) else C_U"], 3),
    ("W = [[1, 2], [3, 4]]\n", ["return sum(W[i][j] * C_L for i in range(2) for j in range(2))"], 30),
    ("W = [[1, 2], [3, 4]]\n", ["return sum(a * x for a, x in zip(W[1], [C_L, C_U]))"], 29),
    ("W = [0.5, 1]\n", ["return sum([w * C_L for w in W]) / len(W)"], Fraction(9, 4)),
    ("", ["xs = [[C_L, C_U], [C_U, C_L]]", "return sum(min(row) for row in xs)"], 6),
    ("W = [[1, -2], [3, 4]]\n", ["h = [max(0, x) for x in affine(W, [C_L, C_U], [0, 0])]",
                                 "return h[0] + h[1]"], 29),
    ("", ["x = C_L", *["x += x"] * 60, "return x"], 3 * 2**60),
]  # fmt: skip


@pytest.mark.parametrize("before, lines, expected", ROWS)
def test_the_tree_is_what_python_does(before, lines, expected):
    controller = of(*lines, before=before)
    assert controller.rate(VALUES) == value(controller.body, VALUES) == expected
    formula = controller.encode({**VALUES, "C_L": real("C_L") * 0 + 3}, real("rate"), 1)
    assert str(formula.node) == str(equal(real("rate"), expected).node)


@pytest.mark.parametrize("lines, line, fragment", [
    (["return [C_L, C_U]"], 2, "found list `[C_L, C_U]`, expected a term"),
    (["xs = [C_L]", "return xs"], 3, "found list `xs`, expected a term"),
    (["xs = [C_L]", "return xs[1]"], 3, "where the index is 1; expected 0 to 0"),
    (["xs = [C_L]", "return xs[-1]"], 3, "where the index is -1"),
    (["xs = [C_L]", "return xs[D]"], 3, "found `D`, expected a whole number"),
    (["xs = [C_L]", "return xs[1 / 2]"], 3, "expected a whole number"),
    (["return C_L[0]"], 2, "found `C_L[0]`, expected a term"),
    (["return sum(C_L)"], 2, "expected the sum of a list"),
    (["return sum([C_L, qdel_L])"], 2, "adds `C_L` (rate) to `qdel_L` (time)"),
    (["return sum(C_L for k in range(2) if k > 0)"], 2, "without `if`"),
    (["return sum(C_L for C_U in range(2))"], 2, "assigns `C_U`, which has a meaning already"),
    (["return max(C_L for k in range(0))"], 2, "of at least two plain terms, or of a list"),
    (["return max(C_L > k * C_U for k in range(2))"], 2, "found condition in"),
    (["return C_L if all([C_L, C_U]) else 0"], 2, "expected all of comparisons"),
    (["return k * C_L"], 2, "unknown name `k`"),
    (["return sum(C_L for k in range(1000000000))"], 2, "more than 100000 names"),
    (["return sum(C_L for k, j in range(3))"], 2, "found `(k, j)`, expected a name"),
    (["return sum(a for a, b in zip([C_L], [C_L, C_U]))"], 2, "expected lists of one length"),
    (["return affine([[1]], [C_L], [1])[0]"], 2, "adds a bias (number) to a list of rate"),
    (["return affine([[1, 2]], [1], [0])[0] * C_L"], 2, "expected rows of 1 weight"),
    (["return affine([[]], [], [0])[0] * C_L"], 2, "expected a list of at least one term"),
    (["return affine([[D]], [1], [0])[0] * C_L"], 2, "found an unknown in the weights"),
    (["sum = C_L", "return sum"], 2, "assigns `sum`, which has a meaning already"),
])  # fmt: skip
def test_what_is_refused(lines, line, fragment):
    with pytest.raises(InputError) as refused:
        of(*lines)
    assert fragment in refused.value.message and refused.value.line == line


def test_what_is_shared_is_stored_once():
    body = of("x = C_L", *["x += x"] * 60, "return x").body
    assert sum(1 for _ in nodes(body)) == 121
    again = of("x = C_L", *["x += x"] * 60, "return x").body
    assert body == again and hash(body) == hash(again) and body is not again
    assert body != of("x = C_L", *["x += x"] * 59, "return x").body
    assert body == of("y = C_L", *["y += y"] * 60, "return y").body


def test_text_writes_out_what_is_short():
    assert of("x = C_L + C_U", "return 2 * x - C_U").pretty() == "rate = 2·C_L + C_U"
    lines = of("x = C_L", *["x += x"] * 9, "return x").pretty().splitlines()
    assert lines[:3] == ["rate = x", "where x = 2·x_2", "where x_2 = 2·x_3"] and lines[-1] == "where x_9 = 2·C_L"


class Depth(Walker):
    """How many functions are around a name."""

    def visit_Name(self, node):
        return 0

    def visit_Function(self, node):
        return 1 + (yield node.parts[0])

    def visit_Binary(self, node):
        return max((yield node.left), (yield node.right))


def test_a_walk_is_neither_deep_nor_long():
    tree, begun = Name("x"), time.monotonic()
    for _ in range(20_000):
        tree = Function("tanh", (Binary("+", tree, tree),))
    assert Depth().walk(tree) == 20_000 and time.monotonic() - begun < 5


def test_what_a_pass_does_not_know_is_refused():
    with pytest.raises(InputError, match="tanh has no exact value") as refused:
        value(Function("tanh", (Number(Fraction(1)),), 7), file="policy.py")
    assert (refused.value.file, refused.value.line) == ("policy.py", 7)


def test_vectors_by_component():
    layer = Affine(((Fraction(1), Fraction(2)), (Fraction(3), Fraction(-4))), Vector((Name("a"), Name("b"))), (0, 1))
    assert value(layer, {"a": Fraction(5), "b": Fraction(6)}) == (17, -8)
    assert value(Item(layer, 1), {"a": Fraction(5), "b": Fraction(6)}) == -8
