"""Senders and trained policies as players of an environment."""

import jax.numpy as jnp
from jax import Array

from ccmatic.base import InputError, definitions
from ccmatic.contracts import Links
from ccmatic.deployment import policies
from ccmatic.learning.envs.environment import Environment
from ccmatic.learning.envs.links import LinkOptions
from ccmatic.learning.envs.senders import sender_of_rates
from ccmatic.learning.envs.state import EnvironmentState, RolloutPolicy


def sender(name: str, environment: Environment) -> RolloutPolicy:
    """Return the RolloutPolicy of a sender.

    Args:
        name: One of these names. `constant:MBIT` sends at a rate in Mbit/s. `oracle` sends at the rate of the link, or
            at an equal share of this rate if there are several flows. `cubic` follows RFC 9438. Any other name is the
            path or the shipped name of a controller.
        environment: The Environment. Its actions must be rates.

    Raises:
        InputError: If there is no such sender, or the environment's actions are not rates.
    """
    if environment.act != definitions.chosen("models.signals", "RATE"):
        raise InputError(f"the actions of the sender '{name}' are rates; expected act='rate', not '{environment.act}'")
    return sender_of_rates(name, environment.options)


def trained(
    policy: policies.Policy, options: LinkOptions, guard: str | None = None
) -> tuple[Environment, RolloutPolicy]:
    """Return the Environment of a trained policy, and the policy's RolloutPolicy there.

    Observations, actions and rewards are those of the policy's training; a guard limits the rates, as in Environment.
    """
    learned = {name: getattr(policy.file, name) for name in ("observe", "act", "reward", "history", "delay")}
    environment = Environment(options, **learned, guard=guard)

    units = policy.cell.units if policy.cell else 0

    def act(memory: Array, links: Links, state: EnvironmentState, observation: Array) -> tuple[Array, Array]:
        if policy.cell:
            memory = observation = policies.remembered(policy.cell, observation, memory)
        given = policies.outputs(policy.layers, observation, policy.activations)
        if policy.choices:
            return memory, jnp.asarray(policy.choices, jnp.float32)[jnp.argmax(given, axis=-1)]
        return memory, jnp.clip(given[..., 0], *environment.bounds)

    return environment, RolloutPolicy(lambda links: jnp.zeros((*links.rtt.T.shape, units)), act)
