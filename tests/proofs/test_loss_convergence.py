"""The proof of Theorem 6.1 step by step, the effect of each hypothesis, Table 3, and the family cc_probe_slow_k."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic import records
from ccmatic.answers.verification.verifier import HOLDS, UNDECIDED, VIOLATED
from ccmatic.base import definitions
from ccmatic.base.errors import InputError
from ccmatic.logic.terms import equal, every, real, times
from ccmatic.tradeoffs import cycle, family, figures, reproduce, statements
from ccmatic.tradeoffs.probe_slow import FluidLink, Loss, ProbeSlow, alike, run
from ccmatic.tradeoffs.statements import VACUOUS, Derivation, Hypothesis, Numbers, Statement
from support import ROOT
from support.sampling import each_nth

STEPS = {step.name: step for step in definitions.load("proofs", "STEPS", "loss_convergence")}
COQ = ROOT / "proofs" / "loss_convergence.v"
repeatably = settings(derandomize=True, deadline=None, max_examples=60)


@cache
def checked(name):
    return next(statements.check([STEPS[name]]))


@pytest.mark.parametrize("name", each_nth(3, STEPS))
def test_step_holds_and_needs_each_hypothesis(name):
    found = checked(name)
    assert found.finding.verdict == HOLDS
    assert len(found.broken) > 0
    assert {hypothesis: broken.verdict for hypothesis, _, broken in found.broken if broken.verdict != VIOLATED} == {}
    assert all(broken.witness for *_, broken in found.broken)
    assert found.good


@pytest.mark.parametrize(
    "step, hypothesis",
    [
        ("step 1: link II reproduces link I", "shallow buffer"),
        ("step 1: executions", "shallow buffer"),
        ("step 2: C_Llambda is tight", "shallow buffer"),
        ("step 4: growth in a round trip", "allowance"),
        ("step 4: induction, step", "allowance"),
        ("step 4: 7 round trips as a whole", "allowance"),
        ("appendix E: shorter probes", "shorter"),
        ("appendix E: probes as long", "as long"),
        ("appendix E: probes as long", "drained queue"),
    ],
)
def test_what_the_proof_rests_on_is_among_them(step, hypothesis):
    assert hypothesis in [name for name, *_ in checked(step).broken]


def test_a_witness_breaks_what_it_is_said_to_break():
    """By plain arithmetic, apart from the engine."""
    queue = _witness("step 1: link II reproduces link I", "shallow buffer")
    assert queue["beta_s"] > 2
    K, S = ([queue[f"{name}_{t}"] for t in range(12)] for name in ("K_II", "S"))
    assert any(S[t] > K[t] or S[t] < K[t - 2] for t in range(2, 12))
    raised = _witness("step 4: growth in a round trip", "allowance")
    assert raised["sent"] - raised["c"] * (raised["length"] + 1) > raised["f"]
    assert raised["c_next"] > raised["c"] + raised["f"]
    short = _witness("appendix E: shorter probes", "shorter")
    assert short["T_future"] >= short["T_past"]
    full = _witness("appendix E: probes as long", "drained queue")
    assert full["queue"] > full["alpha"] and full["loss"] > 2 * full["alpha"]


def _witness(step, hypothesis):
    return next(broken.witness for name, _, broken in checked(step).broken if name == hypothesis)


def test_steps_name_theorems_of_the_coq_file():
    if not COQ.exists():
        pytest.skip("proofs/loss_convergence.v is not here")
    theorems = set(re.findall(r"^\s*(?:Theorem|Lemma|Corollary)\s+(\w+)", COQ.read_text(), re.MULTILINE))
    named = {step.theorem for step in STEPS.values() if step.theorem}
    assert named <= theorems
    assert {
        "step_1_reproduces",
        "step_2_sound",
        "step_2_tight",
        "step_3_loss_risked",
        "step_4_no_faster",
        "loss_convergence",
    } <= named


def test_report_shows_steps_and_witnesses():
    found = [checked(name) for name in STEPS]
    text = statements.markdown(found)
    for name, step in STEPS.items():
        assert text.count(f"| {name} |") == 1 and f"### {name}" in text
        assert not step.theorem or f"`{step.theorem}`" in text
    assert text.count("| violated |") == sum(len(each.broken) for each in found)
    data = json.loads(records.line(statements.row(found[0])))
    assert data["verdict"] == "holds" and data["theorem"] == "step_1_reproduces" and data["good"]
    assert all(Fraction(value) is not None for each in data["broken"] for value in each["witness"].values())
    assert "holds" in statements.line(found[0]) and "needs each" in statements.line(found[0])


# The engine of statements.

SMALL = Statement(
    name="small",
    says="",
    equation="",
    theorem=None,
    covers="",
    laws=lambda x: [x("a") >= 0],
    hypotheses=(
        Hypothesis("b", "b ≥ 1", lambda x: x("b") >= 1, ("b ≥ 1/2", lambda x: x("b") >= Fraction(1, 2))),
        Hypothesis("c", "c ≥ a", lambda x: x("c") >= x("a")),
    ),
    conclusion=lambda x: times(x("b"), x("c")) >= x("a"),
)


def test_statement_holds_and_each_hypothesis_is_needed():
    assert SMALL.check().verdict == HOLDS
    half = SMALL.without("b")
    assert half.verdict == VIOLATED and Fraction(1, 2) <= half.witness["b"] < 1
    assert SMALL.without("c").verdict == VIOLATED


def test_false_statement_is_violated_by_numbers():
    found = replace(SMALL, conclusion=lambda x: times(x("b"), x("c")) > x("a")).check()
    assert found.verdict == VIOLATED
    assert found.witness["b"] * found.witness["c"] <= found.witness["a"] <= found.witness["c"]


def test_contradictory_hypotheses_say_nothing():
    assert replace(SMALL, laws=lambda x: [x("a") >= 0, x("c") < 0]).check().verdict == VACUOUS


def test_step_with_a_needless_hypothesis_is_not_good():
    idle = Hypothesis("d", "d ≥ 0", lambda x: x("d") >= 0)
    found = next(statements.check([replace(SMALL, hypotheses=(*SMALL.hypotheses, idle))]))
    assert found.finding.verdict == HOLDS and not found.good
    assert "not shown to need: d" in statements.line(found)


def test_false_step_is_not_good():
    never = Hypothesis("b", "b ≥ 1", lambda x: x("b") >= 1, ("b ≤ 0", lambda x: x("b") <= 0))
    false = replace(SMALL, hypotheses=(never,), conclusion=lambda x: x("a") < 0)
    found = next(statements.check([false]))
    assert found.finding.verdict == found.broken[0][2].verdict == VIOLATED and not found.good
    assert "Violated: a = " in statements.markdown([found])


def test_irrational_numbers_are_no_witness():
    root = replace(
        SMALL, laws=lambda x: [equal(times(x("a"), x("a")), 2), x("a") >= 0], conclusion=lambda x: x("b") > 1
    )
    assert root.check().verdict == UNDECIDED


def test_witness_that_breaks_no_hypothesis_tells_nothing_of_it():
    same = Hypothesis("b", "b ≥ 1", lambda x: x("b") >= 1, ("same", lambda x: x("b") >= 1))
    assert replace(SMALL, conclusion=lambda x: x("b") > 5, hypotheses=(same,)).without("b").verdict == UNDECIDED


@given(*[st.fractions(-9, 9, max_denominator=9)] * 4)
@repeatably
def test_products_of_terms_are_those_of_numbers(a, b, c, d):
    x, y = real("x"), real("y")
    term = times(times(x + a, y * b + c), x - d)
    values = {"x": a, "y": d}
    assert _value(term, values) == (values["x"] + a) * (values["y"] * b + c) * (values["x"] - d)
    assert times(a, x).coefficients == (x * a).coefficients and times(a, b) == a * b
    assert times(x, y).coefficients == times(y, x).coefficients


def _value(term, values):
    total = term.constant
    for monomial, coefficient in term.coefficients.items():
        product = coefficient
        for factor in monomial.args() if monomial.is_times() else (monomial,):
            product *= values[factor.symbol_name()]
        total += product
    return total


def test_numbers_of_a_witness_are_read_by_name():
    x = Numbers({"a": Fraction(1), "b_0": Fraction(2), "b_1": Fraction(3)})
    assert x("a") == 1 and x("a b_1") == [1, 3] and x.row("b", 2) == [2, 3]
    assert every(x("a") <= 1) is True


def test_wrong_algebra_is_found():
    a, b = sympy.symbols("a b", positive=True)
    right = Derivation("d", "", "", None, "", (a + b) ** 2, (("b is a", b, a),), 4 * a**2)
    assert right.check().verdict == HOLDS and right.without("b is a").verdict == VIOLATED
    wrong = replace(right, result=3 * a**2).check()
    assert wrong.verdict == VIOLATED and wrong.witness["a"] > 0


def test_constructed_executions_wait_and_jitter():
    """Else link II would have nothing to make up for."""
    path = reproduce.Path(
        "cbr_delay", Fraction(reproduce.RATE), jitter=reproduce.JITTER, buffer=Fraction(reproduce.RATE)
    )
    shown = reproduce.simulate(
        path, reproduce._sender(reproduce.RATE, 1, False), reproduce.STEPS, 1, jitter=reproduce._adding(1)
    )
    assert (shown.started - shown.sent).max() > path.step / 2 and (shown.released - shown.started).max() > path.step / 2
    assert (shown.released - shown.sent).max() <= path.bound and not shown.lost.any()


# Fluid links.

phases = st.lists(
    st.tuples(*[st.fractions(0, 9, max_denominator=4)] * 2, st.fractions(Fraction(1, 4), 3, max_denominator=4)),
    min_size=1,
    max_size=6,
)


@given(st.fractions(Fraction(1, 4), 4, max_denominator=4), st.fractions(0, 4, max_denominator=4), phases)
@repeatably
def test_fluid_is_conserved_and_loses_only_overflow(rate, buffer, sends):
    link, sent = FluidLink(rate, buffer), Fraction(0)
    for even, more, duration in sends:
        link.send(even, duration)
        link.burst(more)
        sent += even + more
        assert 0 <= link.queue <= buffer
        assert link.served + link.lost + link.queue == sent
        assert link.served_by(link.time) == link.served <= rate * link.time
    assert sum(loss.lost for loss in link.losses) == link.lost
    assert all(later >= earlier for (_, earlier), (_, later) in pairwise(link.service))


def test_fluid_by_hand():
    link = FluidLink(Fraction(1), Fraction(2))
    link.send(4, 1)
    assert (link.queue, link.lost, link.losses) == (2, 1, [Loss(Fraction(2, 3), Fraction(1), Fraction(1))])
    link.send(0, 3)
    assert (link.queue, link.served, link.served_by(Fraction(2))) == (0, 3, 2)
    link.burst(3)
    assert (link.queue, link.lost) == (2, 2)


def test_links_that_lose_other_bytes_are_told_apart():
    """As when the whole of a probe is paced: P2 then loses throughout, P1 at its end."""
    links = list(cycle.paths(Fraction(10), Fraction(1)).values())
    for link in links:
        link.send(21, 1)
    assert {link.lost for link in links} == {1}
    assert alike(links, 1) is not None


def test_links_too_far_apart_for_jitter_are_told_apart():
    slow, fast = FluidLink(Fraction(1), Fraction(9)), FluidLink(Fraction(9), Fraction(9))
    for link in (slow, fast):
        link.send(4, 1)
        link.send(0, 8)
    assert alike([slow, fast], 3) is None
    assert alike([slow, fast], Fraction(5, 2)) == Fraction(7, 2)


# Table 3.


@pytest.mark.parametrize("rate, probe", [(100, 1), (100, 4), (10, "1/2"), (5, 1), (1000, "7/3")])
def test_table_3(rate, probe):
    table = cycle.table_3(rate, probe)
    c, T = Fraction(rate), Fraction(probe)
    counted = {(path, phase): found for path, phase, _, found, _ in table.rows}
    assert table.same
    for path, share in (("P1", 1), ("P2", T / (T + 1))):
        probing, first, second, whole = (counted[path, phase] for phase in (*cycle.PHASES, "Cycle"))
        assert [each["sent"] for each in (probing, first, second)] == [c * (T + 1) + 1, 1, c - 2]
        assert [each["q_U"] for each in (probing, first, second)] == [c + 1, 2, 0]
        assert [each["loss"] for each in (probing, first, second)] == [1, 0, 0]
        assert whole["serviced"] == c * (T + 2) - 1
        assert whole["utilisation"] == share * (1 - 1 / (c * (T + 2)))
    assert [counted["P1", phase]["queue"] for phase in cycle.PHASES] == [c, 1, 0]
    assert [counted["P2", phase]["queue"] for phase in cycle.PHASES] == [0, 0, 0]


def test_table_3_says_where_the_paper_differs():
    *rows, last = cycle.rows(cycle.table_3())
    differs = {(row.path, row.phase): row.paper for row in rows if row.paper}
    assert differs["P1", "Drain₁"] == {"queue": 2}
    assert differs["P1", "Drain₂"] == {"serviced": 100, "utilisation": 1}
    assert ("P1", "Probe") not in differs and ("P2", "Probe") not in differs
    assert last.same is True
    assert "| P1 | Drain₁ | 1 | 2 | 100 | 1 (2) | 0 | 1 |" in cycle.markdown(cycle.table_3())


@pytest.mark.parametrize("rate, probe", [(100, 0), (100, -1), (4, 1)])
def test_table_3_of_bad_input(rate, probe):
    with pytest.raises(InputError):
        cycle.table_3(rate, probe)


# The family.


@cache
def points():
    return tuple(family.points(rate=200))


def test_family_lies_above_the_bound_and_near_it():
    assert len(points()) == len(family.ALLOWANCES) * len(family.PROBES)
    for point in points():
        assert (
            point.bound
            <= point.convergence
            <= (point.probe + 2) * (point.probe + 1) / 2 * point.bound * Fraction(11, 10)
        )
        assert 0 < point.loss <= 2 * point.allowed
        assert point.utilisation_P2 <= point.probe / (point.probe + 1)
    assert max(point.convergence / point.bound for point in points() if point.probe == Fraction(1, 4)) < Fraction(3, 2)


def test_family_trades_loss_for_time_and_time_for_utilisation():
    by = {(point.allowance, point.probe): point for point in points()}
    for probe in family.PROBES:
        mine = [by[name, probe] for name in ("1", "log2(C)", "sqrt(C)", "C")]
        assert all(a.convergence > b.convergence and a.loss < b.loss for a, b in pairwise(mine))
    for name in family.ALLOWANCES:
        mine = [by[name, probe] for probe in family.PROBES]
        assert all(a.convergence < b.convergence and a.utilisation_P2 < b.utilisation_P2 for a, b in pairwise(mine))


def test_probes_lose_at_most_twice_the_allowance_until_they_are_seen_to():
    sender, link = ProbeSlow(lambda rate: rate / 5, 2, 10), FluidLink(Fraction(77), Fraction(77, 3))
    while not link.lost:
        believed = sender.rate
        run(sender, link)
        assert believed <= 77 and link.lost <= 2 * believed / 5
    assert sender.rate == believed


def test_queue_is_drained_before_each_probe():
    """q_U is never below the queue, and at most f; with f = C that takes three drains now and then."""
    sender, link, drains = ProbeSlow(lambda rate: rate, 1, 10), FluidLink(Fraction(10), Fraction(10)), set()
    for _ in range(20):
        passed = run(sender, link)
        drains.add(len(passed) - 1)
        assert all(each.queue <= each.q_U for each in passed) and sender.queue <= sender.allowed
    assert drains == {2, 3}


def test_bound_is_the_theorems():
    assert family.bound(lambda rate: 1, 100, 1, Fraction(1, 2)) == (50, 75)
    assert family.bound(lambda rate: rate, 100, 1, 1) == (7, 14)


@pytest.mark.parametrize(
    "given",
    [
        {"start": 200},
        {"buffer": 2},
        {"buffer": 0},
        {"start": 1},
        {"probes": (0,)},
        {"allowances": {"0": lambda rate: 0}},
    ],
)
def test_family_of_bad_input(given):
    with pytest.raises(InputError):
        list(family.points(**{"rate": 100, **given}))


@pytest.mark.slow
def test_family_figure_and_table(tmp_path):
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        figures.draw_family(points(), file, [("cubic", 30, 40)])
    drawn = files[0].read_text()
    assert drawn == files[1].read_text() and "cubic" in drawn and "f = log2(C)" in drawn and "T* = 1/4" in drawn
    with pytest.raises(InputError):
        figures.draw_family(points(), tmp_path / "a.txt")
    assert family.markdown(points()).count("\n") == len(points()) + 2
