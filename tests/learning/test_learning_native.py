"""One link in C: the same numbers as in the arrays of JAX."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import pickle

import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.learning import Environment, Fluid, LinkEnv, LinkOptions
from ccmatic.learning.envs.native import Native, is_playable
from ccmatic.learning.envs.backends import Played
from support.machine import needs_compiler
from support.sampling import each_nth

pytestmark = needs_compiler

STEPS = 60

CASES = {
    "a start of ten packets": ({"buffer_bdp": 1}, "aurora"),
    "shares, losses, jitter and slots": (
        {"first": 0.5, "loss": [0.002, 0.1], "jitter": 12, "interval": "3/2", "links": "changing", "period": 0.3},
        "orca",
    ),
    "jitter of less than a slot": ({"jitter": 4, "pattern": "latest", "buffer_bdp": 0.3, "first": 1.4}, "custard"),
    "a reward that reads the link's rate": ({"first": 1.2, "links": "smooth"}, "ltp"),
}


def played(player, seeds, actions):
    """Observations, rewards and measures after each interval."""
    outcomes = [player.reset(seeds), *(player.step(np.float32(action).reshape(1, 1)) for action in actions)]
    return [np.concatenate([np.ravel(x) for x in (*each[:2], *each.measures.values())]) for each in outcomes]


@pytest.mark.parametrize("name", each_nth(2, CASES))
def test_a_link_in_c_gives_the_numbers_of_the_arrays(name):
    """Up to the roundings of single floats, which may move a whole byte."""
    options, task = CASES[name]
    links = LinkOptions(steps=STEPS, **options)
    environment = Environment(links, observe=task, act=task, reward=task, history=3, delay=2)
    assert is_playable(environment)
    actions = np.random.default_rng(1).uniform(*environment.bounds, STEPS) / 4
    ours, arrays = (played(make(environment), [5], actions) for make in (Native, lambda e: Played(Fluid(e))))
    assert len({row.tobytes() for row in ours}) > STEPS / 2
    for step, (one, other) in enumerate(zip(ours, arrays, strict=True)):
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3, err_msg=f"interval {step}")


def test_bytes_that_wait_for_a_burst_of_the_link_are_late(tmp_path):
    """The link serves in every tenth slot of 10 ms. Then the first byte has waited nine slots, and the last none."""
    (tmp_path / "bursts").write_text("100\n" * 50)
    environment = Environment(LinkOptions(links=f"mahimahi:{tmp_path}/bursts", rtt=10, steps=40), act="rate")
    for player in (Native(environment), Played(Fluid(environment))):
        player.reset([1])
        outcomes = [player.step(np.full((1, 1), 4e5, np.float32)) for _ in range(40)]
        late = [float(each.measures["rtt_ms"][0, 0]) for each in outcomes if each.measures["throughput_mbit"][0, 0]]
        assert late[1:] == pytest.approx([10 + 90 / 2] * 3)


def test_a_formula_that_divides_by_0_has_one_value_in_c_and_in_arrays(tmp_path):
    """Until bytes are lost, the first quotient is infinite, and the second and its extremes are no numbers."""
    file = tmp_path / "mine.py"
    extremes = ("max(lost / lost, 1 / 2)", "max(1 / 2, lost / lost)", "min(lost / lost, 2)", "min(2, lost / lost)")
    compared = ", ".join(f"1 if {each} > 1 / 4 else 0" for each in extremes)
    file.write_text(f"def observe(byte, lost):\n    return [min(byte / lost, 2), {compared}]\n")
    links = LinkOptions(steps=STEPS, first=3.0, buffer_bdp=0.2)
    environment = Environment(links, observe=str(file), history=1)
    ours, arrays = (played(make(environment), [5], np.zeros(8)) for make in (Native, lambda e: Played(Fluid(e))))
    assert (ours[1][:5] == (2, 0, 0, 0, 0)).all() and (ours[-1][1:5] == 1).all()
    np.testing.assert_allclose(ours, arrays, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("observation, found", each_nth(2, [("byte / lost", "inf"), ("lost / lost", "nan")]))
def test_an_observation_that_is_not_finite_is_refused(observation, found, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(f"def observe(byte, lost):\n    return [{observation}]\n")
    environment = Environment(LinkOptions(steps=STEPS), observe=str(file), history=1)
    for player in (Native(environment), Played(Fluid(environment))):
        player.reset([5])
        with pytest.raises(InputError, match=f"the observation is {found}; expected finite numbers"):
            player.step(np.zeros((1, 1), np.float32))


@pytest.mark.parametrize(
    "options",
    [
        {"flows": 2},
        {"model": "policer"},
        {"observe": "beliefs"},
        {"act": "envelope:cc_qdel_wide"},
        {"reward": lambda known: known.now.rtt},
    ],
)
def test_other_environments_are_left_to_jax(options):
    task = {name: options.pop(name) for name in ("observe", "act", "reward") if name in options}
    assert not is_playable(Environment(LinkOptions(**options), **task))


def test_a_running_episode_survives_pickle():
    env = LinkEnv(steps=20, jitter=3)
    env.reset(seed=2)
    for _ in range(7):
        env.step([0.5])
    again = pickle.loads(pickle.dumps(env))
    for _ in range(13):
        one, other = (each.step([0.3]) for each in (env, again))
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1:] == other[1:]
    assert one[3]
    np.testing.assert_array_equal(env.reset()[0], again.reset()[0])
    np.testing.assert_array_equal(env.step([1.0])[0], again.step([1.0])[0])
