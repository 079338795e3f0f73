"""Explanations: the numbers of a sentence are those that decide, and agree with what is found true or false."""

import json
import operator
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ccmatic as cm
from ccmatic import records
from ccmatic.answers.explanation import explain, legend
from ccmatic.answers.explanation.reasons import leaf_text, number
from ccmatic.answers.verification import check_trace, replay
from ccmatic.contracts import AnyOf, AtMost, Compared, Property
from ccmatic.controllers import parse
from ccmatic.networks.traces import Trace
from ccmatic.worlds.text import listing, way_taken
from support import ROOT
from support.cli import run
from support.executions import KINDS, executions

DOCS = ROOT / "results" / "gallery"
LATE_DRAIN = DOCS / "late_drain.json"

SAYS = {
    "less than": operator.lt,
    "at most": operator.le,
    "more than": operator.gt,
    "at least": operator.ge,
    "not less than": operator.ge,
    "not more than": operator.le,
}
NUMBER = r"(≈ \S+|-?\d[\d./]*)"


def numbers(text):
    return Fraction(text.removeprefix("≈ "))


@pytest.mark.parametrize("kind", KINDS)
def test_what_sentences_say_is_so(kind):
    """For executions, and for a false count of bytes that makes beliefs false.

    True parts explain every violated objective. Each part, parsed back, holds for its own numbers.
    """
    seen = set()

    @settings(max_examples=40, deadline=None, derandomize=True, database=None)
    @given(executions(kind), st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)]))
    def tell(sampled, looseness):
        query = sampled.query
        for scale in (1, 2, Fraction(1, 2)):
            x = query.observed(sampled.with_beliefs(looseness, scale), query.units())
            met = query.property.objectives(query.model, x)
            reasons = query.property.reasons(query.model, x)
            assert {name: reason.condition for name, reason in reasons.items()} == met
            for name, reason in reasons.items():
                leaves = reason.leaves(met[name])
                assert leaves and not reason.leaves(not met[name])
                seen.add((name, met[name]))
                for leaf in leaves:
                    assert leaf.reason.condition is leaf.truth
                    says_so(leaf, x.horizon - 1)

    tell()
    assert {truth for name, truth in seen if name == "utilises the link, or speeds up"} == {True, False}
    assert {truth for name, truth in seen if name == "beliefs stay true"} == {True, False}


def says_so(leaf, end):
    text = leaf_text(leaf, end)
    match leaf.reason:
        case Compared(since=None) as reason:
            value, words, threshold = re.search(rf": {NUMBER}[^,]*, ([a-z ]+) {NUMBER}", text).groups()
            exact = "≈" not in value + threshold
            assert not exact or (numbers(value), numbers(threshold)) == (reason.value, reason.threshold)
            assert not exact or SAYS[words](numbers(value), numbers(threshold))
        case Compared() as reason:
            assert ("goes from" in text) == (reason.value != reason.threshold)
            assert text.startswith(reason.what) and f"t = {end}" in text
        case AtMost() as reason:
            count, words, most = re.search(r"^(\d+) .*, (more than|at most) (\d+)$", text).groups()
            assert SAYS[words](int(count), int(most))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("3", "3"),
        ("-17/2", "-8.5"),
        ("1/3", "1/3"),
        ("1/10000", "0.0001"),
        ("100000000000000000001/2", "50000000000000000000.5"),
        ("2/300001", "≈ 0.000006667"),
        (f"1{'0' * 400}/7919", "≈ 1.263e+396"),
    ],
)
def test_numbers_are_short_and_right(value, text):
    assert number(Fraction(value)) == text


def test_a_violation_is_told_with_its_numbers():
    trace = Trace.load(LATE_DRAIN)
    told_of = explain(trace)
    shrink, inflight = told_of.broken
    assert "C_L is 1 C at t = 0 and at t = 6" in shrink
    assert "inflight at t = 6: 8.5 C·R_m, more than 8.3 (4·C·(R_m + D) + 3·MSS)" in inflight
    assert "the rate is 0.5 C at t = 1 and at t = 6" in inflight and "from 5.5 at t = 1 to 8.5" in inflight
    assert told_of.network == (
        "Jitter held back bytes that the link had let through: 1 C·R_m at t = 0, 1 C·R_m at t = 6.",
    )
    assert "the previous row" in told_of.sender[0]


def test_losses_are_told_with_steps_and_amounts():
    trace = Trace.load(DOCS / "cc_qdel_small_buffer.json")
    lost = next(text for text in explain(trace).network if "lost" in text)
    L = trace.columns["L"]
    for t in range(1, trace.horizon):
        assert (f"{number(L[t] - L[t - 1])} C·R_m at t = {t}" in lost) == (L[t] > L[t - 1])


@pytest.mark.slow
def test_a_lemma_is_told_with_its_constants():
    for file in (DOCS.parent / "proofs" / "cc_qdel_T10-traces").glob("*.json"):
        trace = Trace.load(file)
        report = replay(trace)
        (text,) = explain(trace, report=report).broken
        assert report.query.property.lemma in text and report.query.property.constants in text


def test_rates_that_nobody_chose():
    trace = Trace.load(LATE_DRAIN)
    nobody = Trace(trace.horizon, trace.constants, trace.columns, trace.query)
    report = check_trace(replay(trace).query, nobody)
    assert explain(nobody, report=report).sender == ("No controller chose the rates: this can happen for any rates.",)


def test_a_property_that_gives_no_numbers_is_told_by_its_names():
    class Silent(Property):
        def objectives(self, model, x):
            return {"is quiet": False}

    (reason,) = Silent().reasons(None, None).values()
    assert leaf_text(reason.leaves(False)[0], 5) == "false: is quiet"


def test_bounds_that_a_model_does_not_have_are_said_to_be_none():
    """The sentence was empty: "'bounds shrink' is not met: ."."""
    query = cm.Query(cm.Network("ccac2021", "infinite", 6, delay="executions"), "synthesis_invariant")
    sentences = cm.explain(cm.verify("bbr", query).trace).broken
    assert sentences[0] == "'bounds shrink' is not met: false: a bound shrinks, but ccac2021 has none."


def test_a_reason_without_parts_is_told_by_its_name(monkeypatch):
    trace = Trace.load(LATE_DRAIN)
    report = replay(trace)
    reasons = {name: AnyOf(()) for name in report.unmet}
    monkeypatch.setattr(type(report.query.property), "reasons", lambda self, model, x: reasons)
    assert f"'{report.unmet[0]}' is not met." in explain(trace, report=report).broken


def test_a_reason_that_says_other_than_was_found_is_not_told(monkeypatch):
    trace = Trace.load(LATE_DRAIN)
    report = replay(trace)
    wrong = {"bounds shrink": Compared("something", Fraction(2), ">", Fraction(1))}
    monkeypatch.setattr(type(report.query.property), "reasons", lambda self, model, x: wrong)
    assert explain(trace, report=report).broken[0] == "'bounds shrink' is not met: false: bounds shrink."


def test_every_column_has_a_meaning():
    trace = Trace.load(LATE_DRAIN)
    says = legend(replay(trace).query, trace.columns)
    assert says.keys() == trace.columns.keys() and "previous row" in says["r"]


def test_replay_prints_and_carries_it(tmp_path):
    told_of = explain(LATE_DRAIN)
    code, out, _ = run("replay", LATE_DRAIN, cwd=tmp_path)
    assert code == 0 and str(told_of) in out
    code, out, _ = run("replay", LATE_DRAIN, "--json", cwd=tmp_path)
    assert code == 0 and json.loads(out)["explanation"] == records.data(told_of.record())


def test_verify_prints_and_carries_it(tmp_path):
    network = ("--model", "ccac", "--buffer", "infinite", "--horizon", "5")
    code, out, _ = run("verify", "always_double", *network, cwd=tmp_path)
    assert code == 1 and "is not met" in out and "No exception applies" in out
    code, out, _ = run("verify", "always_double", *network, "--json", cwd=tmp_path)
    assert code == 1 and json.loads(out)["explanation"]["broken"]


NESTED = """
def rate(C_L, qdel_L, R_m, MSS):
    if qdel_L > 4 * R_m:
        if C_L > MSS / R_m:
            return C_L / 2
        return C_L
    elif qdel_L > 2 * R_m and C_L > 2 * MSS / R_m:
        return 3 * C_L
    else:
        return 4 * C_L
"""


@pytest.mark.parametrize("C_L", [1, 2, 3])
@pytest.mark.parametrize("qdel_L", [0, 3, 5])
def test_the_lines_that_are_read_are_those_of_the_rate(C_L, qdel_L):
    controller = parse(NESTED)
    values = {"C_L": Fraction(C_L), "qdel_L": Fraction(qdel_L), "R_m": Fraction(1), "MSS": Fraction(1)}
    taken = way_taken(controller.body, values)
    lines = listing(controller.body)
    rate = parse(f"def rate(C_L):\n    return {lines[max(taken)].split('rate = ')[1].replace('·', '*')}\n")
    assert rate.rate(values) == controller.rate(values)
    assert taken[max(taken)] is True
    assert all(("if" in lines[line]) for line in taken if line != max(taken))


def test_several_violations_of_one_expectation_are_told_with_their_flows_and_steps():
    network = cm.Network("two_flows", "2", 5)
    query = cm.Query(network, "expects", what="share > 20% over every 2 rtt", given="S_f[0][1] == S_f[0][4]")
    (told,) = cm.explain(cm.verify("reno", query).trace).broken
    assert re.search(r": bytes served of flow 1 in 2 steps at t = \d: 0 C·R_m, not more than .*; also at t = \d", told)
    query = cm.Query(network, "expects", what="no timeout", given="And(timeout_f[0][3], timeout_f[1][3])")
    (told,) = cm.explain(cm.verify("reno", query).trace).broken
    assert "no timeout of flow 1 at t = 3" in told and "no timeout of flow 2 at t = 3" in told
