"""Senders that send less than their rate, as their application has nothing to send: beliefs stay true
(docs/reference/encoding.md, section 6 assumes that new bytes are always sent), by the solver, over every execution of
the models in which any steps are."""

import pytest
from ccmatic.models.beliefs import link_rate, probing

from ccmatic.contracts.execution import execution
from ccmatic.logic.solving.solver import SAT, UNSAT, Checker
from ccmatic.logic.terms import no, some
from ccmatic.questions import query as queries
from support.planting import defined

CASES = [
    (kind, buffer, horizon)
    for kind, horizon in (("ideal", 5), ("ccac", 5), ("cbr_delay", 4), ("varying", 5), ("lossy", 5))
    for buffer in ("infinite", "1/2", "any")
    if (kind, buffer) != ("lossy", "infinite")
] + [("policer", "1/2", 5), ("policer", "any", 5)]


def answer(kind, buffer, horizon, *conditions):
    """Whether some execution, with limited steps, from true beliefs meets all conditions, each of the execution."""
    about = {"delay": "executions", "property": "avoids", "thresholds": {"what": "T < 0"}}
    model = kind if kind == "policer" else f"{kind}:application=pauses"
    query = queries.make(model, buffer, horizon, **about)
    x = execution(query.model, horizon, query.buffer, query.jitter, pauses=True)
    checker = Checker()
    for law in [*query.laws(x), *query.model.belief_laws(x)]:
        checker.add(law.formula)
    for condition in conditions:
        checker.add(condition(query.model, x))
    return checker.check()


def false_at_end(model, x):
    """Some belief, true at first, is not at the end."""
    bounds = [no(bound.holds(x, x.beliefs[bound.name][x.horizon - 1])) for bound in model.bounds()]
    return some(bounds, [no(state.holds_at(x, x.horizon - 1)) for state in model.true_states()])


def limited(model, x):
    """In some step the sender sends nothing at all."""
    return some([x.A[t] <= x.A[t - 1] for t in range(1, x.horizon)])


@pytest.mark.parametrize("kind, buffer, horizon", CASES)
def test_beliefs_stay_true(kind, buffer, horizon):
    assert answer(kind, buffer, horizon, limited) == SAT
    assert answer(kind, buffer, horizon, false_at_end) == UNSAT


@pytest.mark.parametrize("kind", ["ideal", "ccac", "cbr_delay"])
def test_limited_steps_must_not_tell(kind, monkeypatch):
    """Were they taken for utilised ones, C_U would turn false."""
    defined(link_rate.PROGRAM, "and not limited", "")(monkeypatch)
    assert answer(kind, "any", 4, false_at_end) == SAT


def test_limited_bytes_may_queue(monkeypatch):
    """Were they drained as if they had come evenly, q_U would turn false."""
    defined(probing.PROGRAM, "sending if limited else 0", "0")(monkeypatch)
    assert answer("cbr_delay", "any", 3, false_at_end) == SAT
