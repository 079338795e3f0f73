"""Networks as lists of arrays: the form in which agents learn them, and in which policy files store them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.learning import policies

#: (weights (inputs, outputs), bias (outputs)) of each layer, with tanh between layers.
Network: TypeAlias = list[tuple[Array, Array]]


def begin(key: Array, inputs: int, layers: Sequence[int], last: float | None = None) -> Network:
    """Return a random network with one output.

    The weights of a layer have the standard deviation 1/√inputs (LeCun's), and the biases are 0.

    Args:
        key: The key of jax.random.
        inputs: The number of inputs.
        layers: The number of units of each hidden layer.
        last: The standard deviation of the last layer's weights; None for that of the other layers.
    """
    sizes = [inputs, *layers, 1]
    scales = [size**-0.5 for size in sizes[:-1]]
    if last is not None:
        scales[-1] = last
    return [
        (scale * jax.random.truncated_normal(one, -2, 2, pair) / 0.88, jnp.zeros(pair[1]))
        for one, scale, pair in zip(jax.random.split(key, len(scales)), scales, pairwise(sizes), strict=True)
    ]


def output(network: Network, x: Array) -> Array:
    """Return the output (…) of a network for inputs (…, inputs)."""
    return policies.outputs(network, x)[..., 0]
