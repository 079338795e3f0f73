"""The corollaries of a proof: what follows from the lemmas about distant steps, and what must be refused."""

import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from ccmatic.proofs import contract

from ccmatic.contracts import Corollary, RecordingDict, at_steps, observed
from ccmatic.networks import traces
from ccmatic.proving import deduction
from ccmatic.proving.deduction import Deduction, Instant, NotDerived
from ccmatic.proving.prover import Prover
from support.sampling import each_nth

SAVED = Path("results/proofs/contract_T20-traces")
VALUES = {"most": Fraction(4), "pace": Fraction(1, 2), "utilisation": Fraction(3, 4), "queue": Fraction(48)}


@pytest.fixture(scope="module")
def prover():
    return Prover("contract", "contract")


#: The statements that these tests have proved, by their formulas. The corollaries of a proof share them, too.
PROVED = {}


def deduced(prover, script, values=VALUES):
    """Return the fault of a corollary with this deduction; None if it is derived."""
    about = prover.proof, prover.query, RecordingDict(values), prover.controller.state, PROVED
    return deduction._derivation(Corollary("it", script), *about).fault


def test_the_shares_follow(prover):
    findings = prover.derivations(VALUES)
    assert [each.fault for each in findings] == [None] * 4
    assert all("inequalities" in each.how for each in findings)


@pytest.mark.parametrize(
    ("share", "steps", "values"),
    [
        *each_nth(
            4,
            [
                ("1/4", 41, {}),  # 41 R_m show a fifth
                ("1/4", 65, {"most": Fraction(12)}),
                ("1/4", 65, {"pace": Fraction(2, 5)}),
                ("1/4", 65, {"utilisation": Fraction(1, 2)}),
            ],
        ),
        pytest.param("1/3", 10**6 + 1, {}, marks=pytest.mark.slow),  # the limit of the share for a pace of 1/2
    ],
)
def test_a_better_share_does_not_follow(prover, share, steps, values):
    forged = {**VALUES, **values}
    assert "does not follow" in deduced(prover, contract.shares(forged, Fraction(share), steps), forged)


def test_a_false_sum_is_refused(prover):
    rates = contract.ahead(0, 1, Fraction(51, 100))  # the lemma states 1/2
    assert "a sum grows" in deduced(prover, lambda d: [d.sum_of(rates) is None])
    fast = lambda d: [d.sum_of(contract.let_through, 7, contract.SPAN) is None]  # noqa: E731
    assert "a sum grows" in deduced(prover, fast)  # the lemma states 6 C·R_m in eight R_m


@pytest.mark.parametrize(
    "rule",
    [
        lambda d, begin, rates: d.relate(begin, d.crossing("u", begin)),  # the crossing is before the begin
        lambda d, begin, rates: d.relate(d.crossing("u", begin + 9), d.crossing("v", begin)),
        lambda d, begin, rates: d.crossing("u", begin - 1),
        lambda d, begin, rates: (d.crossing("u", begin), d.crossing("u", begin + 1)),
        lambda d, begin, rates: d.crossing("w", d.crossing("u", begin)),
        lambda d, begin, rates: d.lemmas(begin - 1),
        lambda d, begin, rates: d.laws(begin, 21),
        lambda d, begin, rates: d.laws(Instant("any"), 2),
        lambda d, begin, rates: d.grows(rates, begin - 1, 2),
        lambda d, begin, rates: d.begin(rates, rates),
    ],
)
def test_a_rule_that_does_not_apply_is_refused(prover, rule):
    def script(d):
        begin = d.begin(d.sum_of(contract.arrived), d.sum_of(contract.let_through))
        with pytest.raises(NotDerived):
            rule(d, begin, d.sum_of(contract.ahead(0, 1, Fraction(1, 2))))
        return [True]

    assert deduced(prover, script) is None


def test_a_sum_that_falls_does_not_grow_between_distant_steps(prover):
    def script(d):
        sums = d.sum_of(contract.arrived), d.sum_of(lambda x, t: -x.admitted(t), -100)
        begin = d.begin(sums[0], d.sum_of(contract.let_through))
        d.relate(d.crossing("u", begin), begin, sums[1])
        return [True]

    assert "does not fall" in deduced(prover, script)


def test_facts_without_a_solution_prove_nothing(prover):
    def script(d):
        x = d.laws(d.begin(d.sum_of(contract.arrived), d.sum_of(contract.let_through)), 2)
        d._facts.append(x.S[1] < x.S[0])
        return [x.S[1] > 1000]

    assert "contradict" in deduced(prover, script)
    assert "no condition" in deduced(prover, lambda d: [])


def test_a_premise_that_ends_is_refused(prover):
    """A premise about the first step of a window need not be true of the next window."""
    lemma = replace(prover.proof.lemmas[0], given=lambda x, c: x.flows[0].A[0] <= 1)
    proof = replace(prover.proof, lemmas=(lemma,))
    with pytest.raises(NotDerived, match="lasts"):
        Deduction(proof, prover.query, VALUES, prover.controller.state, {})


def laws_at(model, query, steps, trace):
    """Return the laws with their truth, for an execution that consists of some steps of a trace."""
    trace = replace(trace, columns={name: [column[t] for t in steps] for name, column in trace.columns.items()})
    trace = replace(trace, horizon=len(steps))
    x = observed(model, query.buffer, query.jitter, trace, ())
    return [(law.name, law.formula) for law in model.laws(x)]


def test_executions_meet_the_far_laws_at_any_steps(prover):
    """The laws that a model declares as `far` are true of any steps in order, also of equal ones; others are not."""
    model, query, draw, broken = prover.query.model, prover.query, random.Random(1), set()
    for file in sorted(SAVED.glob("*.json")):
        trace = traces.Trace.load(file)
        for _ in range(60):
            steps = sorted(draw.choices(range(trace.horizon), k=draw.randint(2, 6)))
            broken |= {name for name, truth in laws_at(model, query, steps, trace) if truth is not True}
    assert not broken & model.far
    assert broken & {"served_within_own_jitter", "let_through_by_tokens"}  # laws about consecutive steps


def test_steps_of_one_name_have_the_same_unknowns(prover):
    one, two = (at_steps(prover.query.model, names, prover.query.buffer, 1) for names in (["a", "b"], ["b", "c"]))
    assert one.flows[0].A[1].coefficients == two.flows[0].A[0].coefficients
    assert one.flows[0].A[0].coefficients != two.flows[0].A[0].coefficients
