"""Gymnasium's interface to links: what its checker says, seeds, histories, and what is refused."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pytest


import gymnasium
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from ccmatic.base import InputError
from ccmatic.learning import LinkEnv, LinkParallelEnv, LinkVectorEnv

#: The checker would rather have bounded observations and actions in [-1, 1].
pytestmark = pytest.mark.filterwarnings("ignore:.*(Box observation|symmetric and normalized).*:UserWarning")


def test_it_is_made_after_importing_gymnasium_alone():
    program = (
        "import gymnasium; env = gymnasium.make('ccmatic.learning:ccmatic/Link-v0', steps=5)\n"
        "from gymnasium.utils.env_checker import check_env; check_env(env.unwrapped)\n"
        "many = gymnasium.make_vec('ccmatic/Link-v0', num_envs=3, steps=5)\n"
        "print(type(many.unwrapped).__name__, many.metadata['autoreset_mode'].name)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert done.stdout == "LinkVectorEnv SAME_STEP\n", done.stderr


@pytest.mark.parametrize(
    "make",
    [partial(gymnasium.make, "ccmatic.learning:ccmatic/Link-v0"), LinkEnv, partial(LinkVectorEnv, 2), LinkParallelEnv],
)
def test_a_reward_that_is_cheated_is_warned_of(make):
    """Only `train` warned."""
    with pytest.warns(UserWarning, match="reward 'relative': "):
        make(reward="relative", steps=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        make(reward="ltp", steps=5)


@pytest.mark.slow
def test_many_links_at_once_are_as_gymnasium_says():
    env = LinkVectorEnv(3, steps=4, history=2)
    first, _ = env.reset(seed=5)
    assert first.shape == (3, 12) and env.observation_space.contains(first)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    for step in range(1, 9):
        last, reward, terminated, truncated, told = env.step(env.action_space.sample())
        assert reward.shape == (3,) and not terminated.any() and (truncated == (step % 4 == 0)).all()
        assert ("final_obs" in told) == (step % 4 == 0) and told["rtt_ms"].shape == (3,)
        assert (last == 0).all() == (step % 4 == 0)
    assert (told["final_obs"] != 0).any()


@pytest.mark.slow
def test_a_seed_says_all_that_is_random():
    env = LinkVectorEnv(3, steps=20, links="changing", period=0.1, loss=0.05, jitter=4)

    def played(seed):
        env.reset(seed=seed)
        return np.array([env.step(np.full((3, 1), 5.0))[1] for _ in range(40)])

    first = played(1)
    assert (played(1) == first).all() and (played(2) != first).any()


@pytest.mark.slow
def test_an_observation_is_the_last_vectors_but_for_the_latest_d():
    """Twice the same run: with d = 2 the observation is what it was two intervals before without."""

    def played(delay):
        env = LinkEnv(steps=8, history=3, delay=delay, act="rate", observe="ltp")
        env.reset(seed=4)
        return [env.step([4e6 + 1e5 * step])[0] for step in range(8)]

    at_once, later = played(0), played(2)
    assert all((a == b).all() for a, b in zip(at_once, later[2:], strict=False))
    assert (at_once[7][:5] == at_once[5][10:]).all() and (at_once[7] != at_once[6]).any()


@pytest.mark.parametrize("options, message", [
    ({"links": {"constant": 2}}, "the ratio of constant links is 2; expected a number from 0 to 1"),
    ({"links": {"constant": 0.5}}, "the ratios of links sum up to 0.5; expected 1"),
    ({"links": "changeing"}, "unknown kind of link 'changeing'; did you mean 'changing'?"),
    ({"rate": -4}, "rate is -4; expected above 0"),
    ({"rate": {"low": 4}}, "rate has low; expected low and high, and optionally log"),
    ({"rtt": float("nan")}, "rtt is nan; expected a number, a list of numbers, or low and high"),
    ({"rate": "16"}, "rate is '16'; expected a number, a list of numbers, or low and high"),
    ({"rate": np.array([[16, 24]])}, "rate is [16, 24]; expected a number, a list of numbers, or low and high"),
    ({"flows": 2}, "2 flows; expected one here"),
    ({"speed": 1}, "unknown option 'speed'"),
    ({"observe": None}, "unknown observe 'None'; known: aurora"),
    ({"reward": None}, "unknown reward 'None'; known: aurora"),
    ({"observe": "aurorra"}, "unknown observe 'aurorra'; did you mean 'aurora'?"),
    ({"device": "gpu"}, "no device 'gpu' here; JAX has cpu"),
    ({"rate": 1e6, "rtt": 1000}, "may wait or be served"),
])  # fmt: skip
def test_what_is_refused_is_told_in_one_message(options, message):
    with pytest.raises(InputError) as refused:
        LinkEnv(**options)
    assert message in str(refused.value)


@pytest.mark.parametrize("rate", [np.float32(16), np.int64(16), np.array(16), np.array([16]), [np.float32(16)]])
def test_numbers_of_numpy_are_numbers(rate):
    (observed, _), (expected, _) = LinkEnv(rate=rate).reset(seed=1), LinkEnv(rate=16).reset(seed=1)
    assert (observed == expected).all()


def test_no_links_and_rewards_that_are_no_numbers_are_refused(tmp_path):
    with pytest.raises(InputError, match="0 links; expected a whole number, at least 1"):
        LinkVectorEnv(0)
    env = LinkVectorEnv(2, steps=3, reward=lambda known: known.now.rtt * float("nan"))
    env.reset(seed=0)
    with pytest.raises(InputError, match="the reward is nan; expected finite numbers"):
        env.step(np.zeros((2, 1)))
    trace = tmp_path / "negative.mahimahi"
    trace.write_text("1\n-2\n")
    with pytest.raises(InputError, match=r"negative.mahimahi:2: found '-2'; expected whole milliseconds"):
        LinkEnv(links=f"mahimahi:{trace}")


@pytest.mark.slow
def test_the_check_of_an_environment_finds_nothing():
    env = gymnasium.make("ccmatic/Link-v0", steps=10, observe="orca", reward="orca", act="orca").unwrapped
    check_env(env)
