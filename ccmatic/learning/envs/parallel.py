"""PettingZoo's interface: the flows of one link are agents that act simultaneously."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from ccmatic.base import InputError, shown
from ccmatic.learning.envs.backends import Outcome
from ccmatic.learning.envs.gym import Floats, check_seed, info, played, rule, spaces, warned
from ccmatic.learning.envs.picture import MODES, Screen


class LinkParallelEnv(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """The flows of one link as PettingZoo agents named `flow_0`, `flow_1` ….

    An agent is present from the interval in which its flow starts until the flow stops. When the flow stops, the agent
    is terminated. At the end of the episode, the agents that are present are truncated.
    """

    metadata: ClassVar = {"name": "ccmatic/Link-v0", "render_modes": list(MODES), "render_fps": 30}

    def __init__(
        self, render_mode: str | None = None, device: str | None = None, backend: str = "fluid", **options: Any
    ) -> None:
        """Make the environment.

        Args:
            render_mode: As in a LinkEnv. The picture has a line for each flow.
            device: The device of JAX for the backend `fluid`; None for JAX's default.
            backend: `fluid`, `packets`, or `emulator`, which has one flow.
            options: The options of the environment; see `make_environment`.

        Raises:
            InputError: If an option is wrong.
        """
        self.environment, self.render_mode = warned(options), render_mode
        self.rule = rule(self.environment)
        self.possible_agents = [f"flow_{number}" for number in range(self.environment.options.flows)]
        self.observation_spaces = {agent: spaces(self.environment)[0] for agent in self.possible_agents}
        self.action_spaces = {agent: rule(self.environment).space for agent in self.possible_agents}
        self.agents: list[str] = []
        self._screen = Screen(render_mode, self.possible_agents)
        self._player = played(self.environment, backend, device)
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Floats], dict[str, dict[str, Any]]]:
        """Begin an episode. No option has an effect, because PettingZoo's check sets some."""
        if seed is not None:
            check_seed(seed)
            self._random = np.random.default_rng(seed)
        outcome = self._player.reset([int(self._random.integers(2**31))])
        self.agents = self._here(0)
        self._screen.begin()
        return self._by_agent(outcome.observation[0], self.agents), self._infos(outcome, self.agents)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Floats], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play one interval, as PettingZoo describes. The actions of absent flows have no effect."""
        outcome = self._player.step(self._actions(actions))
        over, here = outcome.interval >= self.environment.options.steps, self._here(outcome.interval)
        present = [agent for agent in self.possible_agents if agent in self.agents or agent in here]
        terminated = {agent: agent not in here for agent in present}
        truncated = {agent: over and agent in here for agent in present}
        self.agents = [] if over else here
        rewards = {agent: float(value) for agent, value in self._by_agent(outcome.reward[0], present).items()}
        infos = self._infos(outcome, present)
        self._screen.add(infos)
        return self._by_agent(outcome.observation[0], present), rewards, terminated, truncated, infos

    def render(self) -> Any:
        return self._screen.render()

    def close(self) -> None:
        self.agents = []
        self._player.close()
        self._screen.close()

    def _actions(self, actions: object) -> NDArray[np.float32]:
        if not self.agents:
            raise InputError("step without a running episode; expected reset first, also after the end of an episode")
        if not isinstance(actions, Mapping):
            raise InputError(f"the actions are {shown(actions)}; expected a dict with an action for each agent")
        for agent in actions:
            if agent not in self.possible_agents:
                raise InputError(f"there is no agent {shown(agent)}; expected {', '.join(self.agents)}")
        for agent in self.agents:
            if agent not in actions:
                raise InputError(f"no action for {agent}; expected one for each of {', '.join(self.agents)}")
        chosen = np.zeros((1, len(self.possible_agents)), np.float32)
        for agent in self.agents:
            chosen[0, self.possible_agents.index(agent)] = self.rule.one(actions[agent])
        return chosen

    def _here(self, interval: int) -> list[str]:
        """Return the agents whose flows send in the next interval. After an episode, this is the last interval."""
        last, links = min(interval, self.environment.options.steps - 1), self._player.links
        start, end = (number * self.environment.options.slots for number in (last, last + 1))
        flows = len(self.possible_agents)
        come, gone = np.asarray(links.start)[:flows, 0] < end, np.asarray(links.stop)[:flows, 0] <= start
        return [agent for agent, here in zip(self.possible_agents, come & ~gone, strict=True) if here]

    def _infos(self, outcome: Outcome, agents: Sequence[str]) -> dict[str, dict[str, Any]]:
        faults = self._player.faults
        return {agent: info(outcome, self.possible_agents.index(agent), faults) for agent in agents}

    def _by_agent(self, values: NDArray[Any], agents: Sequence[str]) -> dict[str, Any]:
        return {agent: values[self.possible_agents.index(agent)] for agent in agents}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "agents": self.agents if self._player.is_kept else []}
