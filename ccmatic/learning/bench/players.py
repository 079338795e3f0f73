"""The players of a benchmark: senders by name, trained policies, edges of envelopes, guards, and learners."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
from numpy.typing import NDArray

from ccmatic.base import InputError, definitions, shown, suggest
from ccmatic.deployment import policies
from ccmatic.learning.envs import (
    Environment,
    LinkOptions,
    RolloutPolicy,
    make_environment,
    sender,
    stateless,
    trained,
)

#: The options of a Learner's task. The suite determines all others.
TASK = ("observe", "act", "reward", "history", "delay")

#: The action at each edge of an envelope.
EDGES = {"low": -1.0, "high": 1.0}


@dataclass(frozen=True)
class Learner:
    """A policy of any library."""

    name: str  #: the name in the leaderboard
    decide: Callable[[NDArray[Any]], NDArray[Any]]  #: from observations (n, size) to actions (n)
    task: dict[str, Any] = field(default_factory=dict)  #: the options TASK of its environment

    def environment(self, options: LinkOptions) -> Environment:
        for name in self.task:
            if name not in TASK:
                raise InputError(f"unknown option '{shown(name)}' in the task of {self.name}; {suggest(name, TASK)}")
        checked = make_environment(self.task)
        return Environment(options, **{name: getattr(checked, name) for name in TASK})


def player(name: str, options: LinkOptions) -> tuple[Environment, RolloutPolicy]:
    """Return the Environment of a player (docs/reference/bench.md), and its RolloutPolicy there."""
    word, _, rest = name.partition(":")
    if word == "policy":
        return trained(policies.load(rest), options)
    if word == "envelope":
        return _edge(name, rest, options)
    if word == "guard":
        return _guard(name, rest, options)
    environment = Environment(options, act=definitions.chosen("models.signals", "RATE"))
    return environment, sender(name, environment)


def _edge(name: str, rest: str, options: LinkOptions) -> tuple[Environment, RolloutPolicy]:
    envelope, _, edge = rest.rpartition(":")
    if edge not in EDGES:
        raise InputError(f"cannot read the player '{name}'; expected envelope:NAME:low or envelope:NAME:high")
    environment = Environment(options, act=f"envelope:{envelope}")
    return environment, stateless(lambda observation: jnp.full(observation.shape[:2], EDGES[edge]))


def _guard(name: str, rest: str, options: LinkOptions) -> tuple[Environment, RolloutPolicy]:
    envelope, colon, inner = rest.partition(":")
    if not colon:
        raise InputError(f"cannot read the player '{name}'; expected guard:NAME:SENDER or guard:NAME:policy:FILE")
    word, _, file = inner.partition(":")
    if word == policies.GUARDED:
        return trained(policies.load(file), options, envelope)
    environment = Environment(options, act=definitions.chosen("models.signals", "RATE"), guard=envelope)
    return environment, sender(inner, environment)
