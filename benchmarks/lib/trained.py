"""Trained policies: trained where they are missing, and at play in the fluid simulator."""

import json

import jax
import jax.numpy as jnp

from ccmatic.controllers import signal
from ccmatic.learning import Environment, RolloutPolicy, agents, policies, sender, stateless, trained
from ccmatic.learning.envs import rollout


def train(folder, name, sections, seeds, load=policies.load):
    """Yields what was trained from each seed, as `load` has it, from the folder's file of this name and seed if there
    is one; else it is trained first, and goes on where it was cut off. sections: of its query."""
    query = folder / f"{name}.toml"
    folder.mkdir(parents=True, exist_ok=True)
    query.write_text("\n".join(f"[{title}]\n" + _lines(values) for title, values in sections.items()))
    for seed in seeds:
        file = folder / f"{name}_{seed}.json"
        if not file.exists():
            print(f"{file.stem} is trained", flush=True)
            agents.train(agents.load(query), seed, file)
        yield load(file)


def _lines(values):
    return "".join(f"{key} = {_toml(value)}\n" for key, value in values.items())


def _toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value)


def episode(group, options, links):
    """The Episode of Policies that differ in their numbers alone, whose actions are clipped as in training: of as many
    links as asked for each, those of the first one first."""
    environment, _ = trained(group[0], options)
    return rollout(environment, together(group, environment.bounds), jax.random.key(1), links * len(group))


def together(group, bounds):
    """The RolloutPolicy of several Policies that differ in their numbers alone, each of which acts on as many links."""
    layers = jax.tree.map(lambda *arrays: jnp.stack(arrays), *(policy.layers for policy in group))

    def decide(seen):
        actions = jax.vmap(policies.outputs)(layers, seen.reshape(len(group), -1, *seen.shape[1:]))[..., 0]
        return jnp.clip(actions.reshape(seen.shape[:2]), *bounds)

    return stateless(decide)


def played(who, options, links):
    """The Episode of Policies, as `episode` has it, or of a sender by its name, on so many links."""
    if not isinstance(who, str):
        return episode(who, options, links)
    environment = Environment(options, act="rate")
    return rollout(environment, sender(who, environment), jax.random.key(1), links)


def saying_rates(group):
    """The RolloutPolicy of Policies, as `together` has it, whose actions are rates."""
    formula = signal.load("act", "ltp")
    policy = together(group, formula.bounds)

    def act(memory, links, state, seen):
        memory, action = policy.act(memory, links, state, seen)
        return memory, state.knowledge._replace(action=action.T).value(formula.term, rate=state.rate).T

    return RolloutPolicy(policy.begin, act)


def beside(first, other):
    """The RolloutPolicy of links whose first flow one sends, and all others another; both say rates."""

    def act(memory, links, state, seen):
        one, mine = first.act(memory[0], links, state, seen)
        two, others = other.act(memory[1], links, state, seen)
        return (one, two), jnp.concatenate([mine[:, :1], others[:, 1:]], axis=1)

    return RolloutPolicy(lambda links: (first.begin(links), other.begin(links)), act)
