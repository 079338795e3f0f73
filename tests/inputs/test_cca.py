"""Controllers: the accepted language, the agreement of Python and encoding, the printed form, and the shipped files."""

from fractions import Fraction

import pytest
from pysmt import shortcuts as smt

from ccmatic.base import TIME
from ccmatic.base.errors import InputError
from ccmatic.controllers import parse, shipped_beliefs
from ccmatic.logic.terms import equal, is_max, linear, real
from ccmatic.logic.terms import formula as as_formula
from support.controllers import NAMES, SIGNATURE, one, point


def allowed(formula, symbols, values):
    """Whether the formula holds at the values."""
    point = {symbols[name].node(): smt.Real(value) for name, value in values.items()}
    outcome = smt.simplify(smt.substitute(as_formula(formula), point))
    assert outcome.is_bool_constant()
    return outcome.is_true()


def encoded(controller, numbers):
    """The encoding over symbols, but for the names with `numbers`."""
    symbols = {name: real(name) for name in (*NAMES, "rate", "floor")}
    return controller.encode({**symbols, **numbers}, symbols["rate"], symbols["floor"]), symbols


def test_conditions_are_printed_with_their_brackets():
    test = "not (C_L < C_U or q_U != MSS) and (C_L == C_U or 0 <= q_U)"
    controller = one(f"0 if {test} else -C_L / (R_m + D) * R_m")
    assert controller.pretty().splitlines() == [
        "if not (C_L < C_U or q_U ≠ MSS) and (C_L = C_U or 0 ≤ q_U):",
        "    rate = 0",
        "else:",
        "    rate = -C_L·R_m/(R_m + D)",
    ]


def test_numbers_are_what_their_digits_say():
    assert one("0.1 * C_L").rate(point(C_L=1)) == Fraction(1, 10)
    assert one("1 / 3 * C_L").rate(point(C_L=1)) == Fraction(1, 3)
    assert one("1_0.2_5e1 * C_L").rate(point(C_L=1)) == Fraction(205, 2)
    assert one("0x10 * C_L").rate(point(C_L=1)) == 16
    assert one("1e-300 * C_L").rate(point(C_L=1)) == Fraction(1, 10**300)
    assert "1/10·C_L" in one("0.1 * C_L").pretty()
    rate = one("0").rate(point())
    assert isinstance(rate, Fraction) and rate == 0


def test_rate_runs_the_source_and_not_the_tree():
    from dataclasses import replace

    controller = replace(one("C_L"), body=one("C_U").body)
    assert controller.rate(point(C_L=5, C_U=7)) == 5


def test_the_floor_is_a_choice_only_where_it_is_one():
    c, rate, floor = real("C_L"), real("rate"), linear(1)
    assert one("C_L").encode({"C_L": c}, rate, c).node == equal(rate, c).node
    assert one("0").encode({}, rate, floor).node == equal(rate, floor).node
    assert one("C_L").encode({"C_L": c}, rate, floor).node == is_max(rate, (True, floor), (True, c)).node


def test_statements_and_a_returned_choice_are_encoded_without_ite():
    source = SIGNATURE + "    if q_U > MSS: return C_L\n    return C_U if qdel_L > D else C_Llambda\n"
    formula, _ = encoded(parse(source), {"R_m": 1, "D": 1})
    assert not any(node.is_ite() for node in _nodes(as_formula(formula)))


def _nodes(formula):
    yield formula
    for argument in formula.args():
        yield from _nodes(argument)


@pytest.mark.parametrize("expression", ["C_L / D * R_m", "C_L * R_m / (D - 0)", "C_L / (2 / R_m - 2 / R_m) / R_m"])
def test_division_by_a_constant_that_is_0_is_refused(expression):
    controller = parse(SIGNATURE + f"    return {expression}\n", file="c.py")
    with pytest.raises(InputError, match=r"c.py:2: divides by 0 at these values"):
        controller.rate(point(D=0))
    with pytest.raises(InputError, match=r"c.py:2: divides by `.*`, which is 0 here"):
        encoded(controller, {"R_m": 1, "D": 0})


def test_a_division_that_d_rules_out_is_left_alone():
    controller = one("C_L * R_m / D if D > 0 and q_U / D > C_U else C_U")
    assert controller.rate(point(D=0, C_U=4)) == 4
    formula, symbols = encoded(controller, {"R_m": 1, "D": 0})
    assert allowed(formula, symbols, {"C_U": 4, "floor": 1, "rate": 4})


def test_a_product_with_a_symbol_for_r_m_is_refused():
    for known in ({"D": 1}, {"R_m": 1}):
        with pytest.raises(InputError, match="of two unknowns|by an unknown, which has no linear formula"):
            encoded(one("C_L * R_m / D"), known)


def test_other_beliefs_may_be_allowed():
    source = "def rate(C_L, age):\n    return C_L if age > 0 else 0"
    controller = parse(source, beliefs={**shipped_beliefs(), "age": TIME})
    assert controller.parameters == ("C_L", "age")


GOOD = """\
# a comment
'''a docstring'''

def rate(C_L, qdel_L):  # another
    "docstring"
    if qdel_L > 0:
        return C_L / 2
    return 2 * C_L
"""


def test_a_controller_is_a_value():
    controller = parse(GOOD, "mine")
    assert controller == parse(GOOD, "mine", file="elsewhere.py")
    assert hash(controller) == hash(parse(GOOD, "mine"))
    assert (controller.name, controller.source, controller.parameters) == ("mine", GOOD, ("C_L", "qdel_L"))
    assert controller.pretty() == "if qdel_L > 0:\n    rate = 1/2·C_L\nelse:\n    rate = 2·C_L"
    assert parse("\ufeff" + "def rate(C_L): return 0.5 * C_L").rate({"C_L": 1}) == Fraction(1, 2)
