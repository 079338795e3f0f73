"""TD3: an agent that learns at the end of each episode from its memory, which also keeps earlier episodes."""

from dataclasses import dataclass
from typing import Any

import jax
from skrl.agents.jax.td3 import TD3

from ccmatic.learning.agents.contract import require_whole
from ccmatic.learning.agents.links import Links
from ccmatic.learning.agents.networks import Critic
from ccmatic.learning.agents.query import AgentSection
from ccmatic.learning.agents.skrl_agents import LateRewardAgent, SkrlAgent
from ccmatic.learning.agents.td3.losses import settings
from ccmatic.learning.agents.td3.networks import BoundedActor, scale


@dataclass(frozen=True)
class Options:
    """The options that only TD3 has.

    Attributes:
        updates: The number of updates at the end of an episode.
        batch: The number of intervals in one update, counted over all links.
        memory: The number of intervals per link that the memory keeps. An update draws its intervals from these latest
            intervals.
    """

    updates: int = 100
    batch: int = 256
    memory: int = 500

    def __post_init__(self) -> None:
        require_whole(self, "updates", "batch", "memory")


class LateTD3(LateRewardAgent, TD3):  # type: ignore[misc]  # skrl has no types
    """The TD3 agent of skrl, with rewards that arrive late."""

    @property
    def deviation(self) -> float:
        """The standard deviation of actions that the query sets."""
        std: float = self._exploration_noise.std
        return std

    def begin(self, key: jax.Array) -> None:
        """Begin an episode, as LateRewardAgent describes."""
        super().begin(key)
        self._update_counter = 0
        for number, noise in enumerate((self._exploration_noise, self._smooth_regularization_noise)):
            noise._key, noise._i = jax.random.fold_in(key, number), 0


class Agent(SkrlAgent):
    """TD3 as an Agent."""

    Options, KIND = Options, LateTD3
    KEPT = (
        *("policy", "critic_1", "critic_2", "target_policy", "target_critic_1", "target_critic_2"),
        *("policy_optimizer", "critic_1_optimizer", "critic_2_optimizer", "memory"),
    )

    def make(self, links: Links, section: AgentSection, spaces: dict[str, Any]) -> tuple[dict[str, Any], Any, int]:
        """Return the parts of skrl's agent, as SkrlAgent describes."""
        most, steps = links.environment.bounds[1], links.environment.options.steps
        models = {role: BoundedActor(section.layers, most, **spaces) for role in ("policy", "target_policy")}
        critics = ("critic_1", "critic_2", "target_critic_1", "target_critic_2")
        models |= {role: Critic(section.layers, **spaces) for role in critics}
        return models, settings(section, steps, most, links.device), section.options.memory

    def layers(self) -> list[tuple[Any, Any]]:
        """Return the layers as Agent describes, plus the fixed last layer."""
        return [*super().layers(), scale(self.agent.policy.most, 1)]


AGENT = Agent
