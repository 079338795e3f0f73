"""Agents by skrl, on JAX: to which action a reward is credited, and what of an agent a checkpoint keeps."""

from abc import abstractmethod
from collections import deque

import jax
import numpy as np
import skrl
from skrl import config
from skrl.memories.jax import RandomMemory
from skrl.trainers.jax import SequentialTrainer

from ccmatic.learning.agents import networks
from ccmatic.learning.agents.contract import Agent

skrl.logger.setLevel("ERROR")

#: Options of skrl's agents: they write nothing themselves.
QUIET = {"write_interval": 0, "checkpoint_interval": 0}


class Late:
    """An agent in which the reward of an interval is credited to the action so many intervals before, whose packets are
    heard of in it: as Custard's statistics of an interval are of the packets sent in it. Without that a discount of
    γ = 0 could learn nothing. NOTED: what it knows of an action beside."""

    NOTED: tuple = ()

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
            transition = {"observations": observations, "actions": actions, "next_observations": following}
            super().record_transition(**transition, **others)
            super().post_interaction(timestep=others["timestep"], timesteps=others["timesteps"])

    def post_interaction(self, **when):
        """Nothing: `record_transition` has done it, where there was something to record."""


class SkrlAgent(Agent):
    """An Agent that one of skrl's agents is. A subclass defines `make`, KIND and KEPT.

    Attributes:
        KIND: The class of skrl's agent, a Late.
        KEPT: What it learns, by the names of its attributes.
    """

    KIND: type
    KEPT: tuple[str, ...]

    def __init__(self, training, links, seed):
        config.jax.key = seed
        spaces = {name: getattr(links, name) for name in ("observation_space", "action_space", "device")}
        models, options, kept = self.make(links, training.agent, spaces)
        for role, model in models.items():  # critics that begin alike would stay so, and be one
            model.init_state_dict(role=role, key=jax.random.fold_in(config.jax.key, 1) if role == "critic_2" else None)
        memory = RandomMemory(memory_size=kept, num_envs=links.num_envs, device=links.device)
        self.agent = self.KIND(training.lag, models=models, memory=memory, cfg=options, **spaces)
        steps = {"timesteps": training.environment.options.steps, "headless": True, "disable_progressbar": True}
        self._trainer = SequentialTrainer(
            env=links, agents=self.agent, cfg={**steps, "close_environment_at_exit": False}
        )

    @abstractmethod
    def make(self, links, section, spaces):
        """Return (models by role, options of skrl's agent, how many intervals its memory has)."""

    @property
    def deviation(self):
        """As Agent says."""
        return self.agent.deviation

    def learn(self, seed):
        """As Agent says."""
        np.random.seed(seed)  # by which skrl chooses batches
        self.agent.begin(jax.random.key_data(jax.random.key(seed)))
        self._trainer.train()

    def layers(self):
        """As Agent says."""
        return networks.layers(self.agent.policy)

    def state(self):
        """As Agent says."""
        return {name: self._state(name) for name in self.KEPT}

    def _state(self, name):
        module = getattr(self.agent, name)
        if name == "memory":
            return {"tensors": module.tensors, "place": (module.memory_index, module.filled)}
        return module.state if name.endswith("optimizer") else module.state_dict.params

    def restore(self, state):
        """As Agent says."""
        for name in self.KEPT:
            self._restore(name, jax.tree.map(lambda leaf: jax.device_put(leaf, self.agent.device), state[name]))

    def _restore(self, name, state):
        module = getattr(self.agent, name)
        if name == "memory":
            module.tensors, (module.memory_index, module.filled) = state["tensors"], map(int, state["place"])
        elif name.endswith("optimizer"):
            setattr(self.agent, name, module.replace(state=state))
        else:
            module.state_dict = state if name == "value_preprocessor" else module.state_dict.replace(params=state)
