"""Links that follow a file: an exported counterexample does to who sends as in it what it did there, and a link trace
of mahimahi serves when it says. Flows that come later."""

from support import ROOT, TESTS, learners  # noqa: F401, I001 (first: it may skip the rest)

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ccmatic.contracts import load_definition, load_fluid
from ccmatic.learning import LinkOptions, Environment
from ccmatic.networks.trace_export import Scale, export
from ccmatic.networks.traces import Trace

GALLERY = ROOT / "results" / "gallery"

#: At which a trace is made bytes and seconds: 24 Mbit/s, 40 ms.
SCALE = Scale(Fraction(3_000_000), Fraction(1, 25), 1500)
BDP = int(SCALE.rate * SCALE.rtt)

fluid = load_fluid(load_definition("models", "MODEL", "cbr_delay"))


def drawn(links, **options):
    """A link that follows a file."""
    return jax.jit(LinkOptions(links=links, **options).draw, static_argnums=1)(jax.random.key(1), 1)[0]


@pytest.mark.parametrize("name", ["late_drain", "cc_qdel_small_buffer"])
def test_a_counterexample_happens_again_to_who_sends_as_in_it(name, tmp_path):
    trace = Trace.load(GALLERY / f"{name}.json")
    (tmp_path / "schedule.csv").write_bytes(export(trace, "schedule", SCALE)[0])
    links = drawn(f"schedule:{tmp_path}/schedule.csv", steps=trace.horizon - 1, rate=24, rtt=40)
    A, S, L = (np.array([float(value) for value in trace.columns[column]]) * BDP for column in "ASL")
    assert links.queue[0] == pytest.approx(A[0] - L[0] - S[0], abs=1500) and links.slot[0] == pytest.approx(0.04)

    def slot(queues, sent):
        t, bytes_ = sent
        return fluid.advance(links, queues, t, bytes_.reshape(1, 1))

    each = jnp.array(np.round(np.diff(A)).astype(np.int32))
    _, seen = jax.lax.scan(slot, fluid.begin(links, 32, 1, 1), (jnp.arange(len(each)), each))
    released, dropped = (np.cumsum(np.asarray(column)[:, 0, 0]) for column in (seen.released, seen.dropped))
    np.testing.assert_allclose(released, S[1:] - S[0], atol=1500)
    np.testing.assert_allclose(dropped, L[1:] - L[0], atol=1500)
    acked = np.cumsum(np.asarray(seen.acked)[:, 0, 0])
    np.testing.assert_array_equal(acked[1:], released[:-1])
    assert (dropped[-1] > 0) == (name == "cc_qdel_small_buffer")


def test_a_link_trace_serves_when_it_says(tmp_path):
    """Four packets in 50 ms, three of them in two slots: ten slots of 5 ms, whichever is the first."""
    (tmp_path / "link").write_text("10\n11\n11\n50\n")
    links = drawn(f"mahimahi:{tmp_path}/link", rate=1, rtt=20, interval="1/4", steps=40)
    served = np.asarray(links.capacity)[:, 0]
    assert links.slot[0] == pytest.approx(0.005)
    for start in range(10):
        ten = served[start : start + 10]
        assert ten.sum() == pytest.approx(4 * 1500, abs=10) and (ten == 0).sum() >= 7 and ten.max() >= 1500


@pytest.mark.slow
def test_counterexamples_are_mixed_with_other_links():
    file = TESTS / "saved" / "schedule.csv"
    asked = LinkOptions(links={f"schedule:{file}": 0.25, "constant": 0.75}, steps=10, rate=[16, 64], rtt=32)
    links = jax.tree.map(np.asarray, asked.draw(jax.random.key(2), 400)[0])
    keeps = links.keeps > 0
    assert keeps.mean() == pytest.approx(0.25, abs=0.07)
    assert links.slot == pytest.approx(np.where(keeps, 0.04, 0.032))
    rates = links.capacity[:, ~keeps] / 0.032 / 125_000
    assert (np.ptp(rates, axis=0) == 0).all() and {*np.round(rates[0])} == {16, 64}


def test_a_flow_that_has_not_come_yet_changes_nothing():
    environment = Environment(LinkOptions(flows=2, starts=1, rate=24, rtt=20), act="orca")
    links, state = jax.jit(environment.reset, static_argnums=1)(jax.random.key(1), 2)
    acted, doubled = jax.jit(environment.acted), jnp.ones((2, 2))
    before = acted(links, state, doubled).rate / state.rate
    np.testing.assert_allclose(before, [[2, 2], [1, 1]], rtol=1e-5)
    come = state._replace(interval=jnp.int32(50))
    np.testing.assert_allclose(acted(links, come, doubled).rate, 2 * state.rate, rtol=1e-5)
