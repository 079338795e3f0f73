"""The policy network of PPO."""

from collections.abc import Mapping
from math import log
from typing import Any

import flax.linen as nn
from jax import Array
from skrl.models.jax import GaussianMixin, Model

from ccmatic.learning.agents.networks import network


class Actor(GaussianMixin, Model):  # type: ignore[misc]  # skrl has no types
    """The policy of PPO: a network computes the mean of an action, and the standard deviation is learned, too."""

    layers: tuple[int, ...] = ()
    deviation: float = 1.0

    def __init__(self, layers: tuple[int, ...], deviation: float, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        self.layers, self.deviation = layers, deviation
        GaussianMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs: Mapping[str, Array], role: str) -> tuple[Array, dict[str, Any]]:
        """Return the mean of the action, and the logarithm of the standard deviation."""
        mean = network(inputs["observations"], self.layers, self.num_actions, nn.initializers.normal(0.01))
        deviation = nn.initializers.constant(log(self.deviation))
        return mean, {"log_std": self.param("log_std", deviation, (self.num_actions,))}
