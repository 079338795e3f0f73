"""The contract of a learning algorithm: its Agent learns on Links.

The file `train.py` in the folder of an algorithm sets AGENT to a subclass of Agent.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic import contracts
from ccmatic.base import InputError, shown
from ccmatic.deployment import policies
from ccmatic.learning.envs import Learnable

if TYPE_CHECKING:
    from ccmatic.learning.agents.query import Training

#: (weights (inputs, outputs), bias (outputs)) of each layer.
Network: TypeAlias = list[tuple[Array, Array]]


@partial(jax.tree_util.register_dataclass, data_fields=["layers", "cell"], meta_fields=["activation"])
@dataclass(frozen=True)
class Actor:
    layers: Network
    cell: policies.Cell | None = None  #: in front of the layers; None if they read the observation
    activation: str = "tanh"  #: the function between the layers, a name as in a policy's file

    @property
    def activations(self) -> tuple[str, ...]:
        return policies.activations_of(len(self.layers), self.activation)

    def first_memory(self, flows: int) -> Array:
        return jnp.zeros((flows, self.cell.units if self.cell else 0))

    def remembered(self, memory: Array, seen: Array) -> Array:
        return policies.remembered(self.cell, seen, memory) if self.cell else memory

    def outputs(self, memory: Array, seen: Array) -> Array:
        """Return the outputs (…, outputs) for an observation and the memory after it."""
        return policies.outputs(self.layers, memory if self.cell else seen, self.activations)


def begin_cell(key: Array, inputs: int, units: int) -> policies.Cell:
    taken = {"update": inputs + units, "reset": inputs + units, "candidate": inputs, "recalled": units}
    keys = jax.random.split(key, len(taken))
    return policies.Cell(
        **{
            name: (size**-0.5 * jax.random.truncated_normal(one, -2, 2, (size, units)) / 0.88, jnp.zeros(units))
            for one, (name, size) in zip(keys, taken.items(), strict=True)
        }
    )


def begin_network(
    key: Array, inputs: int, layers: Sequence[int], last: float | None = None, outputs: int = 1
) -> Network:
    """Return a random network.

    The weights of a layer have the standard deviation 1/√inputs (LeCun's), those of the last layer `last` if it is
    given.
    """
    sizes = [inputs, *layers, outputs]
    scales = [size**-0.5 for size in sizes[:-1]]
    if last is not None:
        scales[-1] = last
    return [
        (scale * jax.random.truncated_normal(one, -2, 2, pair) / 0.88, jnp.zeros(pair[1]))
        for one, scale, pair in zip(jax.random.split(key, len(scales)), scales, pairwise(sizes), strict=True)
    ]


def output(network: Network, x: Array) -> Array:
    """Return the output (…) of a network with tanh between its layers, for inputs (…, inputs)."""
    return policies.outputs(network, x)[..., 0]


class Played(NamedTuple):
    links: contracts.Links
    state: Any  #: the state of the environment
    sums: Array  #: Four sums over the episode so far: the mean reward, and the environment's `totals`


@dataclass(frozen=True)
class Links:
    environment: Learnable[Any]  #: the Environment, or another Learnable
    n: int

    @property
    def flows(self) -> int:
        return self.n * self.environment.options.flows

    def begin(self, key: Array) -> tuple[Played, Array]:
        """Begin an episode on links that the key determines. Return the Played and the observation (flows, size)."""
        links, state = self.environment.reset(key, self.n)
        return Played(links, state, jnp.zeros(4)), self._flat(self.environment.observation(state))

    def step(self, played: Played, actions: Array) -> tuple[Played, Array, Array]:
        """Play one interval with actions (flows). Return the Played, observations (flows, size) and rewards (flows)."""
        environment, (links, state, sums) = self.environment, played
        actions = jnp.clip(actions.reshape(self.n, -1), *environment.bounds)
        state, observation, reward = environment.step(links, state, actions)
        sums = sums + jnp.stack([reward.mean(), *environment.totals(links, state)])
        return Played(links, state, sums), self._flat(observation), reward.reshape(-1)

    def measures(self, sums: Array) -> Array:
        """Return the mean reward, the acknowledged share of what the links could serve, and the mean RTT in ms."""
        reward, acked, served, waited = jnp.moveaxis(sums, -1, 0)
        return jnp.stack(
            [reward / self.environment.options.steps, acked / served, waited / jnp.maximum(acked, 1) * 1000], axis=-1
        )

    def _flat(self, observation: Array) -> Array:
        return observation.reshape(self.flows, -1)


#: The largest number of an option. Without this limit, a small file could request too much memory.
MOST = 2**20


@dataclass(frozen=True)
class NoOptions:
    """The Options of an algorithm without further options."""


#: An agent's state: a tree of arrays with everything that the agent has learned.
AgentState: TypeAlias = Any


class Agent(ABC):
    """A learner as pure functions of its state, which JAX compiles.

    A training compiles the method `learn` for all its seeds at once. So the methods contain no Python side effects, and
    have no state of their own.

    Attributes:
        CHOOSES: Whether the algorithm supports the option `choices` of the environment.
        Options: A frozen dataclass. Its fields are the keys of the section [agent] that only this algorithm supports,
            with their defaults. Its method `__post_init__` raises InputError for wrong values (see `require_whole`).
        training: The Training. The attribute `training.agent` has the section [agent], `training.agent.options` has the
            Options, and `training.links` has the Links.
    """

    CHOOSES: ClassVar[bool] = False
    Options: ClassVar[type[Any]] = NoOptions

    @classmethod
    def check(cls, training: "Training") -> None:
        """Raise InputError if the algorithm cannot learn in a Training."""
        return

    def __init__(self, training: "Training") -> None:
        self.training = training

    @abstractmethod
    def begin(self, key: Array) -> AgentState:
        """Return the state of an agent with a random initial policy.

        Args:
            key: The key of jax.random for all random initial values.
        """

    @abstractmethod
    def learn(self, state: AgentState, links: Array, key: Array) -> "tuple[AgentState, Played]":
        """Play one episode of `training.environment.options.steps` intervals, and learn from it.

        Args:
            state: The state of the agent.
            links: The key of jax.random for the links of this episode. The method `training.links.begin` needs it.
            key: The key of jax.random for all other random choices.

        Returns:
            The next state, and the Played of the episode.
        """

    @abstractmethod
    def deviation(self, state: AgentState) -> Array:
        """Return the standard deviation of the actions, by which the agent explores."""

    @abstractmethod
    def layers(self, state: AgentState) -> list[tuple[Any, Any]]:
        """Return (weights (inputs, outputs), bias (outputs)) for each layer of the policy.

        There is a tanh between layers. With `choices`, the last layer has a score for each of them.
        """

    def cell(self, state: AgentState) -> policies.Cell | None:
        """Return the unit with memory in front of the layers; None if the layers read the observation."""
        return None

    def actor(self, state: AgentState) -> Actor:
        return Actor(self.layers(state), self.cell(state))


def require_whole(options: object, *names: str) -> None:
    for name in names:
        if not is_whole(getattr(options, name)):
            raise InputError(f"{name} is {shown(getattr(options, name))}; expected a whole number from 1 to {MOST}")


def is_whole(value: object, most: int = MOST) -> bool:
    return type(value) is int and 1 <= value <= most
