"""One link in C: the same numbers as in the arrays of JAX."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import pickle

import numpy as np
import pytest

from ccmatic.learning import Environment, Fluid, LinkEnv, LinkOptions
from ccmatic.learning.envs.native import Native, is_playable
from ccmatic.learning.envs.played import Played
from support.machine import needs_compiler

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


@pytest.mark.parametrize("name", CASES)
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


def test_a_formula_that_divides_by_0_has_one_value_in_c_and_in_arrays(tmp_path):
    """The quotient is infinite until bytes are lost."""
    file = tmp_path / "mine.py"
    file.write_text("def observe(byte, lost):\n    return [byte / lost]\n")
    links = LinkOptions(steps=STEPS, first=3.0, buffer_bdp=0.2)
    environment = Environment(links, observe=str(file), history=1)
    ours, arrays = (played(make(environment), [5], np.zeros(8)) for make in (Native, lambda e: Played(Fluid(e))))
    assert ours[1][0] == np.inf and np.isfinite(ours[-1][0])
    np.testing.assert_allclose(ours, arrays, rtol=2e-3, atol=2e-3)


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
