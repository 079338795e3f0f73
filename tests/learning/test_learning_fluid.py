"""Links as fluids: no byte comes from nowhere, none is forgotten, and each leaves when a first-in first-out queue lets
it."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

from functools import cache

import numpy as np
import pytest


import jax
import jax.numpy as jnp

from ccmatic.contracts import load_definition, load_fluid
from ccmatic.learning import LinkOptions

SLOTS = 60

fluid = load_fluid(load_definition("models", "MODEL", "cbr_delay"))


@cache
def case(name):
    """What becomes of random flows on links of one of CASES."""
    return run(LinkOptions(steps=SLOTS, **CASES[name]), 7)


def run(asked, seed, most=3.0):
    """Flows that send at random rates: the Links, Queues and Measurements of each slot, and the bytes sent (NumPy)."""
    links, _ = jax.jit(asked.draw, static_argnums=1)(jax.random.key(seed), 5)
    rng = np.random.default_rng(seed)
    mean = np.asarray(links.capacity).mean(0) / asked.flows
    sent = (rng.uniform(0, most, (SLOTS, asked.flows, 5)) * mean).astype(np.int32)
    queues = fluid.begin(links, asked.longest, asked.longest_rtt, asked.longest_jitter)

    def slot(queues, t):
        queues, seen = fluid.advance(links, queues, t, jnp.array(sent)[t])
        return queues, (queues, seen)

    _, (after, seen) = jax.jit(lambda q: jax.lax.scan(slot, q, jnp.arange(SLOTS)))(queues)
    return jax.tree.map(np.asarray, (links, after, seen)), sent


CASES = {
    "one flow": {"buffer_bdp": [0.1, 1, 4], "jitter": [0, 4, 12], "loss": [0, 0.05]},
    "all that jitter of many slots may hold": {"jitter": [20, 40], "rtt": 16, "pattern": "latest"},
    "three flows": {"flows": 3, "rtt": {"low": 16, "high": 64}, "buffer_bdp": [0.2, 2], "jitter": [0, 7], "loss": 0.02},
    "every kind of link": {
        "links": {"constant": 0.4, "changing": 0.3, "smooth": 0.3},
        "period": 0.2,
        "interval": "1/2",
    },
}

#: What takes long to compile is tested as slow.
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name != "three flows")) for name in CASES]


@pytest.mark.parametrize("name", NAMES)
def test_bytes_are_conserved(name):
    (links, after, seen), sent = case(name)
    accepted, S = (np.cumsum(x, axis=0, dtype=np.int64) for x in (seen.accepted, seen.released))
    inside, queue = after.inside.sum(1), np.maximum(after.waiting, 0)
    assert (seen.accepted >= 0).all() and (seen.released >= 0).all() and (seen.accepted <= sent).all()
    assert (accepted - S == after.inside).all() and (after.inside >= 0).all()
    assert (inside == queue + after.held).all() and (after.held >= 0).all()
    assert (queue <= links.buffer).all()
    for flow, link in np.ndindex(*links.rtt.shape):
        r = links.rtt[flow, link]
        assert (seen.acked[r:, flow, link] == seen.released[:-r, flow, link]).all()
        lost = sent[:, flow, link] - seen.accepted[:, flow, link]
        assert (seen.lost[r:, flow, link] == lost[:-r]).all() and (seen.lost[:r, flow, link] == 0).all()
    assert (sent.sum(0) > accepted[-1]).any()


@pytest.mark.parametrize("name", NAMES)
def test_a_link_serves_at_its_rate_while_anything_waits_and_jitter_holds_no_longer_than_asked(name):
    (links, after, seen), _ = case(name)
    came, queue = seen.accepted.sum(1), np.maximum(after.waiting, 0)
    before = np.concatenate([np.zeros_like(queue[:1]), queue[:-1]])
    served = before + came - queue
    capacity = links.capacity[:SLOTS]
    assert (served >= 0).all() and (served <= capacity).all()
    assert (served[queue > 0] == capacity[queue > 0]).all()
    K, S = np.cumsum(served, 0, dtype=np.int64), np.cumsum(seen.released.sum(1), 0, dtype=np.int64)
    assert (S <= K).all()
    for link, jitter in enumerate(np.asarray(links.jitter)):
        whole = int(np.ceil(jitter))
        assert (S[whole:, link] >= (K[:-whole, link] if whole else K[:, link])).all()


@pytest.mark.slow
def test_losses_are_where_the_buffer_is_full_and_shared_by_rate():
    asked = LinkOptions(steps=SLOTS, flows=2, buffer_bdp=0.5, rtt=32)
    (links, after, seen), sent = run(asked, 3, most=4)
    dropped = sent - seen.accepted
    full = (after.waiting == links.buffer)[:, None] & np.ones_like(dropped, bool)
    assert dropped.sum() > 0 and (dropped[~full] == 0).all()
    some = dropped.sum(1) > 100
    shares = dropped[:, 0][some] / dropped.sum(1)[some]
    assert np.abs(shares - sent[:, 0][some] / sent.sum(1)[some]).max() < 0.03


def test_bytes_leave_first_in_first_out():
    """Against a queue of single bytes, sent evenly, each with its flow."""
    asked = LinkOptions(steps=SLOTS, flows=2, rtt=32, rate=0.2, buffer_bdp=2)
    (_, after, seen), _ = run(asked, 5)
    for link in range(5):
        fifo, t_of = [], []
        for t in range(SLOTS):
            counts = seen.accepted[t, :, link]
            each = np.concatenate([np.full(n, flow) for flow, n in enumerate(counts)])
            order = np.argsort(np.concatenate([(np.arange(n) + 0.5) / n for n in counts if n]), kind="stable")
            fifo += [*each[order]]
            t_of += [*(t - 1 + (np.arange(len(each)) + 1) / max(1, len(each)))]
            gone = int(seen.released[t, :, link].sum())
            found = np.bincount(fifo[:gone], minlength=2) if gone else np.zeros(2)
            assert np.abs(found - seen.released[t, :, link]).max() <= 3
            del fifo[:gone], t_of[:gone]
            if t_of:
                assert after.age[t, link] == pytest.approx(t - t_of[0], abs=0.02)
            else:
                assert after.age[t, link] == 0


@pytest.mark.slow
def test_random_losses_come_as_often_as_asked():
    links, _ = LinkOptions(steps=1, loss=0.1).draw(jax.random.key(1), 3)
    links = links._replace(loss=jnp.array([0.001, 0.02, 0.05]))
    sent, luck = jnp.array([[100, 100, 1000]]) * 1500, jax.random.uniform(jax.random.key(2), (60_000, 1, 3))
    lost = np.asarray(jax.jit(jax.vmap(lambda luck: fluid.lost_at_random(links, sent, luck)))(luck))[:, 0] / 1500
    mean = [0.1, 2, 50]
    assert lost.mean(0) == pytest.approx(mean, rel=0.03)
    assert lost.var(0) == pytest.approx(mean, rel=0.05)


def test_flows_share_whole_numbers_and_all_of_them():
    rng = np.random.default_rng(0)
    most = rng.integers(0, 50, (4, 1000))
    total = (most.sum(0) * rng.uniform(0, 1, 1000)).astype(int)
    wish = rng.integers(0, 60, (4, 1000))
    parts = np.asarray(fluid.share(jnp.array(total), jnp.array(wish), jnp.array(most)))
    assert (parts.sum(0) == total).all() and (parts >= 0).all() and (parts <= most).all()
