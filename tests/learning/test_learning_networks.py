"""Environments on links that police, mark, or bound their random losses: their laws, faults, packets and refusals."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import numpy as np
import pytest


import gymnasium
import jax
import jax.numpy as jnp

from ccmatic.base import InputError
from ccmatic.contracts import load_definition, load_fluid
from ccmatic.learning import Environment, LinkOptions, RolloutPolicy, lawful, sender
from ccmatic.learning.envs import rollout
from ccmatic.networks.simulation import Path, simulate
from support.sampling import each_nth


def episode(**options):
    """Random rates on a few links."""
    key = jax.random.key(4)

    def act(key, links, state, seen):
        key, now = jax.random.split(key)
        return key, 6e6 * (jax.random.uniform(now, seen.shape[:2]) ** 2 + 0.01)

    environment = Environment(LinkOptions(**{"steps": 60, "rate": [12, 32], "rtt": 32} | options), act="rate")
    return rollout(environment, RolloutPolicy(lambda links: key, act), key, 6)


def moved(count, seen):
    """Return columns in which chance loses one in `count` of the accepted bytes."""
    return {"unlucky": seen.unlucky + seen.accepted // count, "accepted": seen.accepted - seen.accepted // count}


def test_policers_obey_their_laws_and_planted_faults_break_them():
    good = episode(model="policer", buffer_bdp=[0.2, 2], jitter=[0, 4, 40])
    checked = lawful(good, windows=40)
    assert checked.windows == 40 and not checked.broken and good.seen.dropped.sum() > 0
    faults = {
        "a bucket that is full at once": {"kept": np.maximum(good.seen.kept, good.links.buffer)},
        "a bucket that never fills": {"kept": good.seen.kept // 2},
        "losses although the bucket has tokens": {"dropped": good.seen.dropped + 1000},
        "bytes that pass before they come": {"released": np.roll(good.seen.released, -2, axis=0)},
        "later than jitter allows": {"released": np.roll(good.seen.released, 3, axis=0)},
    }
    for what, fault in faults.items():
        assert lawful(good._replace(seen=good.seen._replace(**fault))).broken, what


def test_losses_by_chance_keep_their_bound_and_planted_faults_break_it():
    good = episode(model="lossy", loss=[0.01, 0.1], burst=3, buffer_bdp=2, jitter=[0, 4])
    checked, sent = lawful(good, windows=40), (good.seen.accepted + good.seen.dropped + good.seen.unlucky).sum((0, 1))
    assert checked.windows == 40 and not checked.broken
    assert good.seen.unlucky.sum((0, 1)) / sent == pytest.approx(good.links.loss, rel=0.15)
    assert lawful(good._replace(seen=good.seen._replace(**moved(5, good.seen)))).broken
    assert lawful(good._replace(links=good.links._replace(loss=good.links.loss / 4))).broken


def test_no_interval_loses_more_by_chance_than_the_share_and_a_burst():
    """In whole bytes, over all pairs of instants."""
    good = episode(model="lossy", loss=[0.01, 0.1], burst=3, buffer_bdp=2)
    seen, links = good.seen, good.links
    every = seen.accepted + seen.dropped + seen.unlucky
    sent, lost = (column.sum(1).cumsum(0, dtype=np.int64) for column in (every, seen.unlucky))
    over = lost - links.loss.astype(float) * sent
    assert 2 * 1500 < (over - np.minimum.accumulate(over, axis=0)).max() <= 3 * 1500


def test_marks_obey_their_laws_and_planted_faults_break_them():
    good = episode(model="marking", threshold=[0.1, 0.5], buffer_bdp=[0.5, 2], jitter=[0, 4, 40])
    checked, marks = lawful(good, windows=60), good.seen.marks
    assert checked.windows == 60 and not checked.broken
    assert marks.accepted.sum() > 0.05 * good.seen.accepted.sum() and good.seen.dropped.sum() > 0
    one = (marks.accepted > 0) * np.int32(1)
    faults = {
        "a byte too many": marks._replace(accepted=marks.accepted + one),
        "a byte too few": marks._replace(accepted=marks.accepted - one),
        "every byte": marks._replace(accepted=good.seen.accepted, released=good.seen.released),
        "no byte": marks._replace(accepted=marks.accepted * 0, released=marks.released * 0),
        "delivered early": marks._replace(released=np.roll(marks.released, -1, axis=0)),
        "delivered late": marks._replace(released=np.roll(marks.released, 1, axis=0)),
    }
    for what, fault in faults.items():
        assert lawful(good._replace(seen=good.seen._replace(marks=fault))).broken, what


@pytest.mark.parametrize("flows", each_nth(2, [1, 3]))
def test_every_mark_is_delivered_and_acknowledged_once(flows):
    rtt = [16, 32] if flows > 1 else 32
    seen = episode(model="marking", threshold=0.2, buffer_bdp=1, jitter=5, flows=flows, rtt=rtt).seen
    accepted, released, acked = (np.cumsum(column, axis=0, dtype=np.int64) for column in seen.marks)
    assert (released <= accepted).all() and (acked <= released).all() and acked[-1].sum() > 0
    assert (seen.marks.released <= seen.released).all() and (seen.marks.acked <= seen.acked).all()
    assert (seen.marks.accepted <= seen.accepted).all() and min(map(np.min, seen.marks)) >= 0


@pytest.mark.parametrize("threshold", each_nth(2, [6, 20]))
def test_a_link_marks_what_it_marks_packet_by_packet(threshold):
    """Up to four packets, because packets are whole and leave their senders one by one."""
    bdp, steps, buffer = 24, 60, 40
    rates = np.random.default_rng(threshold).integers(1, 2 * bdp, steps)
    model = load_definition("models", "MODEL", "marking")
    path = Path(model, rate=bdp, jitter=1, buffer=buffer, threshold=threshold)
    run = simulate(path, lambda seen: int(rates[seen.step]), steps, jitter="none")
    options = LinkOptions(
        model="marking", rate=bdp * 1500 / 4000, rtt=32, buffer=buffer * 1500, threshold=threshold / buffer, steps=steps
    )
    links, _ = jax.jit(options.draw, static_argnums=1)(jax.random.key(0), 1)
    assert (links.capacity[0, 0], links.threshold[0]) == (bdp * 1500, threshold * 1500)
    fluid = load_fluid(model)

    def slot(queues, t):
        return fluid.advance(links, queues, t, jnp.array(rates)[t].reshape(1, 1) * 1500)

    _, seen = jax.lax.scan(slot, fluid.begin(links, 4, 1, 1), jnp.arange(steps))
    marked, echoed = (np.cumsum(np.asarray(column)[:, 0, 0]) / 1500 for column in seen.marks[:2])
    assert echoed[-1] > 5 * bdp
    found = run.samples["echoed"][1:]
    assert np.abs(found + run.samples["carried"][1:] - marked).max() <= 4 and np.abs(found - echoed).max() <= 4


def test_dctcp_keeps_the_queue_near_the_threshold():
    """reno fills the buffer of the same links instead, because it reads no marks there."""
    options = LinkOptions(model="marking", rate=24, rtt=40, buffer_bdp=2, threshold=0.25, steps=300)
    queues = {}
    for name in ("dctcp", "reno"):
        environment = Environment(options, act="rate")
        seen = rollout(environment, sender(name, environment), jax.random.key(1), 1).seen
        waiting = np.cumsum(seen.accepted.sum((1, 2)) - seen.served.sum(1), dtype=np.int64)
        queues[name] = waiting[100:].mean() / 120_000
        assert seen.served[100:].sum() > 0.95 * 200 * 120_000
    assert queues["dctcp"] < 0.8 and queues["reno"] > 1.2


def test_learners_read_marks_in_arrays_and_packet_by_packet(tmp_path):
    (tmp_path / "marks.py").write_text("def observe(marked, MSS):\n    return [marked / MSS]\n")
    options = {"model": "marking", "rate": 9.6, "rtt": 40, "buffer_bdp": 2, "threshold": 0.25, "steps": 40}
    totals = []
    for backend in ("fluid", "packets"):
        env = gymnasium.make(
            "ccmatic.learning:ccmatic/Link-v0",
            backend=backend,
            observe=str(tmp_path / "marks.py"),
            act="rate",
            history=1,
            first=1,
            **options,
        )
        env.reset(seed=1)
        marked = [float(env.step(np.float32([share * 1.2e6]))[0][0]) for share in [1.5] * 6 + [0.8] * 20 + [1.1] * 10]
        totals.append(np.cumsum(marked))
    # While the queue drains at a fifth of the rate, one more packet in it is five marked packets.
    assert totals[0][-1] > 100 and np.abs(totals[0] - totals[1]).max() <= 6


@pytest.mark.parametrize("bucket", each_nth(2, [8, 40]))
def test_a_policer_passes_what_it_passes_packet_by_packet(bucket):
    """Up to two packets, because packets are whole and leave their senders one by one."""
    bdp, steps = 24, 40
    rates = np.random.default_rng(bucket).integers(1, 3 * bdp, steps)
    policer = load_definition("models", "MODEL", "policer")
    run = simulate(Path(policer, rate=bdp, jitter=1, buffer=bucket), lambda seen: int(rates[seen.step]), steps)
    options = LinkOptions(model="policer", rate=bdp * 1500 / 4000, rtt=32, buffer=bucket * 1500, steps=steps)
    links, _ = jax.jit(options.draw, static_argnums=1)(jax.random.key(0), 1)
    assert links.capacity[0, 0] == bdp * 1500
    fluid = load_fluid(policer)

    def slot(queues, t):
        return fluid.advance(links, queues, t, jnp.array(rates)[t].reshape(1, 1) * 1500)

    _, seen = jax.lax.scan(slot, fluid.begin(links, 4, 1, 1), jnp.arange(steps))
    lost = np.cumsum(np.asarray(seen.dropped)[:, 0, 0]) / 1500
    assert lost[-1] > 2 * bdp
    assert np.abs(np.diff(run.samples["L"]).cumsum() - lost).max() <= 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "varying"}, "no links of varying for learning; did you mean 'marking'"),
        ({"model": "policr"}, "there is no 'policr' in models; did you mean 'policer'"),
        ({"model": "lossy:loss_burst=3", "loss": 0.1}, "no links of lossy:loss_burst=3 for learning"),
        ({"model": "lossy"}, "loss is 0; expected above 0 and at most 1"),
        ({"burst": 2}, "burst on links of cbr_delay; expected a model that bounds random losses"),
        ({"model": "policer", "burst": 0}, "burst is 0; expected a whole number, at least 1"),
        ({"threshold": 0.5}, "threshold on links of cbr_delay; expected a model that marks bytes"),
        ({"model": "marking", "threshold": 1.5}, "threshold is 1.5; expected above 0 and at most 1"),
        ({"model": "marking", "buffer_bdp": 200}, "bytes may wait for 203 slots; expected at most 128"),
    ],
)
def test_options_that_no_link_has_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        LinkOptions(**options)


def test_what_drop_tail_links_alone_offer_is_refused_on_others():
    environment = Environment(policers := LinkOptions(model="policer"), act="rate")
    expected = "expected links of cbr_delay"
    with pytest.raises(InputError, match=f"links of policer packet by packet; {expected}"):
        gymnasium.make("ccmatic.learning:ccmatic/Link-v0", backend="packets", model="policer")
    with pytest.raises(InputError, match=f"links of policer with beliefs; {expected}"):
        Environment(policers, act="envelope:cc_qdel_wide")
    with pytest.raises(InputError, match=f"links of policer with beliefs; {expected}"):
        sender("cc_qdel", environment)
