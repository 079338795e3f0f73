"""The policy of TD3."""

import flax.linen as nn
import jax.numpy as jnp
from skrl.models.jax import DeterministicMixin, Model

from ccmatic.learning.agents.networks import network


class BoundedActor(DeterministicMixin, Model):
    """The policy of TD3: an action, by a tanh within what an action may be, from -most to most."""

    layers: tuple = ()
    most: float = 1.0

    def __init__(self, layers, most, **spaces):
        Model.__init__(self, **spaces)
        self.layers, self.most = layers, most
        DeterministicMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs, role):
        """It, and nothing else."""
        first, scaled = nn.initializers.normal(0.01), scale(self.most, self.num_actions)
        return network(inputs["observations"], self.layers, self.num_actions, first, scaled), {}


def scale(most, count):
    """The last layer, which is not learned: so many actions of the tanh before it, times `most`."""
    return most * jnp.eye(count), jnp.zeros(count)
