"""What decides for a flow says so in laws, named like a model's: a controller, and anything else with laws."""

from dataclasses import dataclass
from fractions import Fraction

import pytest

from ccmatic.answers.verification import HOLDS, VIOLATED, Judge, Verifier, check_trace
from ccmatic.controllers import parse
from ccmatic.logic import Condition, every
from ccmatic.questions import query as queries

SOURCE = "def rate(C_L, MSS, R_m):\n    return C_L / 2 if C_L > 2 * MSS / R_m else MSS / R_m\n"


@dataclass(frozen=True)
class Range:
    """Any rate from C_L times `least` to C_L times `most`, at least a packet a step."""

    least: Fraction
    most: Fraction
    name: str = "range"
    source: str | None = None
    parameters: tuple = ("C_L",)

    def laws(self, view):
        for t in range(1, view.horizon):
            believed = view.beliefs["C_L"][t - 1]
            least, most = believed * self.least + view.alpha, believed * self.most + view.alpha
            yield "rate_is_in_range", t, every(view.r[t] >= least, view.r[t] <= most)


@pytest.fixture(scope="module")
def query():
    return queries.make("ccac", "infinite", 4)


def controller(query, source=SOURCE):
    return parse(source, beliefs=query.units())


def test_a_controllers_laws_are_conditions_on_unknowns(query):
    found = list(controller(query).laws(query.execution().flows[0]))
    assert [law[:2] for law in found] == [("rate_is_the_controllers", t) for t in (1, 2, 3)]
    assert all(isinstance(formula, Condition) for _, _, formula in found)


def test_they_are_true_of_its_trace_and_false_of_another(query):
    trace = Judge(query).judge(controller(query)).trace
    assert [truth for _, _, truth in controller(query).laws(query.observed(trace, ["C_L"]).flows[0])] == [True] * 3
    changed = trace.with_columns(r=(*trace.columns["r"][:2], trace.columns["r"][2] + 1, trace.columns["r"][3]))
    assert "sender.rate_is_the_controllers at t=2" in check_trace(query, changed).faults


def test_a_range_of_rates_is_verified_as_a_controller_is():
    """Without a utilisation requirement, rates below the link rate hold, and rates that may exceed it do not."""
    query = queries.make("ideal", "infinite", 4, thresholds={"utilisation": "0"})
    verifier = Verifier(query, {"C_L"})
    assert verifier.verify(Range(Fraction(0), Fraction(1, 2))).verdict == HOLDS
    wide = verifier.verify(Range(Fraction(0), Fraction(2)))
    assert wide.verdict == VIOLATED
    assert wide.trace.controller is None and not check_trace(query, wide.trace).faults


@pytest.mark.parametrize("factor", [Fraction(1, 2), Fraction(2)])
def test_a_range_that_is_a_point_is_a_controller(query, factor):
    source = f"def rate(C_L, MSS, R_m):\n    return {factor} * C_L + MSS / R_m\n"
    verifier = Verifier(query, {"C_L"})
    point, decided = verifier.verify(Range(factor, factor)), verifier.verify(controller(query, source))
    assert (point.verdict, point.way) == (decided.verdict, decided.way)
