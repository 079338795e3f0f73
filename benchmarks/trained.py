"""Trained policies at play in the fluid simulator."""

import jax
import jax.numpy as jnp

from ccmatic.learning import Environment, rollout, stateless


def episode(policy, asked, links):
    """The Episode of a Policy, whose actions are clipped as in its training, on so many links as asked for."""
    learned = {each: getattr(policy.file, each) for each in ("observe", "act", "reward", "history", "delay")}
    environment = Environment(asked, **learned)
    act = stateless(lambda seen: jnp.clip(_network(policy, seen), *environment.bounds))
    return rollout(environment, act, jax.random.key(1), links)


def _network(policy, x):
    """The actions (n, f) for observations (n, f, numbers)."""
    for weights, bias in policy.layers[:-1]:
        x = jnp.tanh(x @ weights + bias)
    weights, bias = policy.layers[-1]
    return (x @ weights + bias)[..., 0]
