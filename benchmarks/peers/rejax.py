"""Compare ccmatic's PPO with rejax's PPO: the same links, settings and number of intervals, on ccmatic-bench-v1.

    python -m benchmarks.peers.rejax FOLDER [--episodes N] [--suites NAME ...]

Needs the package rejax. Both learn on links of the suite `constant`, for three seeds at once. rejax learns through
ccmatic's public functions: an Environment, whose `reset` and `step` a gymnax environment calls. The command prints
intervals per second of processor time, with and without compilation, the rewards of all policies on the same links of
the suite `constant`, and the measures of all policies on the benchmark.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import jax
import jax.interpreters.xla
import jax.numpy as jnp
import numpy as np
from jax._src import core

from benchmarks.lib.trained import sections_of
from ccmatic import records
from ccmatic.deployment import policies
from ccmatic.learning import Environment, LinkOptions, agents, bench

jax.interpreters.xla.pytype_aval_mappings = core.pytype_aval_mappings  # tensorflow-probability 0.25 reads this name

import rejax  # noqa: E402
from gymnax.environments import environment as gymnax_env  # noqa: E402
from gymnax.environments import spaces  # noqa: E402

TASK = {"observe": "orca", "act": "custard", "history": 4}
REWARD, SEEDS, PARALLEL, STEPS, ROLLOUT = "ltp", 3, 64, 401, 25

#: The number of links from which an episode of rejax draws one.
POOL = 512


class State(NamedTuple):
    """A link, and the state of its episode."""

    links: object
    state: object
    time: object


class Task(gymnax_env.Environment):
    """One link as an environment of gymnax. Episodes draw their links from a pool."""

    def __init__(self, options):
        super().__init__()
        self.environment = Environment(LinkOptions(**options), **TASK, reward=REWARD)
        self.pool = jax.vmap(lambda key: self.environment.reset(key, 1))(jax.random.split(jax.random.key(5), POOL))

    @property
    def default_params(self):
        """The parameters of gymnax: the length of an episode."""
        return gymnax_env.EnvParams(max_steps_in_episode=STEPS - 1)

    def reset_env(self, key, params):
        """Begin an episode."""
        number = jax.random.randint(key, (), 0, POOL)
        links, state = jax.tree.map(lambda part: part[number], self.pool)
        return self.environment.observation(state)[0, 0], State(links, state, jnp.int32(0))

    def step_env(self, key, state, action, params):
        """Play an interval."""
        after, seen, reward = self.environment.step(state.links, state.state, jnp.reshape(action, (1, 1)))
        state = State(state.links, after, state.time + 1)
        return seen[0, 0], state, reward[0, 0], state.time >= params.max_steps_in_episode, {}

    def step(self, key, state, action, params=None):
        """Play an interval. After an episode, begin the next."""
        params = params or self.default_params
        seen, after, reward, done, info = self.step_env(key, state, action, params)
        first, begun = self.reset_env(key, params)
        after = jax.tree.map(lambda new, old: jnp.where(done, new, old), begun, after)
        return jnp.where(done, first, seen), after, reward, done, info

    def observation_space(self, params):
        """The space of observations."""
        return spaces.Box(-jnp.inf, jnp.inf, (self.environment.size,))

    def action_space(self, params=None):
        """The space of actions."""
        return spaces.Box(*self.environment.bounds, (1,))


def theirs(options, intervals):
    """Train rejax's PPO. Return (a decision per seed, seconds of compilation, seconds of training)."""
    env = Task(options)
    kwargs = {"activation": "tanh", "hidden_layer_sizes": (32, 16)}
    algorithm = rejax.PPO.create(
        env=env, env_params=env.default_params, agent_kwargs=kwargs, num_envs=PARALLEL, num_steps=ROLLOUT,
        num_epochs=4, num_minibatches=4, learning_rate=1e-3, gamma=0.99, max_grad_norm=0.5, ent_coef=0.0, vf_coef=2.5,
        total_timesteps=intervals, eval_freq=intervals, skip_initial_evaluation=True, normalize_rewards=True,
    )  # fmt: skip
    algorithm = algorithm.replace(eval_callback=lambda algorithm, state, key: jnp.float32(0))
    begun = time.process_time()
    compiled = jax.jit(jax.vmap(algorithm.train)).lower(jax.random.split(jax.random.PRNGKey(1), SEEDS)).compile()
    ready = time.process_time()
    states, _ = jax.block_until_ready(compiled(jax.random.split(jax.random.PRNGKey(1), SEEDS)))
    ended = time.process_time()

    def decision(number):
        params = jax.tree.map(lambda part: part[number], states.actor_ts.params)
        act = jax.jit(lambda seen: algorithm.actor.apply(params, seen, method="_action_dist").mean())
        return lambda seen: np.asarray(act(jnp.asarray(seen)))[:, 0]

    return [decision(number) for number in range(SEEDS)], ready - begun, ended - ready


def ours(folder, options, episodes):
    """Train ccmatic's PPO. Return (files, seconds until the end of the first episode, seconds of other episodes)."""
    sections = {
        "environment": {**options, **TASK, "reward": REWARD},
        "agent": {"parallel": PARALLEL, "episodes": episodes, "rollout": ROLLOUT},
    }
    query = folder / "ours.toml"
    query.write_text(sections_of(sections))
    begun, times = time.process_time(), []
    files = agents.train(
        query, folder / "ours.json", seed=1, seeds=SEEDS, told=lambda line: times.append(time.process_time())
    )
    return files, times[SEEDS - 1] - begun, times[-1] - times[SEEDS - 1]


def decision_of(policy):
    """Return the function from observations to actions of a policy of ccmatic."""
    act = jax.jit(lambda seen: policies.outputs(policy.layers, seen)[:, 0])
    return lambda seen: np.asarray(act(jnp.asarray(seen)))


def compare(ours, theirs, options):
    """Print the mean reward of each policy on the same links, and the paired difference of the means of both groups."""
    groups = [np.stack([rewards(decide, options) for decide in group]) for group in (ours, theirs)]
    for name, group in zip(("ccmatic", "rejax"), groups, strict=True):
        print(f"{name}: mean rewards of an interval {', '.join(f'{each:.3f}' for each in group.mean(1))}", flush=True)
    away = groups[0].mean(0) - groups[1].mean(0)
    half = 1.96 * away.std(ddof=1) / len(away) ** 0.5
    print(f"difference of rewards on the same {len(away)} links: {away.mean():.3f} ± {half:.3f}", flush=True)


def rewards(decide, options):
    """Return the mean reward of an episode on each of the links of the benchmark's suite `constant`."""
    environment, benchmark = Environment(LinkOptions(**options), **TASK, reward=REWARD), bench.load()
    links, state = environment.reset(jax.random.fold_in(jax.random.key(benchmark.seed), 0), benchmark.links)
    step, observe, total = jax.jit(environment.step), jax.jit(environment.observation), 0
    for _ in range(environment.options.steps):
        state, _, reward = step(links, state, decide(np.asarray(observe(state))[:, 0]).reshape(-1, 1))
        total = total + reward[:, 0]
    return np.asarray(total) / environment.options.steps


def main():
    """Train both, and print speeds and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--episodes", type=int, default=39)
    parser.add_argument("--suites", nargs="*", default=[], help="the suites of the comparison; all by default")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    benchmark = bench.load()
    options = {**benchmark.suite("constant").options, "steps": STEPS}
    intervals = given.episodes * (STEPS - 1) * PARALLEL
    files, first, rest = ours(given.folder, options, given.episodes)
    speed = SEEDS * intervals * (given.episodes - 1) / given.episodes / rest
    print(
        f"ccmatic: {first:.1f} s with compilation and one episode, then {speed:,.0f} intervals per CPU second",
        flush=True,
    )
    decisions, compiling, training = theirs(options, intervals)
    compare([decision_of(policies.load(file)) for file in files], decisions, options)
    print(
        f"rejax: {compiling:.1f} s of compilation, then {SEEDS * intervals / training:,.0f} intervals per CPU second",
        flush=True,
    )
    players = [f"policy:{file}" for file in files]
    players += [bench.Learner(f"rejax_{number + 1}", decide, TASK) for number, decide in enumerate(decisions)]
    for line in bench.bench(players, given.suites, out=given.folder / "leaderboard.jsonl"):
        print(records.line(line), flush=True)


if __name__ == "__main__":
    main()
