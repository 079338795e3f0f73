"""Train missing policies, and play policies in the fluid simulator."""

import json

import jax
import jax.numpy as jnp

from ccmatic.controllers import signal
from ccmatic.deployment import policies
from ccmatic.learning import Environment, RolloutPolicy, agents, sender, stateless, trained
from ccmatic.learning.envs import rollout

#: The first rates of senders in studies of papers: shares of the link's rate, as in Aurora's simulator. The default of
#: environments is the deployed start.
START = {"first": {"low": 0.3, "high": 1.5}}


def train(folder, name, sections, seeds, load=policies.load):
    """Yield a trained policy for each seed. The function trains policies for which the folder has no file.

    An interrupted training resumes.

    Args:
        folder: The folder of the files.
        name: The name of the policy.
        sections: The sections of the policy's query.
        seeds: The seeds of the trainings.
        load: The function that loads the policy's file.
    """
    query = folder / f"{name}.toml"
    folder.mkdir(parents=True, exist_ok=True)
    query.write_text(sections_of(sections))
    for seed in seeds:
        file = folder / f"{name}_{seed}.json"
        if not file.exists():
            print(f"{file.stem} is trained", flush=True)
            agents.train(query, file, seed=seed)
        yield load(file)


def sections_of(sections):
    """Return the text of a query with these sections."""
    return "\n".join(f"[{title}]\n" + _lines(values) for title, values in sections.items())


def _lines(values):
    return "".join(f"{key} = {_toml(value)}\n" for key, value in values.items())


def _toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(part)}" for key, part in value.items()) + "}"
    return json.dumps(value)


def episode(group, options, links):
    """Return the Episode of Policies that differ only in their weights, with actions clipped as in training.

    Each policy plays on `links` links. The result begins with the links of the first policy.
    """
    environment, _ = trained(group[0], options)
    return rollout(environment, together(group, environment.bounds), jax.random.key(1), links * len(group))


def together(group, bounds):
    """Return one RolloutPolicy for Policies that differ only in their weights.

    Each Policy acts on the same number of links.
    """
    layers = jax.tree.map(lambda *arrays: jnp.stack(arrays), *(policy.layers for policy in group))

    def decide(observations):
        actions = jax.vmap(policies.outputs)(layers, observations.reshape(len(group), -1, *observations.shape[1:]))[
            ..., 0
        ]
        return jnp.clip(actions.reshape(observations.shape[:2]), *bounds)

    return stateless(decide)


def played(who, options, links):
    """Return the Episode of Policies (see `episode`) or of a sender given by its name, on `links` links each."""
    if not isinstance(who, str):
        return episode(who, options, links)
    environment = Environment(options, act="rate")
    return rollout(environment, sender(who, environment), jax.random.key(1), links)


def saying_rates(group):
    """Return the RolloutPolicy of `together`, but with rates as actions."""
    formula = signal.load("act", "ltp")
    policy = together(group, formula.bounds)

    def act(memory, links, state, observation):
        memory, action = policy.act(memory, links, state, observation)
        return memory, state.knowledge._replace(action=action.T).value(formula.term, rate=state.rate).T

    return RolloutPolicy(policy.begin, act)


def beside(first, other):
    """Return a RolloutPolicy: one policy controls each link's first flow, and another policy all other flows.

    The actions of both policies are rates.
    """

    def act(memory, links, state, observation):
        one, mine = first.act(memory[0], links, state, observation)
        two, others = other.act(memory[1], links, state, observation)
        return (one, two), jnp.concatenate([mine[:, :1], others[:, 1:]], axis=1)

    return RolloutPolicy(lambda links: (first.begin(links), other.begin(links)), act)
