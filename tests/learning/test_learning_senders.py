"""Senders that are not learned, on learners' links: the same controllers as elsewhere."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)


import jax
import numpy as np
import pytest

from ccmatic.base import InputError, definitions
from ccmatic.controllers import load
from ccmatic.language import as_sent
from ccmatic.learning import LinkOptions, Environment, lawful, sender, stateless
from ccmatic.learning.envs import rollout
from ccmatic.worlds.arrays import FloatPair, Values
from support.sampling import each_nth


def played(name, **options):
    asked = LinkOptions(steps=150, rate=32, rtt=32, first=0.5, **options)
    return rollout(environment := Environment(asked, act="rate"), sender(name, environment), jax.random.key(1), 2)


@pytest.mark.parametrize("name, least, most", [
    pytest.param("cc_qdel", 0.85, 2, marks=pytest.mark.slow),
    ("reno", 0.9, 1),
    pytest.param("constant:16", 0.495, 0, marks=pytest.mark.slow),
    pytest.param("oracle", 0.995, 0, marks=pytest.mark.slow),
    pytest.param("vegas", 0.9, 1, marks=pytest.mark.slow),
])  # fmt: skip
def test_senders_use_a_link_as_they_do(name, least, most):
    """The least utilisation, and the most queueing delay in R_m."""
    episode = played(name, buffer_bdp=1)
    now, capacity = episode.knowledge.now, episode.links.capacity[0] / episode.links.slot
    late = slice(60, None)
    assert least <= (episode.knowledge.measure("throughput")[late].mean((0, 1)) / capacity).min() <= 1.001
    assert (now.rtt[late].mean() - 0.032) / 0.032 <= most + 1e-3
    assert not lawful(episode, windows=5).broken


@pytest.mark.slow
@pytest.mark.parametrize("name", ["aimd", "bbr", "bbr_v1", "copa", "cubic", "illinois", "lp", "rocc", "cc_probe_slow"])
def test_every_other_sender_runs(name):
    episode = played(name, buffer_bdp=2)
    throughput = np.asarray(episode.knowledge.measure("throughput"))
    assert np.isfinite(throughput).all() and throughput[60:].mean() > 1e5
    assert not lawful(episode, windows=5).broken


@pytest.mark.slow
def test_an_action_is_a_choice_that_an_envelope_leaves():
    asked = LinkOptions(steps=60, rate=32, rtt=32, first=0.5)
    environment = Environment(asked, act="envelope:cc_qdel_wide")

    def chosen(action):
        always = stateless(lambda seen: np.full(seen.shape[:2], action, np.float32))
        return rollout(environment, always, jax.random.key(1), 2).knowledge.now.sent

    own = Environment(asked, act="rate")
    assert (chosen(-5) == rollout(own, sender("cc_qdel_wide", own), jax.random.key(1), 2).knowledge.now.sent).all()
    assert (chosen(1) >= chosen(-1)).mean() > 0.6 and (chosen(1) != chosen(-1)).any()


@pytest.mark.parametrize("name, least, most", each_nth(2, [("vegas", 2, 4), ("copa", 0.5, 3)]))
def test_a_sender_reads_a_delay_finer_than_a_step(name, least, most):
    """Vegas keeps two to four packets in the queue, and Copa one or two. With delays in whole steps both kept 29."""
    now = played(name, buffer_bdp=2).knowledge.now
    waiting = (np.asarray(now.rtt[60:]).mean() - 0.032) * 4e6 / 1500
    assert least <= waiting <= most, waiting


FOLLOWS = """window: bytes = 20 * MSS
count: bytes = 0
def update(window, count, delay, MSS, R_m, step, second):
    count = count + MSS
    assume(count <= 3 * MSS)
    window = bounded(10 * MSS + MSS * (count / MSS) ** 2 * R_m / step + 0 * MSS * delay / second, MSS, 2 * MSS)
def send(window):
    return window
"""


def test_a_controller_with_a_law_follows_it_and_not_its_bounds(tmp_path):
    """Also where the bounds are not assumed to hold: after some steps the window is that of the law."""
    (tmp_path / "follows.py").write_text(FOLLOWS)
    environment = Environment(LinkOptions(steps=12, rate=32, rtt=32, first=0.5), act="rate")
    sent = rollout(
        environment, sender(str(tmp_path / "follows.py"), environment), jax.random.key(1), 2
    ).knowledge.now.sent
    assert float(sent[8].mean() / sent[2].mean()) > 3


def test_an_increase_follows_the_delay_itself():
    """Illinois, between whole steps of delay: not the lowest value within the bounds."""
    model = next(m for m in definitions.every("models", "MODEL") if m.windows and m.flows == 1)
    controller = load("illinois", observations=model.observations)
    now = {"lost": lambda back: 0.0, "acked": lambda back: 0.0, "sent": 0.0, "timeout": False, "recover": 0.0}
    known = {**now, "R_m": 1.0, "step": 1.0, "MSS": 1.0, "window": 100.0, "delay": 0.0}
    values = Values(known, law=Values({**known, "delay": 0.5}))
    after = values.becomes(as_sent(controller.update), {"window": 100.0, "recover": 0.0})
    assert float(after["window"]) == pytest.approx(100 + 10 / (1 + 97 / 3 * (0.5 - 0.04) / 3.96))


def test_what_is_no_sender_is_refused():
    environment = Environment(LinkOptions(), act="rate")
    for name, message in (("constant:-2", "cannot read the sender"), ("cubik", "there is no 'cubik'")):
        with pytest.raises(InputError, match=message):
            sender(name, environment)
    with pytest.raises(InputError, match="expected act='rate', not 'custard'"):
        sender("oracle", Environment(LinkOptions()))
    with pytest.raises(InputError, match="act is 'envelope:cc_qdel', which leaves no choice; expected an envelope"):
        Environment(LinkOptions(), act="envelope:cc_qdel")
    with pytest.raises(InputError, match="needs R_m to be whole intervals"):
        sender("reno", Environment(LinkOptions(interval=2), act="rate"))


def test_bytes_are_counted_one_by_one_beyond_what_a_float_can():
    """2^24 + 1 is no single float, and 10^6 packets are 1.5 GB."""
    large = FloatPair.of(2.0**24) + 1.0
    assert float((large - 2.0**24).float()) == 1 and bool(large > 2.0**24) and not bool(large <= 2.0**24)
    assert float((large - large).float()) == 0 and bool(large == large) and not bool(large == 2.0**24)
    assert float((3 * large - 3 * 2.0**24).float()) == 3 and float((0.0 - large + 2.0**24).float()) == -1
    assert float((FloatPair.of(np.inf) - large).float()) == np.inf
    counted, _ = jax.lax.scan(lambda total, _: (total + 1500.0, None), FloatPair.of(2.0**34), None, 10**6)
    assert float((counted - 2.0**34).float()) == 1.5e9


@pytest.mark.slow
def test_a_sender_knows_what_was_acknowledged_to_the_byte():
    """About 60 MB on a link of 800 Mbit/s."""
    asked = LinkOptions(steps=24, rate=800, rtt=32, first=0.5)
    environment, n = Environment(asked, act="rate"), 2
    policy = sender("reno", environment)
    links, state = environment.reset(jax.random.key(1), n)
    memory, total = policy.begin(links), np.zeros((1, n), np.int64)
    step = jax.jit(lambda memory, state: _step(environment, policy, links, memory, state))
    for _ in range(asked.steps):
        total += np.asarray(state.knowledge.now.acked, np.int64)
        memory, state = step(memory, state)
    acked = memory[1]["acked"]
    assert (np.float64(acked.high[0]) + np.float64(acked.low[0]) == total).all() and total.min() > 2**25


def _step(environment, policy, links, memory, state):
    memory, action = policy.act(memory, links, state, environment.observation(state))
    return memory, environment.watched(links, state, action)[0]
