"""The interfaces of Gymnasium (an Env of one link, a VectorEnv of many links) and of PettingZoo.

The VectorEnv simulates all its links at once. In PettingZoo's interface, the flows of one link are agents that act
simultaneously.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, SupportsFloat, TypeAlias

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray
from pettingzoo import ParallelEnv

from ccmatic.base import InputError, suggest
from ccmatic.contracts import Links
from ccmatic.learning.envs.backends import Fluid, Packets
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.learning.envs.emulated import EmulatorBackEnd
from ccmatic.learning.envs.environment import Environment, EnvironmentState, Learnable
from ccmatic.learning.envs.links import LinkOptions
from ccmatic.learning.envs.signals import Knowledge

#: The back ends of a LinkEnv, by name.
BACKENDS = {"fluid": Fluid, "packets": Packets, "emulator": EmulatorBackEnd}

Floats: TypeAlias = NDArray[np.float32]

#: The options that define the learning task. The other options describe the links.
LEARNED = ("observe", "act", "reward", "history", "delay")


def make_environment(options: Mapping[str, Any]) -> Environment:
    """Return the Environment for the given options.

    Args:
        options: Arguments of Environment and of LinkOptions, by name.

    Raises:
        InputError: If there is no such option, or its value is wrong.
    """
    fields = [name for name, field in LinkOptions.__dataclass_fields__.items() if field.init]
    for name in options:
        if name not in (*LEARNED, *fields):
            raise InputError(f"unknown option '{name}'; {suggest(name, (*LEARNED, *fields))}")
    learned = {name: options[name] for name in LEARNED if name in options}
    return Environment(LinkOptions(**{name: options[name] for name in fields if name in options}), **learned)


def spaces(environment: Learnable[Any]) -> "tuple[Box[np.float32], Box[np.float32]]":
    """Return two spaces of one flow: (observations, actions)."""
    low, high = environment.bounds
    return Box(-np.inf, np.inf, (environment.size,), np.float32), Box(low, high, (1,), np.float32)


def measured(links: Links, knowledge: Knowledge) -> dict[str, NDArray[Any]]:
    """Return the measurements of an interval by name, as arrays (n, f)."""
    throughput, loss = (knowledge.measure(name) for name in ("throughput", "loss_rate"))
    values = {"throughput_mbit": throughput / MBIT, "rtt_ms": knowledge.now.rtt * 1000, "loss": loss}
    return {name: np.asarray(value).T for name, value in values.items()}


def whole(reward: ArrayLike) -> NDArray[Any]:
    """Return the reward as a NumPy array.

    Raises:
        InputError: If the reward is not finite.
    """
    reward = np.asarray(reward)
    if not np.isfinite(reward).all():
        raise InputError(f"the reward is {reward[~np.isfinite(reward)][0]}; expected a finite number")
    return reward


class LinkEnv(gymnasium.Env[Floats, Floats]):
    """One flow on one link. Each episode draws another link; see docs/learning.md."""

    # Gymnasium declares this attribute for instances, hence the ignore.
    metadata: ClassVar = {"render_modes": []}  # type: ignore[misc]
    _links: Links
    _state: EnvironmentState

    def __init__(
        self, render_mode: str | None = None, device: str | None = None, backend: str = "fluid", **options: Any
    ) -> None:
        """Make the environment.

        Args:
            render_mode: An argument that Gymnasium passes. No mode is supported.
            device: The device of JAX for the backend `fluid`, such as `cpu` or `gpu`. None for JAX's default.
            backend: `fluid`, `packets` or `emulator`.
            options: The options of the environment; see `make_environment`.

        Raises:
            InputError: If an option is wrong, or there are several flows.
        """
        self.render_mode = render_mode
        self.environment = _alone(options)
        self.observation_space, self.action_space = spaces(self.environment)
        if backend not in BACKENDS:
            raise InputError(f"unknown back end '{backend}'; {suggest(backend, BACKENDS)}")
        given = {"device": device} if backend == "fluid" else {}
        self._backend = BACKENDS[backend](self.environment, **given)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode, as Gymnasium describes."""
        super().reset(seed=seed)
        self._links, self._state, observation = self._backend.reset(_draw_seed(self))
        return np.asarray(observation)[0, 0], self._info()

    def step(self, action: Floats) -> tuple[Floats, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play one interval, as Gymnasium describes. An episode is truncated after `steps` intervals."""
        action = np.asarray(action).reshape(1, 1)
        self._state, observation, reward = self._backend.step(self._links, self._state, action)
        truncated = bool(self._state.interval >= self.environment.options.steps)
        return np.asarray(observation)[0, 0], float(whole(reward)[0, 0]), False, truncated, self._info()

    def close(self) -> None:
        """Close the back end, as Gymnasium describes."""
        self._backend.close()

    def _info(self) -> dict[str, Any]:
        info = {name: float(value[0, 0]) for name, value in measured(self._links, self._state.knowledge).items()}
        return info if self._backend.faults is None else {**info, "faults": self._backend.faults}


class LinkVectorEnv(VectorEnv[Floats, Floats, NDArray[Any]]):
    """Many links like the link of a LinkEnv, simulated at once.

    All episodes have the same length. When they end, the next episodes begin in the same step. The entry `final_obs`
    has the last observations of the finished episodes.
    """

    # Gymnasium declares this attribute for instances, hence the ignore.
    metadata: ClassVar = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # type: ignore[misc]
    _links: Links
    _state: EnvironmentState

    def __init__(
        self, num_envs: int = 1, render_mode: str | None = None, device: str | None = None, **options: Any
    ) -> None:
        self.environment = _alone(options)
        if type(num_envs) is not int or num_envs < 1:
            raise InputError(f"{num_envs!r} links; expected a whole number, at least 1")
        self.num_envs, self.render_mode = num_envs, render_mode
        self.single_observation_space, self.single_action_space = spaces(self.environment)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._backend = Fluid(self.environment, num_envs, device)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode on each link, as Gymnasium describes."""
        super().reset(seed=seed)
        return self._begin(), self._info()

    def step(self, actions: Floats) -> tuple[Floats, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play one interval on each link, as Gymnasium describes."""
        self._state, observations, reward = self._backend.step(self._links, self._state, actions)
        observation, info = np.asarray(observations)[:, 0], self._info()
        over = np.full(self.num_envs, int(self._state.interval) >= self.environment.options.steps)
        if over[0]:
            info |= {"final_obs": observation, "_final_obs": over}
            observation = self._begin()
        return observation, whole(reward)[:, 0], np.zeros(self.num_envs, bool), over, info

    def _begin(self) -> Floats:
        self._links, self._state, observation = self._backend.reset(_draw_seed(self))
        return np.asarray(observation)[:, 0]

    def _info(self) -> dict[str, Any]:
        info = {name: value[:, 0] for name, value in measured(self._links, self._state.knowledge).items()}
        return info | {f"_{name}": np.ones(self.num_envs, bool) for name in info}


class LinkParallelEnv(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """The flows of one link as PettingZoo agents named `flow_0`, `flow_1` ….

    An agent is present from the interval in which its flow starts until the flow stops. When the flow stops, the agent
    is terminated. At the end of the episode, the agents that are present are truncated.
    """

    metadata: ClassVar = {"name": "ccmatic/Link-v0", "render_modes": []}
    _links: Links
    _state: EnvironmentState

    def __init__(self, render_mode: str | None = None, device: str | None = None, **options: Any) -> None:
        self.environment, self.render_mode = make_environment(options), render_mode
        self.possible_agents = [f"flow_{number}" for number in range(self.environment.options.flows)]
        by_agent = {agent: spaces(self.environment) for agent in self.possible_agents}
        self.observation_spaces = {agent: observation for agent, (observation, _) in by_agent.items()}
        self.action_spaces = {agent: action for agent, (_, action) in by_agent.items()}
        self.agents: list[str] = []
        self._backend = Fluid(self.environment, device=device)
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> "Box[np.float32]":
        """Return the space of an agent's observations, as PettingZoo describes."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> "Box[np.float32]":
        """Return the space of an agent's actions, as PettingZoo describes."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Floats], dict[str, dict[str, Any]]]:
        """Begin an episode, as PettingZoo describes."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._links, self._state, observation = self._backend.reset(int(self._random.integers(2**31)))
        self.agents = self._here()
        return self._by_agent(np.asarray(observation)[0], self.agents), self._info(self.agents)

    def step(
        self, actions: Mapping[str, Floats]
    ) -> tuple[dict[str, Floats], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play one interval, as PettingZoo describes. The actions of absent flows have no effect."""
        action = np.zeros((1, len(self.possible_agents)), np.float32)
        for agent, chosen in actions.items():
            action[0, self.possible_agents.index(agent)] = np.asarray(chosen).item()
        self._state, observation, reward = self._backend.step(self._links, self._state, action)
        over = bool(self._state.interval >= self.environment.options.steps)
        here = self._here()
        present = [agent for agent in self.possible_agents if agent in self.agents or agent in here]
        terminated = {agent: agent not in here for agent in present}
        truncated = {agent: over and agent in here for agent in present}
        self.agents = [] if over else here
        rewards = {agent: float(value) for agent, value in self._by_agent(whole(reward)[0], present).items()}
        return self._by_agent(np.asarray(observation)[0], present), rewards, terminated, truncated, self._info(present)

    def _here(self) -> list[str]:
        """Return the agents whose flows send in the next interval. After an episode, this is the last interval."""
        last = min(int(self._state.interval), self.environment.options.steps - 1)
        start, end = (number * self.environment.options.slots for number in (last, last + 1))
        come, gone = np.asarray(self._links.start)[:, 0] < end, np.asarray(self._links.stop)[:, 0] <= start
        return [agent for agent, here in zip(self.possible_agents, come & ~gone, strict=True) if here]

    def _info(self, agents: Sequence[str]) -> dict[str, dict[str, Any]]:
        values = {name: value[0] for name, value in measured(self._links, self._state.knowledge).items()}
        by_agent = {name: self._by_agent(value, agents) for name, value in values.items()}
        return {agent: {name: float(value[agent]) for name, value in by_agent.items()} for agent in agents}

    def _by_agent(self, values: NDArray[Any], agents: Sequence[str]) -> dict[str, Any]:
        return {agent: values[self.possible_agents.index(agent)] for agent in agents}


def _alone(options: Mapping[str, Any]) -> Environment:
    made = make_environment(options)
    if made.options.flows != 1:
        raise InputError(f"{made.options.flows} flows; expected one here: several are agents of a LinkParallelEnv")
    return made


def _draw_seed(env: "LinkEnv | LinkVectorEnv") -> int:
    """Return a seed for all random choices in an episode."""
    return int(env.np_random.integers(2**31))
