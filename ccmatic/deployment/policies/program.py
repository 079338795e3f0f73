"""A neural network as a program of the language: the single definition of its computation."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ccmatic.language import Affine, Binary, Extreme, Function, Item, Name, Number, Tree, Vector

if TYPE_CHECKING:  # Exports do not need JAX.
    from jax import Array

    Numbers: TypeAlias = Array | NDArray[np.float32]

#: The weights and the bias of a layer, in the form of an `Affine`.
Weights: TypeAlias = tuple[tuple[Fraction, ...], ...] | str
Bias: TypeAlias = tuple[Fraction, ...] | str

#: The name of a network's input, which is a vector.
OBSERVATION = "observation"


class Cell(NamedTuple):
    """A gated recurrent unit: the (weights (inputs, units), bias (units)) of its gates and its candidate.

    The inputs of `update` and `reset` are the observation and then the memory, those of `candidate` the observation,
    and those of `recalled` the memory.
    """

    update: Any
    reset: Any
    candidate: Any
    recalled: Any

    @property
    def units(self) -> int:
        """The number of numbers in the memory."""
        return int(self.update[1].shape[-1])


#: The functions that may follow a layer, by name, as functions of trees.
ACTIVATIONS: dict[str, Callable[[Tree], Tree]] = {
    "tanh": lambda x: Function("tanh", (x,)),
    "relu": lambda x: Extreme("max", (Number(Fraction(0)), x)),
    "none": lambda x: x,
}


def activations_of(count: int, between: str = "tanh") -> tuple[str, ...]:
    """Return the activations of a trained network with `count` layers: one between layers, `none` after the last."""
    return (*[between] * (count - 1), "none")


def program(layers: Sequence[tuple[Weights, Bias]], activations: Sequence[str] | None = None) -> Tree:
    """Return the program of a neural network. Weights and biases have the form of an `Affine`."""
    x: Tree = Name(OBSERVATION)
    for (weights, bias), activation in zip(layers, activations or activations_of(len(layers)), strict=True):
        x = ACTIVATIONS[activation](Affine(weights, x, bias))
    return x


def recurrent(inputs: int, units: int, affine: Callable[[str], tuple[Weights, Bias]]) -> Tree:
    """Return the program of a gated recurrent unit: the next memory, given the observation and then the memory.

    The unit is that of Cho et al. (2014), and the reset gate multiplies the product of weights and memory. `affine`
    maps the name of a field of Cell to (weights, bias), in the form of an `Affine`. All weights have a column for each
    number of the observation, and then of the memory.
    """
    both = Name(OBSERVATION)
    update, reset = (_sigmoid(Affine(*_rows(affine(gate)))) for gate in ("update", "reset"))
    memory = Vector(tuple(Item(both, inputs + place) for place in range(units)))
    seen, recalled = (Affine(*_rows(affine(part))) for part in ("candidate", "recalled"))
    candidate = Function("tanh", (Binary("+", seen, Binary("*", reset, recalled)),))
    return Binary("+", candidate, Binary("*", update, Binary("-", memory, candidate)))


def _rows(pair: tuple[Weights, Bias]) -> tuple[Weights, Tree, Bias]:
    return pair[0], Name(OBSERVATION), pair[1]


def _sigmoid(x: Tree) -> Tree:
    half = Number(Fraction(1, 2))
    return Binary("+", half, Binary("*", half, Function("tanh", (Binary("*", half, x),))))


def widened(cell: Cell, join: Callable[..., Any], zeros: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """Return (weights, bias) by the field of Cell. All weights have rows for the observation and for the memory.

    `join` and `zeros` are `concatenate` and `zeros` of NumPy or of jax.numpy.
    """
    (seen, one), (recalled, other) = cell.candidate, cell.recalled
    inputs, units = seen.shape
    return {
        "update": cell.update,
        "reset": cell.reset,
        "candidate": (join([seen, zeros((units, units), seen.dtype)]), one),
        "recalled": (join([zeros((inputs, units), seen.dtype), recalled]), other),
    }


def remembered(cell: Cell, observations: "Array", memory: "Array") -> "Array":
    """Return the next memory (…, units) for observations (…, inputs) and a memory (…, units), computed by JAX."""
    import jax.numpy as jnp

    from ccmatic.worlds.arrays import Components, Values  # This import is local, because exports do not need JAX.

    arrays: dict[str, Any] = {OBSERVATION: Components(jnp.concatenate([observations, memory], axis=-1))}
    for name, (weights, bias) in widened(cell, jnp.concatenate, jnp.zeros).items():
        arrays |= {f"{name}_weights": weights.T, f"{name}_bias": bias}
    tree = recurrent(observations.shape[-1], memory.shape[-1], lambda name: (f"{name}_weights", f"{name}_bias"))
    given: Array = Values(arrays).of(tree)
    return given


def outputs(
    layers: "Sequence[tuple[Numbers, Numbers]]", observations: "Array", activations: Sequence[str] | None = None
) -> "Array":
    """Return the outputs (…, outputs) of a network for observations (…, inputs), computed by JAX."""
    from ccmatic.worlds.arrays import Components, Values  # This import is local, because exports do not need JAX.

    names = [(f"weights_{number}", f"bias_{number}") for number in range(len(layers))]
    arrays: dict[str, Any] = {OBSERVATION: Components(observations)}
    for (weights, bias), layer in zip(names, layers, strict=True):
        arrays |= {weights: layer[0].T, bias: layer[1]}
    given: Array = Values(arrays).of(program(names, activations))
    return given
