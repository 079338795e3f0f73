"""The common parts of the agents' networks, and the network layers that a policy's file stores."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import Array
from skrl.models.jax import DeterministicMixin, Model

from ccmatic.learning import policies

#: The names of a network's layers, in Flax's numbering.
LAYER = "Dense_{}"


class Critic(DeterministicMixin, Model):  # type: ignore[misc]  # skrl has no types
    """A network that estimates values.

    In the role `value` it values an observation, and in other roles an action with its observation.
    """

    layers: tuple[int, ...] = ()

    def __init__(self, layers: tuple[int, ...], **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        self.layers = layers
        DeterministicMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs: Mapping[str, Array], role: str) -> tuple[Array, dict[str, Any]]:
        """Return the value, and an empty dict of further outputs."""
        taken = [] if role == "value" else [inputs["taken_actions"]]
        x = jnp.concatenate([inputs["observations"], *taken], axis=-1)
        return network(x, self.layers, 1, nn.initializers.lecun_normal()), {}


class Dense(nn.Module):
    """The trained weights and biases of one layer.

    Attributes:
        inputs: The number of inputs.
        outputs: The number of outputs.
        first: The initializer of the weights.
    """

    inputs: int
    outputs: int
    first: nn.initializers.Initializer

    @nn.compact
    def __call__(self) -> tuple[Array, Array]:
        """Return the pair (weights (inputs, outputs), bias (outputs))."""
        weights = self.param("kernel", self.first, (self.inputs, self.outputs))
        return weights, self.param("bias", nn.initializers.zeros, (self.outputs,))


def network(
    x: Array, layers: Sequence[int], outputs: int, last: nn.initializers.Initializer, *fixed: tuple[Array, Array]
) -> Array:
    """Return a network's outputs for observations.

    Args:
        x: The observations.
        layers: The number of units of each hidden layer.
        outputs: The number of outputs.
        last: The initializer of the last layer's weights.
        fixed: Additional layers at the end, which training does not change.
    """
    widths, firsts = [x.shape[-1], *layers, outputs], [*[nn.initializers.lecun_normal()] * len(layers), last]
    learned = [Dense(*sizes)() for sizes in zip(widths, widths[1:], firsts, strict=False)]
    return policies.outputs([*learned, *fixed], x)


def give(model: Any, layers: Iterable[tuple[Any, Any]]) -> None:
    """Store the given layers in the network of a skrl Model."""
    params, numbers = model.state_dict.params, {}
    for number, (weights, bias) in enumerate(layers):
        numbers[LAYER.format(number)] = {"kernel": weights, "bias": bias}
    given = jax.device_put({"params": {**params["params"], **numbers}}, model.device)
    model.state_dict = model.state_dict.replace(params=given)


def layers(model: Any) -> list[tuple[Any, Any]]:
    """Return (weights, bias) of each layer of a policy's network, from first to last.

    The weights have one column per output. A tanh follows each layer except the last.
    """
    params = model.state_dict.params["params"]
    numbered: list[tuple[Any, Any]] = []
    while LAYER.format(len(numbered)) in params:
        layer = params[LAYER.format(len(numbered))]
        numbered.append((layer["kernel"], layer["bias"]))
    return numbered
