"""The policy of PPO."""

from math import log

import flax.linen as nn
from skrl.models.jax import GaussianMixin, Model

from ccmatic.learning.agents.networks import network


class Actor(GaussianMixin, Model):
    """The policy of PPO: the mean of an action, with a deviation that is learned."""

    layers: tuple = ()
    deviation: float = 1.0

    def __init__(self, layers, deviation, **spaces):
        Model.__init__(self, **spaces)
        self.layers, self.deviation = layers, deviation
        GaussianMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs, role):
        """The mean, and the logarithm of the deviation."""
        mean = network(inputs["observations"], self.layers, self.num_actions, nn.initializers.normal(0.01))
        deviation = nn.initializers.constant(log(self.deviation))
        return mean, {"log_std": self.param("log_std", deviation, (self.num_actions,))}
