"""What the networks of all agents are made of, and what of them is kept in a policy's file."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import Array
from skrl.models.jax import DeterministicMixin, Model

from ccmatic.learning import policies

#: The names of a network's layers, as Flax counts them.
LAYER = "Dense_{}"


class Critic(DeterministicMixin, Model):  # type: ignore[misc]  # skrl has no types
    """The value of an observation, or, but in the role of `value`, of an action where it was taken."""

    layers: tuple[int, ...] = ()

    def __init__(self, layers: tuple[int, ...], **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        self.layers = layers
        DeterministicMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs: Mapping[str, Array], role: str) -> tuple[Array, dict[str, Any]]:
        """It, and nothing else."""
        taken = [] if role == "value" else [inputs["taken_actions"]]
        x = jnp.concatenate([inputs["observations"], *taken], axis=-1)
        return network(x, self.layers, 1, nn.initializers.lecun_normal()), {}


class Dense(nn.Module):
    """The weights and biases of a layer, as they are learned. first: by which the weights begin."""

    inputs: int
    outputs: int
    first: nn.initializers.Initializer

    @nn.compact
    def __call__(self) -> tuple[Array, Array]:
        """(weights (inputs, outputs), bias (outputs))."""
        weights = self.param("kernel", self.first, (self.inputs, self.outputs))
        return weights, self.param("bias", nn.initializers.zeros, (self.outputs,))


def network(
    x: Array, layers: Sequence[int], outputs: int, last: nn.initializers.Initializer, *fixed: tuple[Array, Array]
) -> Array:
    """The outputs for observations `x`; last: by which the last layer begins; fixed: layers after it that are not
    learned."""
    widths, firsts = [x.shape[-1], *layers, outputs], [*[nn.initializers.lecun_normal()] * len(layers), last]
    learned = [Dense(*each)() for each in zip(widths, widths[1:], firsts, strict=False)]
    return policies.outputs([*learned, *fixed], x)


def give(model: Any, layers: Iterable[tuple[Any, Any]]) -> None:
    """A Model's network gets such layers."""
    params, numbers = model.state_dict.params, {}
    for number, (weights, bias) in enumerate(layers):
        numbers[LAYER.format(number)] = {"kernel": weights, "bias": bias}
    given = jax.device_put({"params": {**params["params"], **numbers}}, model.device)
    model.state_dict = model.state_dict.replace(params=given)


def layers(model: Any) -> list[tuple[Any, Any]]:
    """(weights, bias) of each layer of a policy's network, first to last; weights have a column for each output. All
    but the last are followed by a tanh."""
    params = model.state_dict.params["params"]
    numbered: list[tuple[Any, Any]] = []
    while LAYER.format(len(numbered)) in params:
        layer = params[LAYER.format(len(numbered))]
        numbered.append((layer["kernel"], layer["bias"]))
    return numbered
