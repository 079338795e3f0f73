"""PPO: an agent that learns from each rollout and then discards the rollout."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jax import Array
from skrl.agents.jax.ppo import PPO

from ccmatic.base import InputError, shown
from ccmatic.learning import policies
from ccmatic.learning.agents.contract import require_whole
from ccmatic.learning.agents.links import Links
from ccmatic.learning.agents.networks import Critic, give
from ccmatic.learning.agents.ppo.losses import settings
from ccmatic.learning.agents.ppo.networks import Actor
from ccmatic.learning.agents.query import AgentSection, Training
from ccmatic.learning.agents.skrl_agents import LateRewardAgent, SkrlAgent


@dataclass(frozen=True)
class Options:
    """The options that only PPO has.

    Attributes:
        rollout: The number of intervals between updates.
        epochs: The number of passes of an update over these intervals.
        batches: The number of batches into which an update divides these intervals.
        initial: The file of the initial policy; None for a random policy.
    """

    rollout: int = 25
    epochs: int = 4
    batches: int = 4
    initial: str | None = None

    def __post_init__(self) -> None:
        require_whole(self, "rollout", "epochs", "batches")
        if self.initial is not None and not isinstance(self.initial, str):
            raise InputError(f"initial is {shown(self.initial)}; expected the name of a policy's file")


class LatePPO(LateRewardAgent, PPO):  # type: ignore[misc]  # skrl has no types
    """The PPO agent of skrl, with rewards that arrive late. No rollout is open at the end of an episode."""

    NOTED = ("_current_log_prob", "_current_values")

    @property
    def value_preprocessor(self) -> Any:
        """The preprocessor that scales values."""
        return self._value_preprocessor

    @property
    def deviation(self) -> float:
        """The learned standard deviation of actions."""
        return float(jnp.exp(self.policy.state_dict.params["params"]["log_std"]).mean())

    def begin(self, key: Array) -> None:
        """Begin an episode, as LateRewardAgent describes."""
        super().begin(key)
        self.policy._g_key, self._rollout = key, 0

    def pre_interaction(self, *, timestep: int, timesteps: int) -> None:
        """Make the deviation of an action depend only on the key and the action's number.

        The counter in skrl would count compilations, too.
        """
        self.policy._g_i = timestep


class Agent(SkrlAgent):
    """PPO as an Agent. Its value network has random initial weights even if the user gives an initial policy."""

    Options, KIND = Options, LatePPO
    KEPT = ("policy", "value", "policy_optimizer", "value_optimizer", "value_preprocessor")

    @classmethod
    def check(cls, training: Training) -> None:
        """Raise InputError if a Training does not suit PPO.

        An episode must consist of whole rollouts. Every recorded interval must count. The initial policy must fit the
        environment.
        """
        section, own, steps = training.agent, training.agent.options, training.environment.options.steps
        recorded = steps - training.lag
        if recorded < own.rollout or recorded % own.rollout:
            expected = f"a multiple of rollout, {own.rollout}, and {training.lag} more until an effect is observed"
            raise InputError(f"steps is {steps}; expected {expected}, such as {4 * own.rollout + training.lag}")
        if section.parallel * own.rollout < own.batches:
            raise InputError(f"batches is {own.batches}; expected no more than parallel times rollout")
        if own.initial is not None:
            _initial(training)

    def __init__(self, training: Training, links: Links, seed: int) -> None:
        super().__init__(training, links, seed)
        if training.agent.options.initial is not None:
            give(self.agent.policy, _initial(training).layers)

    def make(self, links: Links, section: AgentSection, spaces: dict[str, Any]) -> tuple[dict[str, Any], Any, int]:
        """Return the parts of skrl's PPO agent, as SkrlAgent describes."""
        models = {
            "policy": Actor(section.layers, section.deviation, **spaces),
            "value": Critic(section.layers, **spaces),
        }
        return models, settings(section, links.device), section.options.rollout


def _initial(training: Training) -> policies.Policy:
    """Return a training's initial policy.

    Raise InputError if its observations or actions differ from the training's.
    """
    if training.attacks:
        raise InputError("initial is for policies; expected none, because an adversary begins at random")
    file = training.agent.options.initial
    policy, environment = policies.load(file), training.environment
    sizes = [len(layer.bias) for layer in policy.file.layers[:-1]]
    actual = {"layers": sizes, "interval": policy.file.interval}
    expected = {"layers": list(training.agent.layers), "interval": str(environment.options.interval)}
    for name in ("observe", "act", "history", "delay"):
        actual[name], expected[name] = getattr(policy.file, name), getattr(environment, name)
    for name, value in actual.items():
        if value != expected[name]:
            what = f"{name} is {shown(expected[name])}, and that of the policy in {file}"
            raise InputError(f"{what} {shown(value)}; expected the same")
    return policy


AGENT = Agent
