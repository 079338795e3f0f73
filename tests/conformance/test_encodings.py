"""The engine's laws are those of docs/reference/encoding.md, and its two encodings of bounds answer alike."""

import pytest
from ccmatic.templates.two_branches import TEMPLATE

from ccmatic.logic.solving.solver import SAT, UNSAT
from ccmatic.questions import query as queries
from support.encodings import NETWORKS, laws_that_differ, not_implied
from support.frozen_and_moving import COMPARED, OVER_QUEUE, on_candidates, on_large_losses, on_windows
from support.sampling import each_nth


@pytest.mark.parametrize("kind, buffer, jitter", NETWORKS)
def test_the_laws_are_those_of_the_encoding(kind, buffer, jitter):
    """The engine's laws imply each law of docs/reference/encoding.md, and the other way round."""
    assert list(laws_that_differ(kind, buffer, jitter)) == []


@pytest.mark.parametrize("kind, buffer, jitter", NETWORKS)
def test_true_bounds_stay_true(kind, buffer, jitter):
    """The query for large losses takes it for granted (docs/reference/encoding.md, section 8, point 5). But C_U, as
    above."""
    query = queries.make(kind, buffer, 4, jitter=jitter)
    x, bounds = query.execution(), query.model.bounds()
    laws = [*query.laws(x), *query.model.belief_laws(x, {bound.name for bound in bounds})]
    last = [(bound.name, bound.holds(x, x.beliefs[bound.name][x.horizon - 1])) for bound in bounds]
    false = ["C_U"] if jitter > 1 and buffer in ("any", ">=2") else []
    assert list(not_implied([(law.name, law.formula) for law in laws], last)) == false


@pytest.mark.parametrize("model, buffer, horizon, thresholds, template", each_nth(2, COMPARED))
def test_frozen_and_moving_encodings_agree_on_candidates(model, buffer, horizon, thresholds, template):
    """Is there no progress? Asked of random candidates; some hold."""
    answers = list(on_candidates(model, buffer, horizon, thresholds, template))
    assert set(answers) == {(SAT, SAT), (UNSAT, UNSAT)}


@pytest.mark.parametrize("model, template", [("ccac", TEMPLATE), ("cbr_delay", OVER_QUEUE)])
def test_true_bounds_lose_no_large_loss(model, template):
    """The query for large losses that takes true bounds for granted answers as the one that does not."""
    answers = list(on_large_losses(model, template))
    assert set(answers) == {(SAT, SAT), (UNSAT, UNSAT)}


@pytest.mark.parametrize("model, buffer, horizon", each_nth(2, [query[:3] for query in COMPARED]))
def test_frozen_and_moving_encodings_agree_on_windows(model, buffer, horizon):
    """How much can be sent or served in a window, given a bound that does not move?"""
    answers = list(on_windows(model, buffer, horizon))
    assert set(answers) == {(SAT, SAT), (UNSAT, UNSAT)}
