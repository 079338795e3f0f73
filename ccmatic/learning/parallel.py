"""PettingZoo's interface: the flows of one link are agents that act at once."""

from typing import ClassVar

import numpy as np
from pettingzoo import ParallelEnv

from ccmatic.learning.backends import Fluid
from ccmatic.learning.gym import environment, measured, spaces, whole


class LinkParallelEnv(ParallelEnv):
    """Agents `flow_0`, `flow_1` …, each from the interval in which its flow comes until it goes; then it is terminated.
    At the end of the episode those that are there are truncated."""

    metadata: ClassVar = {"name": "ccmatic/Link-v0", "render_modes": []}

    def __init__(self, render_mode=None, device=None, **options):
        self.environment, self.render_mode = environment(options), render_mode
        self.possible_agents = [f"flow_{number}" for number in range(self.environment.asked.flows)]
        each = {agent: spaces(self.environment) for agent in self.possible_agents}
        self.observation_spaces = {agent: observation for agent, (observation, _) in each.items()}
        self.action_spaces = {agent: action for agent, (_, action) in each.items()}
        self.agents = []
        self._backend = Fluid(self.environment, device=device)
        self._random = np.random.default_rng()
        self._links = self._state = None

    def observation_space(self, agent):
        """As PettingZoo says."""
        return self.observation_spaces[agent]

    def action_space(self, agent):
        """As PettingZoo says."""
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        """As PettingZoo says."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._links, self._state, observation = self._backend.reset(int(self._random.integers(2**31)))
        self.agents = self._here()
        return self._each(np.asarray(observation)[0], self.agents), self._told(self.agents)

    def step(self, actions):
        """As PettingZoo says. The actions of flows that are not there change nothing."""
        action = np.zeros((1, len(self.possible_agents)), np.float32)
        for agent, chosen in actions.items():
            action[0, self.possible_agents.index(agent)] = np.asarray(chosen).item()
        self._state, observation, reward = self._backend.step(self._links, self._state, action)
        over = bool(self._state.interval >= self.environment.asked.steps)
        here = self._here()
        told = [agent for agent in self.possible_agents if agent in self.agents or agent in here]
        terminated = {agent: agent not in here for agent in told}
        truncated = {agent: over and agent in here for agent in told}
        self.agents = [] if over else here
        rewards = {agent: float(value) for agent, value in self._each(whole(reward)[0], told).items()}
        return self._each(np.asarray(observation)[0], told), rewards, terminated, truncated, self._told(told)

    def _here(self):
        """The agents whose flows send in the coming interval, or in the last one."""
        last = min(int(self._state.interval), self.environment.asked.steps - 1)
        start, end = (number * self.environment.asked.slots for number in (last, last + 1))
        come, gone = np.asarray(self._links.start)[:, 0] < end, np.asarray(self._links.stop)[:, 0] <= start
        return [agent for agent, here in zip(self.possible_agents, come & ~gone, strict=True) if here]

    def _told(self, agents):
        values = {name: value[0] for name, value in measured(self._links, self._state.known).items()}
        each = {name: self._each(value, agents) for name, value in values.items()}
        return {agent: {name: float(value[agent]) for name, value in each.items()} for agent in agents}

    def _each(self, values, agents):
        return {agent: values[self.possible_agents.index(agent)] for agent in agents}
