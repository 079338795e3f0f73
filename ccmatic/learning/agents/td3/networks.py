"""The policy network of TD3."""

from collections.abc import Mapping
from typing import Any

import flax.linen as nn
import jax.numpy as jnp
from jax import Array
from skrl.models.jax import DeterministicMixin, Model

from ccmatic.learning.agents.networks import network


class BoundedActor(DeterministicMixin, Model):  # type: ignore[misc]  # skrl has no types
    """The policy of TD3. A tanh limits its action to the range from -most to most."""

    layers: tuple[int, ...] = ()
    most: float = 1.0

    def __init__(self, layers: tuple[int, ...], most: float, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        self.layers, self.most = layers, most
        DeterministicMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs: Mapping[str, Array], role: str) -> tuple[Array, dict[str, Any]]:
        """Return the action, and an empty dict of further outputs."""
        first, scaled = nn.initializers.normal(0.01), scale(self.most, self.num_actions)
        return network(inputs["observations"], self.layers, self.num_actions, first, scaled), {}


def scale(most: float, count: int) -> tuple[Array, Array]:
    """Return the last layer, which multiplies the tanh's output by `most`. Training does not change this layer."""
    return most * jnp.eye(count), jnp.zeros(count)
