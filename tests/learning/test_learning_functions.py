"""Observations, actions and rewards that are functions of Python."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import pickle

import gymnasium
import jax.numpy as jnp
import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.learning import ActionFunction, Environment, LinkEnv, LinkOptions

LINK = {"rate": 32, "rtt": 32, "steps": 20, "history": 3}


def shares(knowledge):
    """The loss rate, and the RTT as a share of the least RTT: as a file would have them."""
    now, least = knowledge.now, knowledge.measure("least_rtt")
    return jnp.stack([knowledge.measure("loss_rate"), now.rtt / least], axis=-1)


def doubled(knowledge, rate):
    return rate * 2.0**knowledge.action


def good(knowledge):
    return knowledge.now.acked / knowledge.now.seconds / knowledge.capacity


FUNCTIONS = {"observe": shares, "act": ActionFunction(doubled, (-2, 2)), "reward": good}

FILES = {
    "observe": "def observe(loss_rate, rtt, least_rtt):\n    return [loss_rate, rtt / least_rtt]\n",
    "act": "def act(rate, action):\n    return rate * 2**action\ndef bounds():\n    return [-2, 2]\n",
    "reward": "def reward(acked, seconds, capacity):\n    return acked / seconds / capacity\n",
}


def played(env):
    first, _ = env.reset(seed=1)
    steps = [env.step(np.array([action], np.float32)) for action in (2, 2, 0, -9, 1, 0, 0, 0)]
    return np.array([first, *(step[0] for step in steps)]), np.array([step[1] for step in steps])


@pytest.mark.parametrize("backend", ["fluid", "packets"])
def test_functions_do_what_the_same_formulas_in_files_do(tmp_path, backend):
    names = {kind: str(tmp_path / f"{kind}.py") for kind in FILES}
    for kind, text in FILES.items():
        (tmp_path / f"{kind}.py").write_text(text)
    by_file, by_function = (played(LinkEnv(backend=backend, **LINK, **given)) for given in (names, FUNCTIONS))
    np.testing.assert_allclose(by_function[0], by_file[0], rtol=1e-5)
    np.testing.assert_allclose(by_function[1], by_file[1], rtol=1e-5)
    assert by_file[1].std() > 0.01 and by_file[0].shape == (9, 6)


def test_an_environment_of_functions_can_be_pickled_in_an_episode():
    env = gymnasium.make("ccmatic.learning:ccmatic/Link-v0", **LINK, **FUNCTIONS).unwrapped
    env.reset(seed=2)
    env.step(np.array([1], np.float32))
    again = pickle.loads(pickle.dumps(env))
    assert env.action_space.high == 2 and env.observation_space.shape == (6,)
    np.testing.assert_array_equal(again.step(np.array([1]))[0], env.step(np.array([1]))[0])


def test_a_rate_that_is_no_number_keeps_the_simulator_alive():
    bad = ActionFunction(lambda knowledge, rate: rate * jnp.nan, (0, 1))
    env = LinkEnv(act=bad, observe="orca", **LINK)
    env.reset(seed=1)
    assert all(np.isfinite(env.step(np.array([1], np.float32))[0]).all() for _ in range(5))


@pytest.mark.parametrize("given, message", [
    ({"observe": lambda known: known.now.rtt}, "returns the shape (flows, links); expected (flows, links, numbers)"),
    ({"observe": lambda known: known.now.rtt[:, :, None][:, :, :0]}, "expected (flows, links, numbers)"),
    ({"observe": lambda known: known.now.speed}, "observe fails: AttributeError: 'Interval' object has no attribute"),
    ({"observe": lambda known: "high"}, "observe fails: TypeError"),
    ({"reward": lambda known: 1.0}, "reward <lambda> returns the shape (); expected (flows, links)"),
    ({"reward": lambda known: known}, "expected an array of numbers"),
    ({"reward": lambda known: known.now.rtt.sum(0)}, "returns the shape (links); expected (flows, links)"),
    ({"reward": lambda known: float(known.now.rtt.sum())}, "reward fails: ConcretizationTypeError"),
    ({"act": doubled}, "expected a name, a file, or an ActionFunction with its bounds"),
    ({"act": lambda known, rate: rate}, "expected a name, a file, or an ActionFunction with its bounds"),
])  # fmt: skip
def test_functions_that_are_no_formulas_are_refused(given, message):
    with pytest.raises(InputError) as refused:
        Environment(LinkOptions(), **given)
    assert message in str(refused.value)


@pytest.mark.parametrize("arguments, message", [
    ((doubled, (1, -1)), "the bounds of actions are 1 and -1; expected ascending numbers"),
    ((doubled, (0, float("nan"))), "a bound of actions is nan"),
    ((doubled, 3), "the bounds of actions are 3; expected two numbers"),
    ((None, (0, 1)), "the rate of an action is None; expected a function"),
])  # fmt: skip
def test_actions_without_bounds_are_refused(arguments, message):
    with pytest.raises(InputError) as refused:
        ActionFunction(*arguments)
    assert message in str(refused.value)


def test_a_function_of_actions_of_a_wrong_shape_is_refused():
    with pytest.raises(InputError, match="expected \\(flows, links\\)"):
        Environment(LinkOptions(), act=ActionFunction(lambda knowledge, rate: rate[0], (0, 1)))
