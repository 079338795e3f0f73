"""Trained policies: trained where they are missing, and at play in the fluid simulator."""

import json

import jax

from ccmatic import policies, training
from ccmatic.learning import rollout, trained


def train(folder, name, environment, agent, seeds):
    """Yields the Policy of each seed, from the folder's file of this name and seed if there is one; else it is trained
    first, and goes on where it was cut off. environment, agent: the sections of its query."""
    query = folder / f"{name}.toml"
    sections = {"environment": environment, "agent": agent}
    folder.mkdir(parents=True, exist_ok=True)
    query.write_text("\n".join(f"[{title}]\n" + _lines(values) for title, values in sections.items()))
    for seed in seeds:
        file = folder / f"{name}_{seed}.json"
        if not file.exists():
            print(f"{file.stem} is trained", flush=True)
            training.train(training.load(query), seed, file)
        yield policies.load(file)


def _lines(values):
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())


def episode(policy, asked, links):
    """The Episode of a Policy, whose actions are clipped as in its training, on so many links as asked for."""
    return rollout(*trained(policy, asked), jax.random.key(1), links)
