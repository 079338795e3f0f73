"""Agents by skrl, on JAX: to which action a reward is credited, and what of an agent a checkpoint keeps."""

from collections import deque

import jax
import jax.numpy as jnp
from skrl import config
from skrl.agents.jax.ppo import PPO, PPO_CFG
from skrl.agents.jax.td3 import TD3, TD3_CFG
from skrl.memories.jax import RandomMemory
from skrl.resources.noises.jax import GaussianNoise
from skrl.resources.preprocessors.jax import RunningStandardScaler

from ccmatic.learning.agents.networks import Actor, BoundedActor, Critic, give

#: Of the target's actions in TD3, as shares of the largest action: how they deviate, and at most (its authors').
SMOOTHING = 0.2, 0.5

#: The policy's learning rate over that of the critics in TD3: as DDPG's authors have it.
SLOWER = 0.1

#: Nothing is written but what `train` writes.
QUIET = {"write_interval": 0, "checkpoint_interval": 0}


class Late:
    """An agent in which the reward of an interval is credited to the action so many intervals before, whose packets are
    heard of in it: as Custard's statistics of an interval are of the packets sent in it. Without that a discount of
    γ = 0 could learn nothing. NOTED: what it knows of an action beside. KEPT: what it learns, by its names."""

    NOTED: tuple = ()
    KEPT: tuple

    def __init__(self, lag, **options):
        self._lag, self._waiting = lag, deque()
        super().__init__(**options)

    def begin(self, key):
        """An episode begins: what the last one still waits for never comes. key: by which actions deviate in it."""
        self._waiting.clear()

    def record_transition(self, *, observations, actions, next_observations, **others):
        """As skrl says, of the action whose reward this is."""
        noted = {name: getattr(self, name) for name in self.NOTED}
        self._waiting.append((observations, actions, next_observations, noted))
        if len(self._waiting) > self._lag:
            observations, actions, following, noted = self._waiting.popleft()
            vars(self).update(noted)
            told = {"observations": observations, "actions": actions, "next_observations": following}
            super().record_transition(**told, **others)
            super().post_interaction(timestep=others["timestep"], timesteps=others["timesteps"])

    def post_interaction(self, **when):
        """Nothing: `record_transition` has done it, where there was something to record."""


class LatePPO(Late, PPO):
    """It learns from each rollout, which it then forgets: at the end of an episode there is none."""

    NOTED = ("_current_log_prob", "_current_values")
    KEPT = ("policy", "value", "policy_optimizer", "value_optimizer", "value_preprocessor")

    @property
    def value_preprocessor(self):
        """By which values are scaled."""
        return self._value_preprocessor

    @property
    def deviation(self):
        """Of actions, learned."""
        return float(jnp.exp(self.policy.state_dict.params["params"]["log_std"]).mean())

    def begin(self, key):
        """As Late says."""
        super().begin(key)
        self.policy._g_key, self._rollout = key, 0

    def pre_interaction(self, *, timestep, timesteps):
        """The deviation of an action is of the key and of its number: skrl counts what it compiles, too."""
        self.policy._g_i = timestep


class LateTD3(Late, TD3):
    """It learns at the end of an episode from what is in its memory, which outlasts it."""

    KEPT = (
        *("policy", "critic_1", "critic_2", "target_policy", "target_critic_1", "target_critic_2"),
        *("policy_optimizer", "critic_1_optimizer", "critic_2_optimizer", "memory"),
    )

    @property
    def deviation(self):
        """Of actions, as asked for."""
        return self._exploration_noise.std

    def begin(self, key):
        """As Late says."""
        super().begin(key)
        self._update_counter = 0
        for number, noise in enumerate((self._exploration_noise, self._smooth_regularization_noise)):
            noise._key, noise._i = jax.random.fold_in(key, number), 0


def make(links, asked, lag, initial=None):
    """The agent that is asked for, an agent section of a training query, on Links. initial: the Policy that it begins
    with, of as many layers; its value network is a new one."""
    spaces = {"observation_space": links.observation_space, "action_space": links.action_space, "device": links.device}
    made, settings = ALGORITHMS[asked.algorithm]
    models, options, kept = settings(links, asked, spaces)
    for role, model in models.items():  # critics that begin alike would stay so, and be one
        model.init_state_dict(role=role, key=jax.random.fold_in(config.jax.key, 1) if role == "critic_2" else None)
    if initial:
        give(models["policy"], initial.layers)
    memory = RandomMemory(memory_size=kept, num_envs=links.num_envs, device=links.device)
    return made(lag, models=models, memory=memory, cfg=options, **spaces)


def _ppo(links, asked, spaces):
    models = {"policy": Actor(asked.layers, asked.deviation, **spaces), "value": Critic(asked.layers, **spaces)}
    options = PPO_CFG(
        rollouts=asked.rollout,
        learning_epochs=asked.epochs,
        mini_batches=asked.batches,
        discount_factor=asked.gamma,
        learning_rate=asked.learning_rate,
        value_preprocessor=RunningStandardScaler,
        value_preprocessor_kwargs={"size": 1, "device": links.device},
        experiment=QUIET,
    )
    return models, options, asked.rollout


def _td3(links, asked, spaces):
    most, device = links.environment.bounds[1], links.device
    models = {role: BoundedActor(asked.layers, most, **spaces) for role in ("policy", "target_policy")}
    critics = ("critic_1", "critic_2", "target_critic_1", "target_critic_2")
    models |= {role: Critic(asked.layers, **spaces) for role in critics}
    options = TD3_CFG(
        learning_starts=links.environment.asked.steps - 1,
        gradient_steps=asked.updates,
        batch_size=asked.batch,
        discount_factor=asked.gamma,
        learning_rate=(asked.learning_rate * SLOWER, asked.learning_rate),
        exploration_noise=GaussianNoise,
        exploration_noise_kwargs={"mean": 0, "std": asked.deviation, "device": device},
        smooth_regularization_noise=GaussianNoise,
        smooth_regularization_noise_kwargs={"mean": 0, "std": SMOOTHING[0] * most, "device": device},
        smooth_regularization_clip=SMOOTHING[1] * most,
        experiment=QUIET,
    )
    return models, options, asked.memory


#: By name: an agent, and its models, options, and how many intervals its memory has.
ALGORITHMS = {"ppo": (LatePPO, _ppo), "td3": (LateTD3, _td3)}
