"""Background flows: they share the learners' links, in fluids and packet by packet, and send by the same texts."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import pickle

import gymnasium
import jax
import numpy as np
import pytest
from pettingzoo.test import parallel_api_test

from ccmatic.base import InputError
from ccmatic.learning import Environment, LinkEnv, LinkOptions, LinkParallelEnv, Task, lawful, rollout, sender

LINK = {"rate": 32, "rtt": 32, "buffer_bdp": 2, "first": 0.25}


def played(backend, beside, steps=200, **options):
    """Throughput (Mbit/s), queueing delay (ms) and loss, in each interval, of a flow that sends 16 Mbit/s."""
    env = LinkEnv(backend=backend, act="rate", steps=steps, beside=beside, **{**LINK, **options})
    env.reset(seed=3)
    told = [env.step(np.array([2e6], np.float32))[-1] for _ in range(steps)]
    return np.array([[*each.values()] for each in told]) - [0, 32, 0]


@pytest.mark.parametrize("beside, queue", [
    (["vegas"], (0.5, 6)),
    pytest.param(["cubic"], (30, 70), marks=pytest.mark.slow),
    pytest.param(["bbr"], (20, 40), marks=pytest.mark.slow),
    pytest.param(["cc_qdel"], (30, 50), marks=pytest.mark.slow),
    pytest.param(["cubic", "reno"], (30, 70), marks=pytest.mark.slow),
])  # fmt: skip
def test_background_flows_queue_alike_in_fluids_and_in_packets(beside, queue):
    fluid, packets = (played(backend, beside)[80:].mean(0) for backend in ("fluid", "packets"))
    assert queue[0] <= fluid[1] <= queue[1]
    assert (np.abs(fluid - packets) <= (0.6, 0.15 * fluid[1] + 1, 0.01)).all(), (fluid, packets)


@pytest.mark.parametrize("backend", ["fluid", "packets"])
def test_a_flow_that_pauses_takes_its_share_only_while_it_sends(backend):
    """24 Mbit/s of another flow for half a second, and nothing for half a second, beside 16 of 32 Mbit/s."""
    delays = played(backend, ["on_off:24:0.512:0.512"], steps=64)[:, 1].reshape(-1, 32)
    assert delays[:, 10:16].min() > 5 and delays[:, 28:].max() < 1.5


def test_a_background_flow_is_the_same_sender_as_a_player():
    """Two flows of CUBIC: both as players, and one in the background."""
    names = {"steps": 120, **LINK}
    both, one = (
        Environment(LinkOptions(**names, **more), act="rate") for more in ({"flows": 2}, {"beside": ["cubic"]})
    )
    two, alone = (rollout(env, sender("cubic", env), jax.random.key(1), 3) for env in (both, one))
    assert alone.knowledge.now.acked.shape == (120, 1, 3)
    np.testing.assert_array_equal(two.knowledge.now.acked[:, :1], alone.knowledge.now.acked)
    np.testing.assert_array_equal(two.seen.acked, alone.seen.acked)
    assert not lawful(alone, windows=5).broken


@pytest.mark.slow
def test_a_flow_that_starts_later_does_not_act_before():
    late = Environment(LinkOptions(steps=80, starts=1.28, **{**LINK, "beside": ["reno"]}), act="rate")
    seen = rollout(late, sender("constant:8", late), jax.random.key(1), 1).seen.acked[:, 1, 0]
    assert not seen[:40].any() and 5 <= seen[42] / 1500 <= 30 and seen[-1] > 3 * seen[42]


def test_every_interface_has_background_flows():
    options = {"beside": ["reno", "on_off:8:0.1:0.1"], "steps": 5, "observe": "orca", "act": "orca"}
    parallel_api_test(LinkParallelEnv(flows=2, **options), num_cycles=8)
    many = gymnasium.make_vec("ccmatic.learning:ccmatic/Link-v0", num_envs=2, **options)
    many.reset(seed=1)
    before = many.step(np.zeros((2, 1), np.float32))
    again = pickle.loads(pickle.dumps(many.unwrapped))
    np.testing.assert_array_equal(again.step(np.ones((2, 1)))[0], many.step(np.ones((2, 1)))[0])
    task = Task(many.unwrapped.environment)
    observation, state = jax.jit(task.init)(jax.random.key(0))
    assert jax.jit(task.step)(jax.random.key(1), state, 0.5)[0].shape == observation.shape == before[0][0].shape


@pytest.mark.parametrize("options, message", [
    ({"beside": "cubic"}, "beside is cubic; expected a list of senders"),
    ({"beside": ["cubik"]}, "there is no 'cubik'"),
    ({"beside": ["on_off:8"]}, "cannot read the sender 'on_off:8'; expected on_off:MBIT:ON:OFF"),
    ({"beside": ["on_off:8:nan:1"]}, "expected on_off:MBIT:ON:OFF"),
    ({"beside": ["vegas"], "interval": 2}, "vegas needs R_m to be whole intervals"),
    ({"beside": ["cubic"], "backend": "packets"}, "rtt from 16 to 64 packet by packet; expected one rtt"),
    ({"beside": ["cubic"], "backend": "emulator"}, "2 flows over the emulator; expected one"),
    ({"beside": ["cubic"], "flows": 2}, "2 flows; expected one here"),
])  # fmt: skip
def test_background_flows_that_cannot_send_are_refused(options, message):
    with pytest.raises(InputError) as refused:
        LinkEnv(**options)
    assert message in str(refused.value)
