"""Agents of the library skrl, on JAX.

This module credits rewards to actions, and selects the content of a checkpoint.
"""

from abc import abstractmethod
from collections import deque
from typing import Any

import jax
import numpy as np
import skrl
from skrl import config
from skrl.memories.jax import RandomMemory
from skrl.trainers.jax import SequentialTrainer

from ccmatic.learning.agents import networks
from ccmatic.learning.agents.contract import Agent
from ccmatic.learning.agents.links import Links
from ccmatic.learning.agents.query import AgentSection, Training

skrl.logger.setLevel("ERROR")

#: Options that keep skrl's agents from writing files.
QUIET = {"write_interval": 0, "checkpoint_interval": 0}


class LateRewardAgent:
    """An agent that credits the reward of an interval to the action from `lag` intervals before.

    In this interval, the sender receives the acknowledgements of the packets that it sent under that earlier action.
    Custard does the same: its statistics of an interval describe the packets sent in that interval. Without the lag, an
    agent with a discount factor of γ = 0 could learn nothing.

    Attributes:
        NOTED: The names of the attributes that belong to an action. The agent keeps their values until the action's
            reward arrives.
    """

    NOTED: tuple[str, ...] = ()

    def __init__(self, lag: int, **options: Any) -> None:
        self._lag = lag
        self._waiting: deque[tuple[jax.Array, jax.Array, jax.Array, dict[str, Any]]] = deque()
        super().__init__(**options)

    def begin(self, key: jax.Array) -> None:
        """Begin an episode, and drop waiting actions of the previous episode. `key` sets the random deviations."""
        self._waiting.clear()

    def record_transition(
        self, *, observations: jax.Array, actions: jax.Array, next_observations: jax.Array, **others: Any
    ) -> None:
        """Record a transition, as skrl describes, for the action to which this reward belongs."""
        noted = {name: getattr(self, name) for name in self.NOTED}
        self._waiting.append((observations, actions, next_observations, noted))
        if len(self._waiting) > self._lag:
            observations, actions, following, noted = self._waiting.popleft()
            vars(self).update(noted)
            transition = {"observations": observations, "actions": actions, "next_observations": following}
            agent: Any = super()  # skrl's argument
            agent.record_transition(**transition, **others)
            agent.post_interaction(timestep=others["timestep"], timesteps=others["timesteps"])

    def post_interaction(self, **when: Any) -> None:
        """Do nothing, because `record_transition` has already done this work."""


class SkrlAgent(Agent):
    """An Agent that runs one of skrl's agents. A subclass defines `make`, KIND and KEPT.

    Attributes:
        KIND: The class of skrl's agent, a subclass of LateRewardAgent.
        KEPT: The names of the attributes that hold the agent's learned state.
    """

    KIND: type[Any]
    KEPT: tuple[str, ...]

    def __init__(self, training: Training, links: Links, seed: int) -> None:
        config.jax.key = seed
        spaces = {name: getattr(links, name) for name in ("observation_space", "action_space", "device")}
        models, options, kept = self.make(links, training.agent, spaces)
        for role, model in models.items():  # Two critics that begin with equal weights would stay equal.
            model.init_state_dict(role=role, key=jax.random.fold_in(config.jax.key, 1) if role == "critic_2" else None)
        memory = RandomMemory(memory_size=kept, num_envs=links.num_envs, device=links.device)
        self.agent = self.KIND(training.lag, models=models, memory=memory, cfg=options, **spaces)
        steps = {"timesteps": training.environment.options.steps, "headless": True, "disable_progressbar": True}
        self._trainer = SequentialTrainer(
            env=links, agents=self.agent, cfg={**steps, "close_environment_at_exit": False}
        )

    @abstractmethod
    def make(self, links: Links, section: AgentSection, spaces: dict[str, Any]) -> tuple[dict[str, Any], Any, int]:
        """Return (models by role, options of skrl's agent, the number of intervals in the agent's memory)."""

    @property
    def deviation(self) -> float:
        """The standard deviation of actions, as Agent describes."""
        deviation: float = self.agent.deviation
        return deviation

    def learn(self, seed: int) -> None:
        """Play an episode and learn, as Agent describes."""
        np.random.seed(seed)  # skrl chooses batches by this seed
        self.agent.begin(jax.random.key_data(jax.random.key(seed)))
        self._trainer.train()

    def layers(self) -> list[tuple[Any, Any]]:
        """Return the layers of the policy, as Agent describes."""
        return networks.layers(self.agent.policy)

    def state(self) -> dict[str, Any]:
        """Return the state, as Agent describes."""
        return {name: self._state(name) for name in self.KEPT}

    def _state(self, name: str) -> Any:
        module = getattr(self.agent, name)
        if name == "memory":
            return {"tensors": module.tensors, "place": (module.memory_index, module.filled)}
        return module.state if name.endswith("optimizer") else module.state_dict.params

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the state, as Agent describes."""
        for name in self.KEPT:
            self._restore(name, jax.tree.map(lambda leaf: jax.device_put(leaf, self.agent.device), state[name]))

    def _restore(self, name: str, state: Any) -> None:
        module = getattr(self.agent, name)
        if name == "memory":
            module.tensors, (module.memory_index, module.filled) = state["tensors"], map(int, state["place"])
        elif name.endswith("optimizer"):
            setattr(self.agent, name, module.replace(state=state))
        else:
            module.state_dict = state if name == "value_preprocessor" else module.state_dict.replace(params=state)
