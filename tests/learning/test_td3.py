"""Training by TD3: what its policy's file is, that it goes on where it was cut off, and what it learns from."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import numpy as np
import pytest

pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")

import jax
import jax.numpy as jnp

from ccmatic.base import InputError
from ccmatic.deployment import policies
from ccmatic.learning import agents
from ccmatic.learning.agents.algorithms.td3 import Transitions
from ccmatic.learning.agents.contract import Links
from support.training import cut_off, resumed

TINY = """\
[environment]
history = 2
rate = 32
rtt = 32
steps = 7
first = 0.5

[agent]
algorithm = "td3"
layers = [4]
parallel = 4
episodes = 4
updates = 3
batch = 8
memory = 10
learning_rate = 0.01
"""


@pytest.fixture
def tiny(tmp_path):
    """The Training of tiny.toml."""
    (tmp_path / "tiny.toml").write_text(TINY)
    return agents.load(tmp_path / "tiny.toml")


@pytest.mark.parametrize("old, new, message", [
    ("td3", "ddpg", "tiny.toml:9: unknown algorithm 'ddpg'; known: ppo, td3"),
    ("updates = 3", "rollout = 3", "tiny.toml:13: rollout is 3; expected none: it is of ppo, not td3"),
    ("updates = 3", 'initial = "a.json"', "tiny.toml:13: initial is a.json; expected none: it is of ppo, not td3"),
    ('"td3"', '"ppo"', "tiny.toml:13: updates is 3; expected none: it is of td3, not ppo"),
    ("memory = 10", "memory = 0", "tiny.toml:15: memory is 0; expected a whole number from 1 to 1048576"),
    ("steps = 7", "steps = 1", "tiny.toml:5: steps is 1; expected at least 1 and 1 more until an effect is observed"),
])  # fmt: skip
def test_options_that_are_not_of_the_algorithm_are_refused(old, new, message, tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY.replace(old, new))
    with pytest.raises(InputError) as error:
        agents.load(tmp_path / "tiny.toml")
    assert message in str(error.value)


@pytest.mark.slow
def test_what_was_cut_off_goes_on_with_its_memory(tiny, tmp_path, monkeypatch):
    """The memory, of ten intervals, is neither empty then nor all of two episodes."""
    agents.train(tiny, tmp_path / "whole.json", seed=7)
    cut_off(monkeypatch, tiny, 7, tmp_path / "again.json", episode=3)
    seen = resumed(tiny, 7, tmp_path / "again.json")
    assert [line.episode for line in seen] == [3, 4] and {line.deviation for line in seen} == {4}
    whole, again = (policies.load(tmp_path / f"{name}.json") for name in ("whole", "again"))
    assert whole.file.layers == again.file.layers
    assert [np.shape(layer.weights) for layer in whole.file.layers] == [(12, 4), (4, 1), (1, 1)]
    assert whole.file.layers[-1].weights == [[10]] and whole.file.layers[-1].bias == [0]
    assert np.abs(policies.outputs(whole.layers, 1e6 * np.ones((1, 12)))).max() <= 10


@pytest.mark.slow
def test_a_reward_is_remembered_with_the_action_whose_it_is(tiny, monkeypatch):
    monkeypatch.setattr(agents.Training, "lag", 2)
    monkeypatch.setattr(Links, "begin", lambda links, key: (jnp.zeros(()), jnp.zeros((4, 12))))
    monkeypatch.setattr(Links, "step", lambda links, now, actions: (now + 1, _everywhere(now + 1), now + jnp.zeros(4)))
    agent = tiny.algorithm(tiny)
    state = agent.begin(jax.random.key(0))
    _, transitions = agent._play(state.learned.policy, jax.random.key(1), jax.random.key(2))
    state = agent._remember(state, transitions)
    assert int(state.received) == 5 and state.memory.seen[:6, 0, 0].tolist() == [0, 1, 2, 3, 4, 0]
    assert state.memory.reward[:5, 0].tolist() == [2, 3, 4, 5, 6]
    assert state.memory.following[:5, 0, 0].tolist() == [1, 2, 3, 4, 5]


def _everywhere(number):
    return jnp.full((4, 12), number)


def test_a_full_memory_drops_its_oldest_intervals(tiny):
    agent = tiny.algorithm(tiny)
    state = agent.begin(jax.random.key(0))
    for episode in range(3):
        rewards = jnp.arange(7 * episode, 7 * episode + 7)[:, None] + jnp.zeros(4)
        state = agent._remember(state, Transitions(jnp.zeros((7, 4, 12)), rewards, rewards, jnp.zeros((7, 4, 12))))
    assert sorted(state.memory.reward[:, 0].tolist()) == list(range(11, 21))
