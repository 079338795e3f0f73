"""A neural network as a program of the language: the single definition of its computation."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ccmatic.language import Affine, Extreme, Function, Name, Number, Tree

if TYPE_CHECKING:  # Exports do not need JAX.
    from jax import Array

    Numbers: TypeAlias = Array | NDArray[np.float32]

#: The weights and the bias of a layer, in the form of an `Affine`.
Weights: TypeAlias = tuple[tuple[Fraction, ...], ...] | str
Bias: TypeAlias = tuple[Fraction, ...] | str

#: The name of a network's input, which is a vector.
OBSERVATION = "observation"

#: The functions that may follow a layer, by name, as functions of trees.
ACTIVATIONS: dict[str, Callable[[Tree], Tree]] = {
    "tanh": lambda x: Function("tanh", (x,)),
    "relu": lambda x: Extreme("max", (Number(Fraction(0)), x)),
    "none": lambda x: x,
}


def activations_of(count: int) -> tuple[str, ...]:
    """Return the activations of a trained network with `count` layers: tanh, and `none` after the last."""
    return (*["tanh"] * (count - 1), "none")


def program(layers: Sequence[tuple[Weights, Bias]], activations: Sequence[str] | None = None) -> Tree:
    """Return the program of a neural network.

    Args:
        layers: The (weights, bias) of each layer, in the form of an `Affine`: one row of weights per output, or names
            of arrays.
        activations: The key in ACTIVATIONS that follows each layer; None for those of `activations_of`.
    """
    x: Tree = Name(OBSERVATION)
    for (weights, bias), activation in zip(layers, activations or activations_of(len(layers)), strict=True):
        x = ACTIVATIONS[activation](Affine(weights, x, bias))
    return x


def outputs(
    layers: "Sequence[tuple[Numbers, Numbers]]", observations: "Array", activations: Sequence[str] | None = None
) -> "Array":
    """Return the outputs (…, outputs) of a network for observations (…, inputs), computed by JAX.

    Args:
        layers: Two arrays for each layer: weights (inputs, outputs) and bias (outputs).
        observations: The array of observations.
        activations: The key in ACTIVATIONS that follows each layer; None for those of `activations_of`.
    """
    from ccmatic.compilers.arrays import Components, Values  # This import is local, because exports do not need JAX.

    names = [(f"weights_{number}", f"bias_{number}") for number in range(len(layers))]
    arrays: dict[str, Any] = {OBSERVATION: Components(observations)}
    for (weights, bias), layer in zip(names, layers, strict=True):
        arrays |= {weights: layer[0].T, bias: layer[1]}
    given: Array = Values(arrays).of(program(names, activations))
    return given
