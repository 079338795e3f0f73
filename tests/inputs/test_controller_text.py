"""Controllers as text: refusals with their position, and the printed form of the shipped ones."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic.base.errors import InputError, Unreadable
from ccmatic.controllers import load, parse
from support import ROOT
from support.controllers import as_python, point
from support.failures import CONTROLLERS

R = "def rate(C_L, C_U, qdel_L, R_m):\n"
BAD_RETURNS = [
    ("3", "returns `3` (number), expected a rate"),
    ("qdel_L", "returns `qdel_L` (time), expected a rate"),
    ("C_L * qdel_L", "multiplies `C_L` by `qdel_L`, expected one of them made of numbers, R_m and D only"),
    ("C_L * C_U", "multiplies `C_L` by `C_U`"),
    ("C_L / C_U * C_L", "divides `C_L` by `C_U`, expected a divisor made of numbers"),
    ("(R_m if C_L > 0 else R_m) * C_L", "multiplies `R_m if C_L > 0 else R_m` by `C_L`"),
    ("C_L / 0", "divides `C_L` by `0`, which is 0"),
    ("C_L / (1 - max(0.5, 1))", "which is 0"),
    ("C_L + qdel_L", "adds `qdel_L` (time) to `C_L` (rate), expected terms of one unit"),
    ("C_L - 1", "subtracts `1` (number) from `C_L` (rate)"),
    ("max(C_L, 0, R_m)", "takes the max of `C_L` (rate) and `R_m` (time)"),
    ("C_L if qdel_L > 0 else qdel_L", "chooses between `C_L` (rate) and `qdel_L` (time)"),
    ("C_L if qdel_L > C_L else C_U", "compares `qdel_L` (time) with `C_L` (rate)"),
    ("C_L if 0 < qdel_L < C_L else C_U", "compares `qdel_L` (time) with `C_L` (rate)"),
    ("C_L if qdel_L > 1 else C_U", "compares `qdel_L` (time) with `1` (number)"),
    ("C_L if qdel_L else C_U", "found `qdel_L`, expected a comparison"),
    ("C_L if True else C_U", "found `True`, expected a comparison"),
    ("C_L if qdel_L in R_m else C_U", "expected one of < <= > >= == !="),
    ("C_L * (C_L > C_U)", "found condition `C_L > C_U`, expected a term"),
    ("C_L if (C_L > C_U) > 0 else C_U", "found condition `C_L > C_U`, expected a term"),
    ("not C_L", "found condition `not C_L`"),
    ("C_L and C_U", "found condition `C_L and C_U`"),
    ("2 ** 3 * C_L", "found `2 ** 3`, expected only the operators + - * /"),
    ("C_L // 2", "found `C_L // 2`"),
    ("+C_L", "found `+C_L`"),
    ("True * C_L", "found `True`, expected a real number"),
    ("2j * C_L", "found `2j`, expected a real number"),
    ("'C_L'", "found `'C_L'`, expected a real number"),
    ("None", "found `None`, expected a real number"),
    ("1e1001 * C_L", "found '1e1001'; expected a number of at most 1000 digits"),
    ("1e-999999999 * C_L", "found '1e-999999999'; expected a number of at most 1000 digits"),
    ("nan * C_L", "unknown name `nan`"),
    ("C_LL", "unknown name `C_LL`, expected a parameter; did you mean 'C_L'?"),
    ("q_U / R_m", "`q_U` is not a parameter, expected it to be: `def rate(C_L, C_U, qdel_L, R_m, q_U)`"),
    ("MSS / R_m", "`MSS` is not a parameter"),
    ("abs(C_L)", "found call `abs(C_L)`, expected only max(...) or min(...)"),
    ("C_L.real", "found `C_L.real`, expected a term"),
    ("max(C_L)", "expected max of at least two plain terms"),
    ("max(*C_L, C_U)", "expected max of at least two plain terms"),
    ("min(C_L, C_U, key=C_L)", "expected min of at least two plain terms"),
    ("max", "unknown name `max`"),
    ("(yield C_L)", "found `(yield C_L)`, expected a term"),
    ("(x := C_L)", "expected a term"),
    ("(C_L, C_U)", "expected a term"),
    ("-" * 200 + "C_L", "nested too deeply"),
    ("(" * 5000 + "C_L" + ")" * 5000, "not Python"),
    ("", "found `return` alone"),
]


@pytest.mark.parametrize("expression, fragment", BAD_RETURNS)
def test_bad_terms_are_refused(expression, fragment):
    with pytest.raises(InputError) as caught:
        parse(f"{R}    return {expression}\n", file="bad.py")
    assert fragment in caught.value.message
    assert (caught.value.file, caught.value.line) == ("bad.py", 2)


BAD_SOURCES = [
    ("", 1, "found no function, expected `def rate(...)`"),
    ("'doc'\n", 1, "found no function"),
    ("import math\ndef rate(C_L): return C_L", 1, "found `import math`, expected only a docstring"),
    ("def rate(C_L): return C_L\nx: int = 1", 2, "found `x: int = 1`"),
    ("def rate(C_L): return C_L\n'late'", 2, "found `'late'`"),
    ("def speed(C_L): return C_L", 1, "found function `speed`, expected only `def rate(...)`"),
    ("def rate(C_L): return C_L\ndef rate(C_L): return C_L", 2, "found a second function `rate`"),
    ("async def rate(C_L): return C_L", 1, "found `async def rate(C_L):`"),
    ("class rate: pass", 1, "found `class rate:`"),
    ("@cache\ndef rate(C_L): return C_L", 1, "found a decorator"),
    ("def rate(C_L=1): return C_L", 1, "found parameters `C_L=1`, expected only names"),
    ("def rate(*args): return 0", 1, "found parameters `*args`"),
    ("def rate(**args): return 0", 1, "found parameters `**args`"),
    ("def rate(C_L, /): return C_L", 1, "found parameters `C_L, /`"),
    ("def rate(*, C_L): return C_L", 1, "found parameters `*, C_L`"),
    ("def rate(C_L: int): return C_L", 1, "found parameters `C_L: int`"),
    ("def rate(C_L) -> int: return C_L", 1, "found types on `rate`"),
    ("def rate(C_L, C_L): return C_L", 1, "found parameter `C_L` twice"),
    ("def rate(qdelL): return 0", 1, "unknown parameter `qdelL`, expected a belief or constant; did"),
    (R + "    x: int = C_L\n    return x", 2, "found `x: int = C_L`, expected `if`, `return` or an assignment"),
    (R + "    while C_L > 0:\n        return C_L", 2, "found `while C_L > 0:`"),
    (R + "    for x in C_L: return x", 2, "found `for x in C_L:`"),
    (R + "    pass", 2, "found `pass`"),
    (R + "    'only a docstring'", 1, "missing return: a path through this `def rate`"),
    (R + "    if C_L > C_U:\n        return C_L", 2, "missing return: a path through this `if`"),
    (R + "    if C_L > C_U:\n        if C_L > 0: return 0\n    else: return 0", 3, "missing return"),
    (R + "    return\n", 2, "found `return` alone"),
    (R + "    return 0\n    yield 0", 3, "found `yield 0`"),
    (R + "    return 0\n    return C_L", 3, "`return C_L` is never reached"),
    (R + "    if C_L > 0: return 0\n    else: return 0\n    return C_L", 4, "`return C_L` is never reached"),
    (R + "    return (C_L +\n        C_L * qdel_L)", 3, "multiplies"),
    (R + "    return C_L +", 2, "not Python: invalid syntax"),
    (R + "  return C_L\n     return C_L", 3, "not Python: unexpected indent"),
    ("def rate(C_L): return 1" + "0" * 5000 + " * C_L", 1, "not Python"),
    pytest.param(
        *(R + "    if C_L > 0:\n        if C_U > 0: return 0\n" * 40 + "    return 0", None, "more than 100"),
        marks=pytest.mark.slow,
    ),
    (R + "    return " + "C_L + " * 5000 + "C_L", None, "nested too deeply"),
]


@pytest.mark.parametrize("source, line, fragment", BAD_SOURCES)
def test_bad_sources_are_refused(source, line, fragment):
    with pytest.raises(InputError) as caught:
        parse(source, file="bad.py")
    assert fragment in caught.value.message
    assert caught.value.file == "bad.py"
    assert line is None or caught.value.line == line


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(), st.text(alphabet="C_L()+-*/ <0.5e9\n", max_size=30))
def test_any_text_is_a_controller_or_refused(anything, expression):
    for source in (anything, f"def rate(C_L):\n    return {expression}"):
        with contextlib.suppress(InputError):
            parse(source).rate({"C_L": 1})


SHIPPED = {
    "cc_qdel": "if qdel_L > 0:|    rate = 1/2·C_L|else:|    rate = 2·C_L",
    "cc_probe_fast": "if C_U < 2·C_L:|    rate = C_L|else:|    rate = 2·C_L",
    "cc_probe_drain": "if C_U > 2·C_L - 2·MSS/R_m:|    rate = 2·C_L + MSS/R_m|else:|    rate = C_L - MSS/R_m",
    "cc_probe_slow": "if q_U > MSS:|    rate = C_Llambda - q_U/R_m|else:|    rate = 3·C_Llambda + MSS/R_m",
    "cc_probe_qdel": (
        "if C_U < 3/2·C_L:|    if qdel_L > R_m:|        rate = MSS/R_m|    else:|        rate = C_L"
        "|elif C_U > 2·C_L:|    rate = 2·C_L + MSS/R_m|else:|    rate = C_L"
    ),
}


@pytest.mark.parametrize("name", SHIPPED)
def test_the_papers_controllers_print_as_in_the_paper(name):
    controller = load(ROOT / "synthesized" / f"{name}.py")
    assert controller.name == name
    assert controller.pretty().split("\n") == SHIPPED[name].split("|")
    again = parse(as_python(controller.pretty()))
    assert again.pretty() == controller.pretty()
    for value in range(1, 6):
        values = point(C_L=value, C_U=5, qdel_L=value - 1, q_U=value, MSS=3)
        assert again.rate(values) == controller.rate(values)


EXAMPLES = [file for file in sorted(CONTROLLERS.glob("[a-z]*.py")) if "def rate(" in file.read_text()]


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_the_examples_are_controllers(path):
    controller = load(path)
    assert controller.name == path.stem
    assert controller.rates(point()).high > 0
    assert controller.source.startswith('"""Envelope: ' if controller.is_envelope else '"""Wrong: ')


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(Unreadable, match="none.py: cannot read"):
        load(tmp_path / "none.py")


def test_start_names_another_controller():
    controller = parse('"""Doc."""\nstart = "cc_qdel"\n\n\ndef rate(C_L):\n    return C_L\n')
    assert controller.start == "cc_qdel"
    assert controller.rate({"C_L": 3}) == 3
    assert parse("def rate(C_L):\n    return C_L\n").start is None


@pytest.mark.parametrize("line", ["start = 3", 'begin = "cc_qdel"', 'start = other = "cc_qdel"'])
def test_other_statements_are_refused(line):
    with pytest.raises(InputError, match="expected only a docstring"):
        parse(f"{line}\n\n\ndef rate(C_L):\n    return C_L\n")
