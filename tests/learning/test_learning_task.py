"""One link as pure functions: each link has its own clock, and a curriculum compiles."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.learning import Environment, LinkOptions, Task

STEPS = 4


def test_episodes_follow_one_another_on_links_with_their_own_clocks():
    environment = Environment(LinkOptions(steps=STEPS), history=2)
    task = Task(environment)

    @jax.jit
    def played(key):
        _, early = jax.vmap(task.init)(jax.random.split(key, 2))
        _, late, *_ = jax.vmap(task.step)(jax.random.split(key, 2), early, jnp.ones(2))
        # The first link is an interval behind the second.
        state = jax.tree.map(lambda a, b: jnp.stack([a[0], b[1]]), early, late)

        def interval(state, key):
            observation, state, reward, done, info = jax.vmap(task.step)(jax.random.split(key, 2), state, jnp.ones(2))
            return state, (observation, reward, done, info)

        return jax.lax.scan(interval, state, jax.random.split(key, 2 * STEPS))[1]

    observation, reward, done, info = jax.tree.map(np.asarray, played(jax.random.key(3)))
    assert done[:, 0].tolist() == [False, False, False, True] * 2
    assert done[:, 1].tolist() == [False, False, True, False] * 2
    assert (observation[done] == 0).all() and (info["final_obs"][done] != 0).any()
    assert np.isfinite(reward).all() and (info["throughput_mbit"] > 0).any()
    key = jax.random.split(jax.random.key(3), 2)[0]
    links, state = jax.jit(environment.reset, static_argnums=1)(key[None], 1)
    once = jax.jit(environment.step)
    for step in range(STEPS):
        state, seen, paid = once(links, state, jnp.ones((1, 1)))
        np.testing.assert_allclose(seen[0, 0], info["final_obs"][step, 0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(paid[0, 0], reward[step, 0], rtol=1e-4, atol=1e-5)


def test_a_curriculum_compiles_and_stays_within_the_options():
    task = Task(Environment(LinkOptions(steps=1, rate=[8, 64], rtt=32), act="rate", observe="ltp"))

    @jax.jit
    def rates(key, lows):
        def interval(state, low):
            params = {"rate": (low, low + 1)}
            _, state, *_ = task.step(key, state, 0.0, params)
            return state, state.links.capacity[0, 0] / state.links.slot[0] / 125_000

        return jax.lax.scan(interval, task.init(key)[1], lows)[1]

    found = np.asarray(rates(jax.random.key(1), jnp.array([10.0, 20.0, 40.0, 500.0])))
    assert (found[:3] >= [9.9, 19.9, 39.9]).all() and (found[:3] <= [11, 21, 41]).all()
    assert found[3] == pytest.approx(64, rel=1e-3)


@pytest.mark.parametrize("params, message", [
    ({"speed": (1, 2)}, "no range of 'speed' here"),
    ({"rate": 3}, "the range of rate is 3; expected a pair"),
    ({"first": (1, 2)}, "no range of 'first' here"),
    ({"buffer_bdp": (1, 2)}, "no range of 'buffer_bdp' here; did you mean 'buffer'?"),
    ({"rate": (30, 20)}, r"the range of rate is \(30, 20\); expected a pair of numbers"),
    ({"rate": (20, 300)}, r"the range of rate is \(20, 300\); expected numbers from "),
    ({"rate": (20, float("nan"))}, r"the range of rate is \(20, nan\); expected a pair of numbers"),
    ({"rate": ("20", "x")}, r"the range of rate is \('20', 'x'\); expected a pair of numbers"),
])  # fmt: skip
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(InputError, match=message):
        Task(Environment(LinkOptions())).init(jax.random.key(0), params)
    with pytest.raises(InputError, match="a task of 2 flows; expected one"):
        Task(Environment(LinkOptions(flows=2)))


def test_wrong_keys_and_actions_are_refused():
    task = Task(Environment(LinkOptions()))
    with pytest.raises(InputError, match=r"the key is 0; expected a key such as jax.random.key\(1\)"):
        task.init(0)
    with pytest.raises(InputError, match=r"the action has the shape \(2,\); expected one number"):
        task.step(jax.random.key(1), jax.jit(task.init)(jax.random.key(0))[1], jnp.zeros(2))
