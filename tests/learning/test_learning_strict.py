"""The interfaces of Gymnasium and PettingZoo to their letter: bad calls, seeds, ends, pickles, wrappers, videos."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import pickle
import warnings
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from pettingzoo.test import parallel_api_test, parallel_seed_test

from ccmatic.base import InputError
from ccmatic.learning import LinkEnv, LinkParallelEnv, LinkVectorEnv

#: The checker would rather have bounded observations and actions in [-1, 1].
pytestmark = pytest.mark.filterwarnings("ignore:.*(Box observation|symmetric and normalized).*:UserWarning")

NOT_ACTIONS = [
    [float("nan")], [float("inf")], [-np.inf], [], [1.0, 2.0], [[1.0]], "1", ["1"], None, [None], {}, object(), 1j,
    b"1", [True], np.zeros((1, 1)), np.array(["a"]), [10**400], [[1], []], np.ma.masked,
]  # fmt: skip


@pytest.fixture(scope="module")
def env():
    return LinkEnv(steps=5)


@pytest.mark.parametrize("action", NOT_ACTIONS)
def test_what_is_no_action_is_refused_and_the_episode_goes_on(env, action):
    env.reset(seed=1)
    with pytest.raises(InputError, match="the action .*expected"):
        env.step(action)
    after = env.step([0.5])[0]
    env.reset(seed=1)
    np.testing.assert_array_equal(env.step([0.5])[0], after)


@pytest.mark.parametrize("action, like", [([1e9], [10.0]), ([-1e300], [-10.0]), ([3], [3.0]), (np.float16([2]), [2.0])])
def test_numbers_outside_the_bounds_are_clipped(env, action, like):
    def played(action):
        env.reset(seed=1)
        return [env.step(action)[0].tobytes() for _ in range(3)]

    assert played(action) == played(like)


def test_step_needs_a_running_episode():
    env = LinkEnv(steps=2)
    with pytest.raises(InputError, match="without a running episode; expected reset first"):
        env.step([0.0])
    env.reset(seed=0)
    assert [env.step([0.0])[3] for _ in range(2)] == [False, True]
    with pytest.raises(InputError, match="also after the end of an episode"):
        env.step([0.0])
    env.reset()
    env.close()
    with pytest.raises(InputError, match="without a running episode"):
        env.step([0.0])


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, [1]], ids=repr)
def test_a_seed_is_a_whole_number(env, seed):
    with pytest.raises(InputError, match="expected a whole number, at least 0"):
        env.reset(seed=seed)


def test_options_of_reset_are_refused(env):
    env.reset(options={})
    with pytest.raises(InputError, match="reset has no option 'rate'; expected none"):
        env.reset(options={"rate": 3})
    with pytest.raises(InputError, match="the options of reset are 7; expected a dict"):
        env.reset(options=7)


def test_choices_are_a_discrete_space():
    env = LinkEnv(steps=8, choices=[-10, 0, 10], history=1)
    assert env.action_space == gymnasium.spaces.Discrete(3)
    env.reset(seed=3)
    chosen = [env.step(np.int64(2))[0] for _ in range(4)]
    other = LinkEnv(steps=8, history=1)
    other.reset(seed=3)
    assert all((a == other.step([10.0])[0]).all() for a in chosen)
    for action in (3, -1, 1.0, [1], True, None):
        with pytest.raises(InputError, match="expected whole numbers"):
            env.step(action)
    many = LinkVectorEnv(2, steps=8, choices=[-10, 0, 10])
    many.reset(seed=3)
    assert many.action_space.contains(np.array([2, 0])) and many.step(np.array([2, 0]))[0].shape[0] == 2


@pytest.mark.parametrize("choices", [[1], [1, 0], [0, 99], ["a", "b"], [0, float("nan")], 3], ids=repr)
def test_wrong_choices_are_refused(choices):
    with pytest.raises(InputError, match="choices is .*expected 2 to 1024 ascending numbers from -10 to 10"):
        LinkEnv(choices=choices)


# Many links


def test_a_link_with_its_seed_is_the_same_among_others():
    many, one = LinkVectorEnv(3, steps=3), LinkEnv(steps=3)
    observations = {}
    for seeds in (5, [5, 6, 7], (9, 7, 5)):
        many.reset(seed=seeds)
        observations[str(seeds)] = np.array([many.step(np.full((3, 1), 4.0))[0] for _ in range(8)])
    np.testing.assert_array_equal(observations["5"], observations["[5, 6, 7]"])
    np.testing.assert_array_equal(observations["5"][:, 0], observations["(9, 7, 5)"][:, 2])
    for number, seed in enumerate((5, 6, 7)):
        one.reset(seed=seed)
        for step in range(8):
            observation, *_, over, _ = one.step([4.0])
            observation = one.reset()[0] if over else observation
            np.testing.assert_allclose(observations["5"][step, number], observation, rtol=2e-3, atol=2e-3)


def test_the_end_in_the_same_step_gives_the_last_observations_and_info():
    many = LinkVectorEnv(2, steps=3)
    many.reset(seed=1)
    for step in (1, 2, 3):
        observation, _, terminated, truncated, info = many.step(np.zeros((2, 1)))
        assert truncated.all() == (step == 3) and not terminated.any() and ("final_info" in info) == (step == 3)
    assert (observation == 0).all() and (info["final_obs"] != 0).any()
    assert info["_final_info"].all() and (info["final_info"]["throughput_mbit"] > 0).all()
    assert (info["throughput_mbit"] == 0).all()


def test_the_end_in_the_next_step():
    many = gymnasium.make_vec("ccmatic/Link-v0", num_envs=2, steps=2, autoreset_mode="next_step")
    assert many.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    many.reset(seed=1)
    steps = [many.step(np.ones((2, 1))) for _ in range(6)]
    assert [step[3].all() for step in steps] == [False, True, False] * 2
    assert (steps[1][0] != 0).any() and (steps[2][0] == 0).all() and (steps[2][1] == 0).all()
    same = LinkVectorEnv(2, steps=2)
    same.reset(seed=1)
    rewards = [same.step(np.ones((2, 1)))[1] for _ in range(4)]
    np.testing.assert_array_equal([steps[i][1] for i in (0, 1, 3, 4)], rewards)


def test_without_autoreset_the_user_resets_all_links():
    many = LinkVectorEnv(2, steps=1, autoreset_mode=AutoresetMode.DISABLED)
    many.reset(seed=1)
    assert many.step(np.zeros((2, 1)))[3].all()
    with pytest.raises(InputError, match="expected reset first, also after the end of episodes"):
        many.step(np.zeros((2, 1)))
    many.reset(options={"reset_mask": np.ones(2, bool)})
    many.step(np.zeros((2, 1)))


@pytest.mark.parametrize("call, message", [
    (lambda env: env.reset(seed=[1]), "1 seed; expected one for each of 2 links"),
    (lambda env: env.reset(seed=[1, -1]), "the seed is -1; expected a whole number"),
    (lambda env: env.reset(options={"reset_mask": [True, True]}), "reset_mask is .*; expected an array of 2 bools"),
    (lambda env: env.reset(options={"reset_mask": np.array([True, False])}), "selects 1 of 2 links; expected all"),
    (lambda env: env.reset(options={"mask": 1}), "reset has no option 'mask'; expected only reset_mask"),
    (lambda env: env.step(np.array([[1.0], [np.nan]])), "the action is nan; expected finite numbers"),
    (lambda env: env.step(np.zeros(2)), r"the shape \(2,\); expected numbers of the shape \(2, 1\)"),
    (lambda env: LinkVectorEnv(2, autoreset_mode="later"), "unknown autoreset_mode 'later'; expected NEXT_STEP"),
    (lambda env: LinkVectorEnv(2, render_mode="human"), "expected None, because a picture has one link"),
    (lambda env: LinkVectorEnv(2, backend="emulator"), "2 links over the emulator; expected one"),
    (lambda env: LinkEnv(render_mode="ansi"), "unknown render_mode 'ansi'; expected rgb_array, human or None"),
    (lambda env: LinkEnv(backend="packets", device="cpu"), "the device 'cpu' for packets; expected none"),
])  # fmt: skip
def test_wrong_calls_are_told_in_one_message(call, message):
    many = LinkVectorEnv(2, steps=3)
    many.reset(seed=1)
    with pytest.raises(InputError, match=message):
        call(many)


def test_many_links_are_pickled_in_the_middle():
    many = LinkVectorEnv(2, steps=4, loss=0.05)
    many.reset(seed=1)
    many.step(np.ones((2, 1)))
    again = pickle.loads(pickle.dumps(many))
    for _ in range(6):
        one, other = (each.step(np.ones((2, 1))) for each in (many, again))
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


def test_an_environment_of_packets_is_pickled_without_its_episode():
    env = LinkEnv(steps=4, backend="packets")
    env.reset(seed=1)
    again = pickle.loads(pickle.dumps(env))
    with pytest.raises(InputError, match="without a running episode"):
        again.step([0.0])
    again.reset(seed=1)
    np.testing.assert_array_equal(again.step([1.0])[0], env.step([1.0])[0])


@pytest.mark.slow
def test_many_links_packet_by_packet():
    many = gymnasium.make_vec("ccmatic/Link-v0", num_envs=2, steps=3, backend="packets")
    many.reset(seed=1)
    steps = [many.step(np.ones((2, 1))) for _ in range(4)]
    assert steps[2][3].all() and not steps[3][3].any() and (steps[3][0] != 0).any()


# Wrappers and pictures


def test_wrappers_of_gymnasium_fit():
    from gymnasium.wrappers import NormalizeObservation, RecordEpisodeStatistics

    env = NormalizeObservation(RecordEpisodeStatistics(gymnasium.make("ccmatic.learning:ccmatic/Link-v0", steps=6)))
    env.reset(seed=1)
    for _ in range(6):
        observation, *_, truncated, info = env.step(env.action_space.sample())
    assert truncated and info["episode"]["l"] == 6 and np.isfinite(observation).all()
    many = gymnasium.wrappers.vector.RecordEpisodeStatistics(LinkVectorEnv(2, steps=3, autoreset_mode="next_step"))
    many = gymnasium.wrappers.vector.NormalizeObservation(many)
    many.reset(seed=1)
    for _ in range(3):
        *_, info = many.step(np.zeros((2, 1)))
    assert (info["episode"]["l"] == 3).all()


def test_a_picture_shows_the_episode():
    env = gymnasium.make("ccmatic.learning:ccmatic/Link-v0", steps=6, render_mode="rgb_array")
    with pytest.raises(InputError, match="render before reset"):
        env.unwrapped.render()
    env.reset(seed=1)
    first = env.render()
    for _ in range(5):
        env.step(np.ones(1, np.float32))
    last = env.render()
    assert first.shape == last.shape == (480, 640, 3) and first.dtype == np.uint8 and (first != last).any()


def test_without_a_display_an_episode_is_shown_in_lines(monkeypatch, capsys):
    monkeypatch.setattr("matplotlib.get_backend", lambda: "agg")
    env = LinkEnv(steps=3, render_mode="human")
    env.reset(seed=1)
    env.step([1.0])
    assert capsys.readouterr().err.startswith("interval 1: throughput (Mbit/s) ")


def test_videos_are_recorded(tmp_path):
    pytest.importorskip("moviepy", reason="no moviepy: pip install moviepy")
    env = gymnasium.make("ccmatic.learning:ccmatic/Link-v0", steps=4, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = gymnasium.wrappers.RecordVideo(env, str(tmp_path), episode_trigger=lambda episode: True)
        env.reset(seed=1)
        while not env.step(env.action_space.sample())[3]:
            pass
        env.close()
    [video] = tmp_path.glob("*.mp4")
    assert video.stat().st_size > 1000


@pytest.mark.parametrize("options", [{}, {"choices": [-1.0, 1.0]}, {"render_mode": "rgb_array"}], ids=str)
def test_the_check_of_an_environment_finds_nothing(options):
    check_env(gymnasium.make("ccmatic.learning:ccmatic/Link-v0", steps=10, **options).unwrapped)


# Agents


def agents(**options):
    return LinkParallelEnv(**{"flows": 3, "steps": 12, "rate": 24, "rtt": 20, **options})


@pytest.mark.parametrize("options", [{}, {"backend": "packets", "render_mode": "rgb_array"}], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_agents_find_nothing(options):
    parallel_api_test(agents(**options), num_cycles=30)
    parallel_seed_test(partial(agents, **options), num_cycles=20)


@pytest.mark.parametrize("call, message", [
    (lambda: agents(render_mode="ansi"), "unknown render_mode 'ansi'; expected rgb_array, human or None"),
    (lambda: agents(backend="packet"), "unknown back end 'packet'; did you mean 'packets'"),
    (lambda: agents(backend="packets", device="cpu"), "the device 'cpu' for packets; expected none"),
    (lambda: agents(backend="packets", rtt=[10, 20]), "rtt from 10 to 20 packet by packet; expected one rtt"),
    (lambda: agents(render_mode="rgb_array").render(), "render before reset"),
])  # fmt: skip
def test_wrong_calls_of_agents_are_told_in_one_message(call, message):
    with pytest.raises(InputError, match=message):
        call()


def together(env):
    return env.step({agent: np.ones(1, np.float32) for agent in env.agents})


@pytest.mark.parametrize("backend", ["fluid", "packets"])
def test_agents_are_pickled(backend):
    """The fluid simulator keeps a running episode. The packet simulator begins anew."""
    env = agents(backend=backend, render_mode="rgb_array")
    env.reset(seed=1)
    together(env)
    env.render()
    again = pickle.loads(pickle.dumps(env))
    if backend == "packets":
        assert not again.agents
        env.reset(seed=1), again.reset(seed=1)
    for _ in range(3):
        (one, *_), (other, *_) = together(env), together(again)
        assert one.keys() == other.keys() and all((one[agent] == other[agent]).all() for agent in one)
    assert (env.render() == again.render()).all()


def test_after_closing_agents_need_a_reset():
    env = agents()
    env.reset(seed=1)
    env.close()
    with pytest.raises(InputError, match="step without a running episode"):
        env.step({"flow_0": [0.0]})


def test_a_picture_shows_the_agents_that_are_present(monkeypatch, capsys):
    monkeypatch.setattr("matplotlib.get_backend", lambda: "agg")
    late = {"starts": 0.05, "render_mode": "human"}
    env, drawn = agents(**late), agents(**late | {"render_mode": "rgb_array"})
    env.reset(seed=1), drawn.reset(seed=1)
    first = drawn.render()
    for _ in range(6):
        together(env), together(drawn)
    lines, picture = capsys.readouterr().err.splitlines(), drawn.render()
    assert lines[0].startswith("interval 1: flow_0 throughput (Mbit/s) ") and "flow_1" not in lines[0]
    assert [part.split()[0] for part in lines[5].removeprefix("interval 6: ").split("; ")] == env.agents
    assert picture.shape == (480, 640, 3) and (picture != first).any()


def test_wrong_actions_of_agents_are_refused():
    env = agents()
    with pytest.raises(InputError, match="step without a running episode"):
        env.step({})
    env.reset(seed=1)
    right = {f"flow_{number}": np.zeros(1, np.float32) for number in range(3)}
    for actions, message in (
        ({**right, "flow_9": right["flow_0"]}, "there is no agent flow_9; expected flow_0, flow_1, flow_2"),
        ({"flow_0": right["flow_0"]}, "no action for flow_1; expected one for each"),
        ({**right, "flow_1": [np.nan]}, "the action is nan"),
        ([1, 2, 3], "expected a dict with an action for each agent"),
    ):
        with pytest.raises(InputError, match=message):
            env.step(actions)
    for _ in range(12):
        env.step(right)
    assert not env.agents
    with pytest.raises(InputError, match="step without a running episode"):
        env.step(right)


def calls(count, seed):
    """Random bad and good calls of an environment. Each gives an InputError, or finite observations and rewards."""
    rng, outcomes = np.random.default_rng(seed), {"refused": 0, "defined": 0}
    env = LinkEnv(steps=7)
    pool = [*NOT_ACTIONS, [0.0], [1e308], [-3], np.float32([1]), np.zeros(1), 5, [[[]]], np.zeros(0), range(1), "nan"]
    for _ in range(count):
        kind, seed = rng.integers(20), [0, 1, None, -1, "x", 2**80, 1.5][rng.integers(7)]
        noise = rng.choice([np.nan, np.inf, -np.inf, 0, 1e30, 1e-300, 1], size=rng.integers(3))
        try:
            if kind == 0:
                observation, reward = env.reset(seed=seed, options=[None, {}, {"a": 1}, 3][rng.integers(4)])[0], 0
            else:
                observation, reward, *_ = env.step(noise if kind < 6 else pool[rng.integers(len(pool))])
        except InputError:
            outcomes["refused"] += 1
            continue
        assert env.observation_space.contains(observation) and np.isfinite(observation).all() and np.isfinite(reward)
        outcomes["defined"] += 1
    return outcomes


@pytest.mark.parametrize("count", [2000, pytest.param(10**5, marks=pytest.mark.slow)])
def test_bad_calls_give_an_error_or_a_defined_result(count):
    outcomes = calls(count, 1)
    assert outcomes["refused"] > count / 5 and outcomes["defined"] > count / 20
