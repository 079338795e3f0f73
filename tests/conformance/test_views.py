"""Every imitation of an execution conforms to the views: it has what they name, in the shapes that they say, and its
numbers are those of the others."""

from fractions import Fraction

import pytest
from ccmatic.proofs.loss_convergence_link import HORIZON, Link

from ccmatic.base import InputError
from ccmatic.contracts import Bounds, FlowView, NetworkView, ObservationWindow, ending, execution, following
from ccmatic.contracts.columns import Delay
from ccmatic.logic import Condition, Linear, linear, real
from ccmatic.networks.simulation import Path, simulate
from ccmatic.questions import query as queries
from support import own_columns

NUMBERS = ("A", "S", "L", "Ld", "r", "timely", "excess")
MODELS = ("ideal", "ccac", "cbr_delay", own_columns.__file__)


def check_flow(flow):
    """Raise AssertionError unless a flow is what `FlowView` says."""
    assert isinstance(flow, FlowView)
    number = Fraction if flow.numeric else Linear
    assert isinstance(flow.alpha, number)
    for name in NUMBERS:
        check_column(name, getattr(flow, name), flow.horizon, number)
    check_column("limited", flow.limited, flow.horizon, bool if flow.numeric else (bool, Condition))
    for columns in (flow.beliefs, flow.before_timeout, flow.state):
        for name, column in columns.items():
            check_column(name, column, flow.horizon, number)
    assert flow.beliefs.keys() == flow.before_timeout.keys()
    for name in "QF":
        delay = getattr(flow, name)
        assert delay is None or (isinstance(delay, Delay) and delay.at_least(flow.horizon - 1, 0) is True)
    for t in range(flow.horizon):
        same(flow.admitted(t), flow.A[t] - flow.L[t])
        same(flow.inflight(t), flow.A[t] - flow.L[t] - flow.S[t])
        if t and flow.limited[t] is False:
            same(flow.sent(t), flow.r[t])


def check_network(x, model=None):
    """Raise AssertionError unless an execution is what `NetworkView` says."""
    assert isinstance(x, NetworkView)
    check_flow(x)
    (flow,) = x.flows
    check_flow(flow)
    assert all(getattr(x, name) is getattr(flow, name) for name in (*NUMBERS, "Q", "F", "limited", "beliefs", "alpha"))
    same(x.C, 1)
    assert (x.beta is None) == (not x.buffer.finite)
    check_column("K", x.K, x.horizon, Fraction if x.numeric else Linear)
    assert x.own.keys() == {column.name for column in model.own_columns}
    for name, column in x.own.items():
        assert getattr(x, name) is column
        check_column(name, column, x.horizon, Fraction if x.numeric else Linear)
    for t in range(x.horizon):
        same(x.queue(t), x.A[t] - x.L[t] - x.K[t])


def check_column(name, column, horizon, kind):
    assert len(column) == horizon and all(isinstance(value, kind) for value in column), name


def same(one, other):
    difference = linear(one - other)
    assert difference.coefficients == {} and difference.constant == 0


@pytest.mark.parametrize("buffer", ["infinite", "any", "3"])
@pytest.mark.parametrize("name", MODELS, ids=("ideal", "ccac", "cbr_delay", "own_columns"))
@pytest.mark.parametrize("bounds", [Bounds.MOVE, Bounds.STAY, Bounds.DEPLOYED])
def test_unknowns(name, buffer, bounds):
    query = queries.make(name, buffer, 4)
    x = execution(query.model, 4, query.buffer, query.jitter, bounds)
    check_network(x, query.model)
    ends = [x.before_timeout[b.name][3] is not x.beliefs[b.name][3] for b in query.model.carried_over()]
    assert all(ends) == (bounds is Bounds.DEPLOYED)
    stays = [column[0] is column[3] for column in x.beliefs.values()]
    assert any(stays) == (bounds is Bounds.STAY)
    check_network(ending(query.model, x), query.model)
    after = following(query.model, x)
    check_network(after, query.model)
    assert not {str(after.A[t]) for t in range(1, 4)} & {str(x.A[t]) for t in range(4)}


def test_unknowns_of_a_sender_that_pauses():
    query = queries.make("ccac", "any", 4)
    x = execution(query.model, 4, query.buffer, query.jitter, pauses=True)
    check_network(x, query.model)
    assert all(isinstance(limited, Condition) for limited in x.limited)


@pytest.mark.parametrize("kind", ["ideal", "ccac", "cbr_delay"])
def test_numbers_of_a_trace_and_what_a_sender_sees_of_it(kind):
    """The sender counts bytes, the trace C·R_m; it sees no more than its own flow."""
    jitter = int(kind != "ideal")
    path = Path(kind, rate=20, jitter=jitter, buffer=30)
    seen = []
    run = simulate(path, lambda observation: seen.append(observation) or (30 if len(seen) < 9 else 8), 20, seed=2)
    trace = run.trace(start=4, horizon=10)
    query = queries.make(kind, str(trace.constants["beta"]), 10, jitter=jitter)
    trace = trace.measuring(query.model.measures)
    x = query.observed(trace)
    check_network(x, query.model)
    for name in (*NUMBERS[:5], "K"):
        assert tuple(getattr(x, name)) == trace.columns[name]
    for name in query.model.measures:
        assert getattr(x, name).delays(bool) == trace.columns[name]
    watched = ObservationWindow(query.model, 10, jitter, Fraction(1))
    for each in seen[4:14]:
        counted = {"A": each.sent, "S": each.delivered, "L": each.dropped, "Ld": each.lost}
        counted |= {"timely": each.timely, "excess": each.excess}
        watched.append(each.last, each.first, each.limited, r=each.rate, **counted)
    watched.beliefs.update({name: [Fraction(1)] * 10 for name in watched.beliefs})
    check_flow(watched)
    assert not isinstance(watched, NetworkView)
    for t in range(1, 10):
        for name in "AS":
            ours, its = getattr(x, name), getattr(watched, name)
            assert (ours[t] - ours[t - 1]) * 20 == its[t] - its[t - 1]
        assert all(x.Q.at_least(t, k) == watched.Q.at_least(t, k) for k in range(11))


def test_a_link_of_any_rate_has_what_laws_of_networks_read():
    """A link in the proof of the trade-off has no rates, delays or beliefs of a sender."""
    A, S, L, K = ([real(f"{name}_{t}") for t in range(HORIZON)] for name in "ASLK")
    link = Link(real("C"), real("beta"), A, S, L, K)
    assert isinstance(link, NetworkView) and isinstance(link.flows[0], FlowView)
    assert link.beliefs == {} and link.Q is None
    same(link.queue(3), A[3] - L[3] - K[3])
    assert link.Ld == [L[0], *L[:-1]]


def test_a_way_of_a_deployed_property_has_bounds_that_move():
    """Bounds that stay or hold start true, and a deployed controller's may not."""
    thresholds = {"proof": "cc_qdel", "lemma": "windows join", "constants": ""}
    query = queries.make("ccac", "any", 5, property="lemma", thresholds=thresholds)
    assert query.execution().bounds is Bounds.DEPLOYED
    for bounds in (Bounds.STAY, Bounds.HOLD):
        with pytest.raises(InputError, match="of deployed controllers"):
            query.execution(bounds)
