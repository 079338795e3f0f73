"""Controllers that assign names: execution, encoding and export agree, or the controller is refused."""

import ctypes
from fractions import Fraction
from math import floor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pysmt import shortcuts as smt

from ccmatic.base import RATE
from ccmatic.base.errors import InputError
from ccmatic.controllers import parse
from ccmatic.logic.terms import equal, linear, real
from ccmatic.logic.terms import formula as as_formula
from ccmatic.worlds.c.update import Decision
from ccmatic.worlds.runtime import shipped
from ccmatic.worlds.runtime.library import compile_c
from support.machine import needs_compiler

PARAMETERS = ("C_L", "C_U", "qdel_L", "MSS", "R_m", "D")
SIGNATURE = f"def rate({', '.join(PARAMETERS)}):\n"
GIVEN = {
    "rate": ("C_L", "C_U", "MSS / R_m"),
    "time": ("qdel_L", "R_m", "D"),
    "number": ("2", "0.1", "3 / 2", "-1", "GAIN", "LIMIT", "(2 if D > R_m else 3)"),
}
LOCAL = ("a", "b", "rate", "Fraction")


class Program:
    """Draws a controller line by line; knows the unit of each name that is assigned where it is. careless: of "names",
    which may not be assigned, or of "divisors", which may be 0, or None."""

    def __init__(self, draw, careless):
        self.draw, self.careless = draw, careless

    def pick(self, *options):
        return self.draw(st.sampled_from(options))

    def term(self, unit, names, depth=2):
        local = [name for name, its in names.items() if its == unit]
        if self.careless == "names" and self.pick(*range(8)) == 0:
            return self.pick(*LOCAL)
        if depth == 0 or self.pick(0, 1):
            return self.pick(*GIVEN[unit], *local, *local)
        kind = self.pick("+", "-", "*", "/", "negative", "max", "if")
        inner = self.term(unit, names, depth - 1)
        match kind:
            case "+" | "-":
                return f"({inner} {kind} {self.term(unit, names, depth - 1)})"
            case "*":
                return f"{self.term('number', names, 0)} * {inner}"
            case "/":
                divisors = ("2", "GAIN", "LIMIT - 0.5", "(R_m + D) * R_m / (R_m * max(D, R_m))")
                if self.careless == "divisors":
                    divisors = ("D / R_m", "(D + D) / R_m", "max(D, 0) / R_m", "min(D, R_m) / R_m", "D * D / R_m / R_m")
                divisor = self.pick(*divisors)
                return f"{inner} / ({divisor})"
            case "negative":
                return f"-{inner}"
            case "max":
                return f"{self.pick('max', 'min')}({inner}, {self.term(unit, names, depth - 1)})"
        return f"({inner} if {self.condition(names)} else {self.term(unit, names, depth - 1)})"

    def condition(self, names):
        local = [name for name, its in names.items() if its == "condition"]
        if local and self.pick(0, 1):
            return self.pick("not {}", "({} and C_L < C_U)", "{}").format(self.pick(*local))
        unit, op = self.pick("rate", "time"), self.pick("<", "<=", ">", ">=", "==", "!=")
        return f"{self.term(unit, names, 1)} {op} {self.term(unit, names, 1)}"

    def block(self, names, depth):
        """Lines, and whether all paths through them return; `names` then has what is assigned after the others."""
        lines = []
        for _ in range(self.pick(0, 1, 2, 3)):
            if depth and self.pick(0, 1, 2) == 0:
                branches = [dict(names), dict(names)]
                (then, ends), (other, stops) = [self.block(branch, depth - 1) for branch in branches]
                lines += [f"if {self.condition(names)}:", *_indented(then or ["a = C_L"])]
                if not then:
                    branches[0]["a"] = "rate"
                lines += ["else:", *_indented(other)] if other else []
                if ends and stops:
                    return lines, True
                ways = [branch for branch, over in zip(branches, (ends, stops), strict=True) if not over]
                names |= dict.fromkeys(LOCAL)
                names |= {n: unit for n, unit in ways[0].items() if all(way.get(n) == unit for way in ways)}
            else:
                lines.append(self.assignment(names))
        if depth < 2 and self.pick(0, 1):
            return [*lines, f"return {self.term('rate', names)}"], True
        return lines, False

    def assignment(self, names):
        unit = self.pick("rate", "time", "number", "condition")
        local = [name for name, its in names.items() if its == unit]
        if local and unit != "condition" and self.pick(0, 1):
            return f"{self.pick(*local)} {self.pick('+', '-')}= {self.term(unit, names, 1)}"
        line = self.condition(names) if unit == "condition" else self.term(unit, names)
        name = self.pick(*LOCAL)
        names[name] = unit
        return f"{name} = {line}"


def _indented(lines):
    return ["    " + line for line in lines]


@st.composite
def controllers(draw, careless=None):
    program, names = Program(draw, careless), {}
    lines, over = program.block(names, 2)
    lines += [] if over else [f"return {program.term('rate', names)}"]
    constants = "GAIN = 1.25\nLIMIT = max(GAIN, 4)\n"
    return "\n".join([constants, SIGNATURE, *_indented(lines)])


numbers = st.sampled_from([Fraction(n, d) for n in range(5) for d in (1, 2, 3)])
points = st.fixed_dictionaries({name: numbers.filter(bool) if name in ("R_m", "D") else numbers for name in PARAMETERS})
at_random = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def tree_says(controller, values, floor, rate):
    """Whether the encoding of numbers is this rate, or the floor."""
    encoded = controller.encode(values, real("rate"), linear(floor))
    return encoded.node == equal(real("rate"), max(floor, rate)).node


@at_random
@given(controllers(), points, numbers.filter(bool))
def test_what_runs_is_what_is_encoded(source, values, floor):
    controller = parse(source)
    own = controller.rate(values)
    assert tree_says(controller, values, floor, own)
    symbols = {name: real(name) for name in (*PARAMETERS, "rate")}
    known = {name: values[name] for name in ("R_m", "D")}
    formula = as_formula(controller.encode({**symbols, **known}, symbols["rate"], linear(floor)))
    for rate in {own, max(floor, own), own + 1, floor}:
        point = {symbols[name].node(): smt.Real(value) for name, value in {**values, "rate": rate}.items()}
        assert smt.simplify(smt.substitute(formula, point)).is_true() == (rate == max(floor, own)), source


@at_random
@given(st.sampled_from(["names", "divisors"]).flatmap(controllers), points, st.sampled_from((0, 1)))
def test_what_may_fail_to_run_is_refused(source, values, jitter):
    """Names that are assigned on some paths only, and divisions by 0."""
    values = {**values, "D": Fraction(jitter)}
    try:
        controller = parse(source)
    except InputError as error:
        assert error.line
        return
    try:
        own = controller.rate(values)
    except InputError as error:
        assert "divides by 0" in error.message and jitter == 0
        with pytest.raises(InputError, match="which is 0 here"):
            controller.encode(values, real("rate"), linear(1))
    else:
        assert tree_says(controller, values, 1, own), source


def parsed_factors(source):
    """The controller; None where a number that depends on an unknown is drawn as a factor of another."""
    try:
        return parse(source)
    except InputError as error:
        assert "multiplies" in error.message
        return None


@needs_compiler
@settings(at_random, max_examples=2)
@given(st.lists(controllers(), min_size=30, max_size=30), st.data())
def test_what_runs_is_what_is_exported(tmp_path_factory, sources, data):
    folder = tmp_path_factory.mktemp("c")
    parsed = [controller for source in sources if (controller := parsed_factors(source))]
    code = ["#include <stdbool.h>", "#include <stdint.h>", shipped("decision.h")]
    names = ("C_L", "C_U", "qdel_L", "MSS")
    for number, controller in enumerate(parsed):
        arguments = ", ".join(f"int64_t {name}" for name in names)
        code += [f"uint64_t decide{number}({arguments})", "{", *Decision(controller, 1).lines, "}"]
    (folder / "decide.c").write_text("\n".join(code))
    compile_c(["-std=c99", "-shared", "-fPIC", "-o", str(folder / "decide.so"), str(folder / "decide.c")])
    library = ctypes.CDLL(str(folder / "decide.so"))
    for number, controller in enumerate(parsed):
        decide = library[f"decide{number}"]
        decide.restype, decide.argtypes = ctypes.c_uint64, [ctypes.c_int64] * len(names)
        for _ in range(5):
            values = dict(zip(names, data.draw(st.tuples(*[st.integers(0, 9)] * len(names))), strict=True))
            assert decide(*values.values()) == max(0, floor(controller.rate({**values, "R_m": 1, "D": 1})))


def both(before, body, **values):
    """The rate that runs, which is the tree's."""
    controller = parse(before + SIGNATURE + "".join(f"    {line}\n" for line in body))
    values = dict.fromkeys(PARAMETERS, Fraction(1)) | values
    own = controller.rate(values)
    assert tree_says(controller, values, 0, own)
    return own


def test_names_stand_for_what_was_assigned():
    assert both("", ["headroom = C_U - C_L", "return C_L + headroom / 2"], C_U=Fraction(4)) == Fraction(5, 2)
    assert both("", ["x = C_L", "y = x", "x = 2 * x", "return x + y"]) == 3
    assert both("", ["x = C_L", "x += C_U", "x *= 3", "x -= C_L", "x /= 2", "return x"]) == Fraction(5, 2)
    assert both("", ["rate = C_L", "return rate"]) == 1
    assert both("", ["busy = qdel_L > D", "calm = not busy", "if calm and C_L > 0:", "    return C_U", "return 0"]) == 1
    assert both("", ["if qdel_L > D:", "    x = C_L", "else:", "    x = 2 * C_L", "return x"]) == 2
    assert both("", ["x = C_L", "if qdel_L > D: x = C_U", "return x"], C_U=Fraction(4), qdel_L=Fraction(2)) == 4


def test_constants_are_what_their_digits_say():
    assert both("'''doc'''\nGAIN = 1.25\nLIMIT = 4 * GAIN\n", ["return GAIN * C_L + LIMIT * C_U"]) == Fraction(25, 4)
    assert both("TENTH = 0.1\n", ["return C_L * TENTH"]) == Fraction(1, 10)
    later = parse('start = "cc_qdel"\ndef rate(C_L): return GAIN * C_L\nGAIN = 1e-1\n')
    assert later.start == "cc_qdel" and later.rate({"C_L": 1}) == Fraction(1, 10)


def test_assigned_names_are_printed_written_out():
    source = f"GAIN = 0.5\n{SIGNATURE}    low = GAIN * C_L\n    return low + C_U if low < C_U else low\n"
    assert parse(source).pretty().splitlines() == [
        "if 1/2·C_L < C_U:", "    rate = 1/2·C_L + C_U", "else:", "    rate = 1/2·C_L"
    ]  # fmt: skip


REFUSED = [
    ("", ["if C_L > 0:", "    x = C_L", "return x"], 4, "`x` is not assigned on every path that leads here"),
    ("", ["x += C_L", "return x"], 2, "`x` is not assigned on every path"),
    ("", ["if x: return C_L", "x = C_L > 0", "return C_L"], 2, "`x` is not assigned on every path"),
    ("", ["x = C_L + qdel_L", "return C_L"], 2, "adds `qdel_L` (time) to `C_L` (rate)"),
    ("", ["x = qdel_L", "return x"], 3, "returns `x` (time), expected a rate"),
    ("", ["x = 2", "return C_L + x"], 3, "adds `x` (number) to `C_L` (rate)"),
    ("", ["x = C_L", "return x * C_U"], 3, "multiplies `x` by `C_U`, expected one of them made of numbers, R_m and D"),
    ("", ["x = C_L", "return C_U / x * C_L"], 3, "divides `C_U` by `x`, expected a divisor made of numbers"),
    ("", ["x = 0", "return C_L / x"], 3, "divides `C_L` by `x`, which is 0"),
    ("", ["x = C_L / D * R_m", "return x if D > 0 else C_L"], 2, "a list, divides `C_L` by `D`, which may be 0"),
    ("", ["return [C_L, R_m * C_L / (D - R_m)][0]"], 2, "which may be 0"),
    ("", ["return sum([C_L * R_m / D for k in [1]])"], 2, "which may be 0"),
    ("", ["x = (k * C_L for k in [1, 2])", "return sum(x)"], 2, "found `(k * C_L for k in [1, 2])`, expected a term"),
    ("", ["x = zip([C_L], [C_U])", "return max(a for a, b in x)"], 2, "found call `zip([C_L], [C_U])`"),
    ("W = (k / 2 for k in [1, 2])\n", ["return sum(w * C_L for w in W)"], 1, "found `(k / 2 for k in [1, 2])`"),
    ("", ["x = 1 / (R_m - R_m)", "return C_L"], 2, "which may be 0"),
    ("", ["x = 1 / (D + D)", "return C_L"], 2, "which may be 0"),
    ("", ["x = 1 / max(D, 0)", "return C_L"], 2, "which may be 0"),
    ("", ["x = 1 / min(D, R_m)", "return C_L"], 2, "which may be 0"),
    ("", ["x = 1 / (D * R_m)", "return C_L"], 2, "which may be 0"),
    ("", ["x = 1 / (-2 * R_m)", "return C_L"], 2, "which may be 0"),
    ("", ["x = D > 0 and C_L * R_m / D > C_U", "return C_L"], 2, "which may be 0"),
    ("", ["x = C_L > 0", "return x * C_L"], 3, "found condition `x`, expected a term"),
    ("", ["x = C_L", "if x: return 0", "return x"], 3, "found `x`, expected a comparison"),
    ("", ["x = 0", "return y"], 3, "unknown name `y`, expected a parameter"),
    ("", ["headroom = C_L", "return headrom"], 3, "did you mean 'headroom'?"),
    ("", ["C_L = C_U", "return C_L"], 2, "assigns `C_L`, which has a meaning already"),
    ("", ["q_U = C_U", "return C_L"], 2, "assigns `q_U`, which has a meaning already"),
    ("", ["max = C_U", "return C_L"], 2, "assigns `max`, which has a meaning already"),
    ("", ["__debug__ = C_U", "return C_L"], 2, "assigns `__debug__`"),
    ("", ["x, y = C_U, C_L", "return C_L"], 2, "expected `if`, `return` or an assignment to one name"),
    ("", ["x = y = C_L", "return C_L"], 2, "expected `if`, `return` or an assignment to one name"),
    ("", ["x: float = C_L", "return C_L"], 2, "expected `if`, `return` or an assignment to one name"),
    ("", ["x = C_L"], 1, "missing return"),
    ("", ["return C_L", "x = C_L"], 3, "`x = C_L` is never reached"),
    ("GAIN = 2\n", ["GAIN = 3", "return C_L"], 3, "assigns `GAIN`, which has a meaning already"),
    ("GAIN = 2\nGAIN = 3\n", ["return C_L"], 2, "assigns `GAIN`, which has a meaning already"),
    ("GAIN += 2\n", ["return C_L"], 1, "found `GAIN += 2`, expected only a docstring"),
    ("rate = 2\n", ["return C_L"], 1, "assigns `rate`, which has a meaning already"),
    ("min = 2\n", ["return C_L"], 1, "assigns `min`, which has a meaning already"),
    ("R_m = 2\n", ["return C_L"], 1, "assigns `R_m`, which has a meaning already"),
    ("GAIN = 2 * R_m\n", ["return C_L"], 1, "found `R_m` outside `rate`, expected numbers"),
    ("GAIN = LIMIT\nLIMIT = 2\n", ["return C_L"], 1, "unknown name `LIMIT`"),
    ("GAIN = 2\n", ["return C_L + GAIN"], 3, "adds `GAIN` (number) to `C_L` (rate)"),
    ("GAIN = 2 - 2\n", ["return C_L / GAIN"], 3, "divides `C_L` by `GAIN`, which is 0"),
    ("GAIN = {2}\n", ["return C_L"], 1, "found `{2}`, expected a term"),
    ("", ["x = 2", *["x *= x"] * 60, "return x * C_L"], 14, "numbers have more than 2000 digits"),
    ("", ["x = C_L > 0", *["x = not x"] * 600, "return C_L"], 501, "nested too deeply, with what is assigned"),
    ("", ["x = R_m + D", *["x *= x / R_m"] * 7, "return C_L"], None, "more than"),
    ("", [*["if C_L > 0: x = C_L"] * 20, "return C_L"], 21, "more than 100000 names and numbers on all"),
    ("", [*["if C_L > 0: return C_L"] * 101, "return C_L"], 102, "a path of more than 100 `if`"),
    ("", [*["if C_L > 0: x = C_L"] * 6, *["x = C_L"] * 2000, "return x"], None, "of more than 100000 names"),
]  # fmt: skip


def test_a_name_means_the_same_whatever_may_be_read():
    with pytest.raises(InputError, match="assigns `q_U`"):
        parse("def rate(C_L):\n    q_U = C_L\n    return q_U", beliefs={"C_L": RATE})


@pytest.mark.parametrize("before, body, line, fragment", REFUSED)
def test_what_is_refused(before, body, line, fragment):
    with pytest.raises(InputError) as caught:
        parse(before + SIGNATURE + "".join(f"    {text}\n" for text in body), file="bad.py")
    assert fragment in caught.value.message and caught.value.file == "bad.py"
    assert line is None or caught.value.line == line
