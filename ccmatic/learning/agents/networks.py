"""Networks as lists of arrays: the form in which agents learn them, and in which policy files store them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.deployment import policies

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


def begin(key: Array, inputs: int, layers: Sequence[int], last: float | None = None, outputs: int = 1) -> Network:
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
