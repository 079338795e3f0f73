"""Loss allowances, the solver's results about them, and `ccmatic tradeoff`."""

import json
import math
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise

import pytest
import sympy
from click.testing import CliRunner

from ccmatic.base.errors import InputError
from ccmatic.cli.commands import cli
from ccmatic.tradeoffs import figures
from ccmatic.tradeoffs.allowance import RULES, Allowance, RampPath
from ccmatic.tradeoffs.enclosure import C, compiled, least_is
from ccmatic.tradeoffs.growth import closed_form, inverse_class, k
from ccmatic.tradeoffs.least import least
from support.json_schemas import validate
from support.sampling import each_nth

PATH = RampPath(Fraction(2), Fraction(1000), Fraction(1))
HALF = RampPath(Fraction(3, 2), Fraction(1000), Fraction(1, 2))


def needed(text, path=PATH):
    allowance = Allowance.parse(text)
    allowance.require(path)
    return allowance.inverse(path)[path.end]


# F and its inverse


@pytest.mark.parametrize(
    "text, round_trips",
    [
        ("1", 998),
        ("2", 499),
        ("C/10", 66),
        ("C", 9),
        ("log(C)", 178),
        ("sqrt(C)", 62),
        ("min(C, 10)", 102),
        ("C**2/1000", 505),
        ("0", None),
        ("log(C/2)", None),
        ("max(0, (10 - C)/2)", None),
    ],
)
def test_round_trips(text, round_trips):
    assert needed(text) == round_trips


@pytest.mark.parametrize("text", ["1", "C/10", "1 + C/7", "C - C**2/2000"])
def test_f_is_iterated_exactly_where_it_is_rational(text):
    f, rate = Allowance.parse(text).f, Fraction(2)
    for low, high in list(Allowance.parse(text).ramp(PATH))[:5]:
        assert low == high == rate
        rate += Fraction(*f.subs(C, sympy.Rational(rate.numerator, rate.denominator)).as_numer_denom())


def test_a_rate_that_f_reaches_exactly_is_reached():
    """No float, and no number of bits, tells these from their neighbours."""
    exact = 2 * Fraction(11, 10) ** 60
    step = Fraction(1, 10**300)
    targets = [exact - step, exact, exact + step]
    found = Allowance.parse("C/10").inverse(PATH, targets)
    assert list(found.values()) == [60, 60, 61]


def test_enclosures_hold_what_is_known_to_more_digits():
    expression = sympy.log(C) * sympy.root(C, 3) - sympy.sqrt(C + 1) / C
    for bits in (24, 64, 200):
        low, high = compiled(expression, bits)((Fraction(7, 3), Fraction(7, 3)))
        true = expression.subs(C, sympy.Rational(7, 3)).evalf(100)
        assert sympy.Rational(*low.as_integer_ratio()) < true < sympy.Rational(*high.as_integer_ratio())
        assert high - low < Fraction(1, 2 ** (bits - 8))


def test_signs_are_decided_on_whole_intervals():
    assert least_is((C - 5) ** 2, 0, Fraction(1), Fraction(1000)) == (True, None)
    true, where = least_is(C - C**2 / 1000, 0, Fraction(1), Fraction(2000))
    assert true is False and where > 1000


@pytest.mark.parametrize("text", ["1", "C/10", "log(C)", "sqrt(C)", "C*log(C)", "C**2/1000"])
@pytest.mark.parametrize("path", [PATH, HALF])
def test_floats_agree(text, path):
    """Another way to compute it, wrong only where F(k) is within a rounding of C."""
    rate, round_trips = float(path.start), 0
    f = eval("lambda C: " + text, {"log": math.log, "sqrt": math.sqrt})
    while rate < path.end:
        rate, round_trips = rate + f(rate) / float(path.buffer_time), round_trips + 1
    assert needed(text, path) == round_trips


# Closed forms and classes


@pytest.mark.parametrize(
    "text, form",
    [
        ("1", 2 + k),
        ("C/10", 2 * sympy.Rational(11, 10) ** k),
        ("C", 2 * 2**k),
        ("1 + C/10", 12 * sympy.Rational(11, 10) ** k - 10),
        ("2*sqrt(C) + 1", (sympy.sqrt(2) + k) ** 2),
        ("log(C)", None),
        ("min(C, 10)", None),
    ],
)
def test_closed_forms(text, form):
    found = closed_form(Allowance.parse(text), PATH)
    assert found is form is None or sympy.simplify(found - form) == 0


def test_closed_forms_are_what_is_iterated():
    for text in ("2", "C/10", "3 + C/4"):
        allowance = Allowance.parse(text)
        form = closed_form(allowance, HALF)
        for i, (low, _) in enumerate(list(allowance.ramp(HALF))[:8]):
            assert form.subs(k, i) == sympy.Rational(low.numerator, low.denominator)


CLASSES = {
    "1": "C",
    "log(C)": "C/log C",
    "sqrt(C)": "√C",
    "C/10": "log C",
    "C": "log C",
    "C**2/1000": "log log C",
    "1/C": "C^2",
    "C/log(C)": "(log C)^2",
    "min(C, 10)": "C",
    "C*log(C)": "log C/log log C",
    "0": None,
}


@pytest.mark.parametrize("text", CLASSES)
def test_classes(text):
    assert inverse_class(Allowance.parse(text)) == CLASSES[text]


@pytest.mark.parametrize(
    "text, growth",
    [("log(C)", lambda C: C / math.log(C)), ("sqrt(C)", math.sqrt), ("C/log(C)", lambda C: math.log(C) ** 2)],
)
def test_classes_are_how_round_trips_grow(text, growth):
    allowance = Allowance.parse(text)
    targets = [Fraction(10**i) for i in (2, 3, 4)]
    found = allowance.inverse(RampPath(Fraction(3), targets[-1], Fraction(1)), targets)
    ratios = [found[target] / growth(float(target)) for target in targets]
    assert max(ratios) / min(ratios) < 1.25


# What is no allowance


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "C C",
        "__import__('os')",
        "C.real",
        "C if C else 1",
        "(lambda: 1)()",
        "9**9**9",
        "C**C",
        "log(C, 2)",
        "1/0",
        "sqrt(-1)",
        "log(0)",
        "'C'",
        "True",
        "1j",
        "min()",
        "C < 2",
        "1e999999999",
        "((9**20)**20)**20",
        "(" * 100 + "C" + ")" * 100,
        "2 - C",
        "log(C) - 1",
        "1/(C - 500)",
        "(C - 5)**2",
        "1000/C**2",
    ],
)
def test_bad_allowances(text):
    with pytest.raises(InputError) as caught:
        needed(text)
    assert text[:20] in str(caught.value) and "expected" in str(caught.value)


def test_f_may_fall_as_long_as_the_lower_rate_stays_behind():
    assert needed("min(C, 1000 - C)") == 9
    with pytest.raises(InputError, match="monotone"):
        needed("600 - 0.55*C", HALF)


@pytest.mark.parametrize("start, end, buffer_time", [(2, 2, 1), (3, 2, 1), (0, 2, 1), (1, 2, 0), (1, 2, 2)])
def test_bad_paths(start, end, buffer_time):
    with pytest.raises(InputError, match="expected"):
        RampPath(Fraction(start), Fraction(end), Fraction(buffer_time))


# The solver


SMALL, LARGE = list(range(3, 41)), [100, 300, 500, 1000]


@pytest.mark.parametrize("text", ["1", "2", "log(C)", "C/10", "C"])
@pytest.mark.parametrize("targets", each_nth(2, [SMALL, LARGE]), ids=["small", "large"])
def test_the_solver_finds_f_inverse(text, targets):
    allowance, targets = Allowance.parse(text), [Fraction(target) for target in targets]
    found, inverse = least(allowance, PATH, targets), allowance.inverse(PATH, targets)
    assert {target: reached.steps for target, reached in found.items()} == inverse
    f = compiled(allowance.f, 256)
    for target, reached in found.items():
        assert len(reached.rates) == reached.steps + 1 and reached.rates[0] == 2
        assert reached.rates[-1] >= target or reached.steps == 0
    for before, after in pairwise(reached.rates):
        assert after - before <= f((before, before))[1]


@pytest.mark.parametrize("text", ["sqrt(C)", "min(C, 10)", "min(sqrt(C), 5)", "log(C) + C/100"])
def test_the_solver_finds_f_inverse_of_concave_allowances(text):
    allowance, targets = Allowance.parse(text), [Fraction(target) for target in range(2, 30)][1:]
    found = least(allowance, HALF, targets)
    assert {target: reached.steps for target, reached in found.items()} == allowance.inverse(HALF, targets)


def test_a_packet_more_is_faster():
    one, two = (least(Allowance.parse(text), PATH, [Fraction(50)])[50].steps for text in ("1", "1 + 1"))
    assert (one, two) == (48, 24)


def test_the_solver_is_not_asked_what_it_cannot_be():
    with pytest.raises(InputError, match="concave"):
        least(Allowance.parse("C**2/1000"), PATH)
    assert least(Allowance.parse("1"), PATH, [Fraction(100)], most=50) == {100: None}


# Real controllers


def test_rules_ramp_up_as_their_sources_say():
    aimd, cubic, bbr = RULES
    for path in (PATH, HALF):
        rates = [low for low, _ in list(aimd.allowance(path).ramp(path))[:20]]
        assert rates == [path.start + i for i in range(20)]
        rates = [low for low, _ in list(bbr.allowance(path).ramp(path))[:20]]
        assert rates == [path.start * Fraction(5, 4) ** i for i in range(20)]
        for i, (low, high) in list(enumerate(cubic.allowance(path).ramp(path)))[::30]:
            true = path.start + max(Fraction(i), Fraction(2, 5) * Fraction(i, 25) ** 3)
            assert low <= true <= high and high - low < Fraction(1, 10**9)


def test_the_belief_set_is_lost_on_by_short_probes_alone():
    for row in figures.beliefs():
        assert row.lost_by_probe == figures.EXTRA < row.lost_by_short_probe


# The command


def tradeoff(*arguments):
    return CliRunner().invoke(cli, ["tradeoff", *arguments], standalone_mode=False)


#: The record of each line, by a key that it has.
KINDS = {
    "family": "FamilyLine",
    "C_0": "PathLine",
    "allowance": "AllowanceLine",
    "controller": "RuleLine",
    "counterexample": "CounterexampleLine",
    "step": "StepLine",
    "phase": "PhaseLine",
    "same": "CycleLine",
    "buffer": "BeliefSetLine",
    "round_trips": "RoundTripsLine",
    "table": "TableFileLine",
    "what": "FileLine",
}


@pytest.mark.slow
def test_one_command_regenerates_everything(tmp_path):
    outcome = tradeoff(
        "--out", str(tmp_path), "--json", "--final-rate", "100", "--allowance", "1", "--allowance", "log(C)"
    )
    assert outcome.exception is None and outcome.return_value == 0
    rows = [json.loads(line) for line in outcome.output.splitlines()]
    for row in rows:
        validate(row, KINDS[next(key for key in KINDS if key in row)])
    files = {
        "figure_7.png",
        "family.png",
        "figure_8.png",
        "table_3.md",
        "proof.md",
        "blind_additive.json",
        "blind_additive.png",
    }
    assert files <= {file.name for file in tmp_path.iterdir()}
    counts = next(row["round_trips"] for row in rows if row.get("figure") == 7)
    assert counts["1"]["100"] == 90 and counts["log(C)"]["100"] == 25 and counts["AIMD (Reno)"]["50"] == 40
    assert [row["solver"] for row in rows if "solver" in row] == ["the solver's least k is the same for 3 of 3 C's"] * 2
    tight = [row for row in rows if row.get("family")]
    assert len(tight) == 6 and all(Fraction(row["convergence"]) >= Fraction(row["bound"]) for row in tight)
    lost = next(Fraction(row["lost"]) for row in rows if "counterexample" in row)
    assert lost > 1
    assert all(row["good"] for row in rows if "step" in row) and any("step" in row for row in rows)


def test_sympy_is_not_imported_before_it_is_needed():
    """It would take half a second of every command."""
    found = subprocess.run(
        [sys.executable, "-c", "import sys, ccmatic.cli; print('sympy' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "False"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--initial-rate", "10", "--final-rate", "10"],
        ["--allowance", "2 - C"],
        ["--allowance", "C +"],
        ["--allowance", "(C-20)**2"],
        ["--final-rate", "fast"],
        ["--buffer-time", "1/0"],
        ["--initial-rate", "nan"],
        ["--allowance", "1/10**9"],
        ["--buffer-time", "2"],
    ],
)
def test_bad_input_is_one_message_and_leaves_nothing(tmp_path, arguments):
    outcome = tradeoff("--out", str(tmp_path / "out"), *arguments)
    assert isinstance(outcome.exception, InputError) and "expected" in str(outcome.exception)
    assert not (tmp_path / "out").exists() and not outcome.output
