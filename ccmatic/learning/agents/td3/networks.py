"""The policy of TD3."""

from collections.abc import Mapping
from typing import Any

import flax.linen as nn
import jax.numpy as jnp
from jax import Array
from skrl.models.jax import DeterministicMixin, Model

from ccmatic.learning.agents.networks import network


class BoundedActor(DeterministicMixin, Model):  # type: ignore[misc]  # skrl has no types
    """The policy of TD3: an action from -most to most, by a tanh."""

    layers: tuple[int, ...] = ()
    most: float = 1.0

    def __init__(self, layers: tuple[int, ...], most: float, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        self.layers, self.most = layers, most
        DeterministicMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs: Mapping[str, Array], role: str) -> tuple[Array, dict[str, Any]]:
        """Return the action, and no further outputs."""
        first, scaled = nn.initializers.normal(0.01), scale(self.most, self.num_actions)
        return network(inputs["observations"], self.layers, self.num_actions, first, scaled), {}


def scale(most: float, count: int) -> tuple[Array, Array]:
    """Return the last layer, which is not trained: it multiplies the tanh's actions by `most`."""
    return most * jnp.eye(count), jnp.zeros(count)
