"""A policy with one hidden layer, as plain arrays."""

import jax
import jax.numpy as jnp


def begin(key, inputs, units):
    """Return [(weights, bias), …], near 0 in the last layer."""
    keys, sizes, scales = jax.random.split(key), (inputs, units, 1), (inputs**-0.5, 0.01)
    return [
        (scale * jax.random.normal(key, (rows, columns)), jnp.zeros(columns))
        for key, rows, columns, scale in zip(keys, sizes, sizes[1:], scales, strict=False)
    ]


def mean(layers, observations):
    """Return the mean actions (n, 1) for observations (n, inputs)."""
    (first, bias), (last, offset) = layers
    return jnp.tanh(observations @ first + bias) @ last + offset
