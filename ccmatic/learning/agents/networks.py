"""The networks of an agent, and what of them is kept in a policy's file."""

from math import log

import flax.linen as nn
import jax
import jax.numpy as jnp
from skrl.models.jax import DeterministicMixin, GaussianMixin, Model

#: The names of a network's layers, as Flax counts them.
LAYER = "Dense_{}"


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
        mean = _network(inputs["observations"], self.layers, self.num_actions, nn.initializers.normal(0.01))
        deviation = nn.initializers.constant(log(self.deviation))
        return mean, {"log_std": self.param("log_std", deviation, (self.num_actions,))}


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
        x = _network(inputs["observations"], self.layers, self.num_actions, nn.initializers.normal(0.01))
        return self.most * nn.tanh(x), {}


class Critic(DeterministicMixin, Model):
    """The value of an observation, or, but in the role of `value`, of an action where it was taken."""

    layers: tuple = ()

    def __init__(self, layers, **spaces):
        Model.__init__(self, **spaces)
        self.layers = layers
        DeterministicMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs, role):
        """It, and nothing else."""
        taken = [] if role == "value" else [inputs["taken_actions"]]
        x = jnp.concatenate([inputs["observations"], *taken], axis=-1)
        return _network(x, self.layers, 1, nn.initializers.lecun_normal()), {}


def _network(x, layers, outputs, last):
    for width in layers:
        x = nn.tanh(nn.Dense(width)(x))
    return nn.Dense(outputs, kernel_init=last)(x)


def give(model, layers):
    """A Model's network gets such layers."""
    params, numbers = model.state_dict.params, {}
    for number, (weights, bias) in enumerate(layers):
        numbers[LAYER.format(number)] = {"kernel": weights, "bias": bias}
    given = jax.device_put({"params": {**params["params"], **numbers}}, model.device)
    model.state_dict = model.state_dict.replace(params=given)


def layers(model):
    """(weights, bias) of each layer of a policy's network, first to last; weights have a column for each output. All
    but the last are followed by a tanh: that of a BoundedActor is by one more, of a weight that does not change."""
    found, numbered = model.state_dict.params["params"], []
    while LAYER.format(len(numbered)) in found:
        layer = found[LAYER.format(len(numbered))]
        numbered.append((layer["kernel"], layer["bias"]))
    if isinstance(model, BoundedActor):
        numbered.append((jnp.array([[model.most]]), jnp.zeros(1)))
    return numbered
