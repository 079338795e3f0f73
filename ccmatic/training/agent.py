"""PPO by skrl, on JAX: the networks, and to which action a reward is credited."""

from collections import deque
from math import log

import flax.linen as nn
import jax
from skrl.agents.jax.ppo import PPO, PPO_CFG
from skrl.memories.jax import RandomMemory
from skrl.models.jax import DeterministicMixin, GaussianMixin, Model
from skrl.resources.preprocessors.jax import RunningStandardScaler

#: The names of a network's layers, as Flax counts them.
LAYER = "Dense_{}"


class Actor(GaussianMixin, Model):
    """The policy: the mean of an action, with a deviation that is learned."""

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


class Critic(DeterministicMixin, Model):
    """The value of an observation."""

    layers: tuple = ()

    def __init__(self, layers, **spaces):
        Model.__init__(self, **spaces)
        self.layers = layers
        DeterministicMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs, role):
        """It, and nothing else."""
        return _network(inputs["observations"], self.layers, 1, nn.initializers.lecun_normal()), {}


def _network(x, layers, outputs, last):
    for width in layers:
        x = nn.tanh(nn.Dense(width)(x))
    return nn.Dense(outputs, kernel_init=last)(x)


class Agent(PPO):
    """PPO in which the reward of an interval is credited to the action so many intervals before, whose packets are
    heard of in it: as Custard's statistics of an interval are of the packets sent in it. Without that a discount of
    γ = 0 could learn nothing."""

    def __init__(self, lag, **options):
        self._lag, self._waiting = lag, deque()
        super().__init__(**options)

    def begin(self, key):
        """An episode begins: what the last one still waits for never comes. key: by which actions deviate in it."""
        self._waiting.clear()
        self.policy._g_key, self._rollout = key, 0

    def pre_interaction(self, *, timestep, timesteps):
        """The deviation of an action is of the key and of its number: skrl counts what it compiles, too."""
        self.policy._g_i = timestep

    def record_transition(self, *, observations, actions, next_observations, **others):
        """As skrl says, of the action whose reward this is."""
        self._waiting.append((observations, actions, next_observations, self._current_log_prob, self._current_values))
        if len(self._waiting) > self._lag:
            observations, actions, following, self._current_log_prob, self._current_values = self._waiting.popleft()
            told = {"observations": observations, "actions": actions, "next_observations": following}
            super().record_transition(**told, **others)
            super().post_interaction(timestep=others["timestep"], timesteps=others["timesteps"])

    def post_interaction(self, **when):
        """Nothing: `record_transition` has done it, where there was something to record."""


def make(links, asked, lag, initial=None):
    """The Agent that is asked for, an agent section of a training query, on Links. initial: the Policy that it begins
    with, of as many layers; its value network is a new one."""
    spaces = {"observation_space": links.observation_space, "action_space": links.action_space, "device": links.device}
    models = {"policy": Actor(asked.layers, asked.deviation, **spaces), "value": Critic(asked.layers, **spaces)}
    for role, model in models.items():
        model.init_state_dict(role=role)
    if initial:
        _give(models["policy"], initial.layers)
    scaler = {"size": 1, "device": links.device}
    options = PPO_CFG(
        rollouts=asked.rollout,
        learning_epochs=asked.epochs,
        mini_batches=asked.batches,
        discount_factor=asked.gamma,
        learning_rate=asked.learning_rate,
        value_preprocessor=RunningStandardScaler,
        value_preprocessor_kwargs=scaler,
        experiment={"write_interval": 0, "checkpoint_interval": 0},
    )
    memory = RandomMemory(memory_size=asked.rollout, num_envs=links.num_envs, device=links.device)
    return Agent(lag, models=models, memory=memory, cfg=options, **spaces)


def _give(model, layers):
    """A Model's network gets such layers."""
    params, numbers = model.state_dict.params, {}
    for number, (weights, bias) in enumerate(layers):
        numbers[LAYER.format(number)] = {"kernel": weights, "bias": bias}
    given = jax.device_put({"params": {**params["params"], **numbers}}, model.device)
    model.state_dict = model.state_dict.replace(params=given)


def layers(params):
    """(weights, bias) of each layer of a network's parameters, first to last; weights have a column for each output."""
    found, numbered = params["params"], []
    while LAYER.format(len(numbered)) in found:
        layer = found[LAYER.format(len(numbered))]
        numbered.append((layer["kernel"], layer["bias"]))
    return numbered
