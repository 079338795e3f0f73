"""A neural network as a program of the language: the single definition of its computation."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ccmatic.language import Affine, Function, Name, Tree

if TYPE_CHECKING:  # Exports do not need JAX.
    from jax import Array

    Numbers: TypeAlias = Array | NDArray[np.float32]

#: The weights and the bias of a layer, in the form of an `Affine`.
Weights: TypeAlias = tuple[tuple[Fraction, ...], ...] | str
Bias: TypeAlias = tuple[Fraction, ...] | str

#: The name of a network's input, which is a vector.
OBSERVATION = "observation"


def program(layers: Sequence[tuple[Weights, Bias]]) -> Tree:
    """Return the program of a neural network. A tanh follows each layer except the last.

    Args:
        layers: The (weights, bias) of each layer, in the form of an `Affine`: one row of weights per output, or names
            of arrays.
    """
    x: Tree = Name(OBSERVATION)
    for number, (weights, bias) in enumerate(layers, 1):
        x = Affine(weights, x, bias)
        if number < len(layers):
            x = Function("tanh", (x,))
    return x


def outputs(layers: "Sequence[tuple[Numbers, Numbers]]", observations: "Array") -> "Array":
    """Return the outputs (…, outputs) of a network for observations (…, inputs), computed by JAX.

    Args:
        layers: Two arrays for each layer: weights (inputs, outputs) and bias (outputs).
        observations: The array of observations.
    """
    from ccmatic.compilers.arrays import Components, Values  # This import is local, because exports do not need JAX.

    names = [(f"weights_{number}", f"bias_{number}") for number in range(len(layers))]
    arrays: dict[str, Any] = {OBSERVATION: Components(observations)}
    for (weights, bias), layer in zip(names, layers, strict=True):
        arrays |= {weights: layer[0].T, bias: layer[1]}
    given: Array = Values(arrays).of(program(names))
    return given
