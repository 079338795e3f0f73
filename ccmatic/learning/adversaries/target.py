"""The target of an attack: a sender in the fluid simulator, alone on its link."""

from dataclasses import dataclass
from typing import Any

from jax import Array

from ccmatic.base import InputError, definitions
from ccmatic.contracts import Links, SlotOutcome
from ccmatic.deployment import policies
from ccmatic.learning.envs import Environment, EnvironmentState, LinkOptions, RolloutPolicy, sender, trained


@dataclass(frozen=True, eq=False)
class Target:
    """A sender under attack.

    Attributes:
        name: The name of the sender.
        environment: The Environment in which the sender acts.
        policy: The sender's RolloutPolicy in this environment.
    """

    name: str
    environment: Environment
    policy: RolloutPolicy

    @property
    def options(self) -> LinkOptions:
        """The LinkOptions of the target's links."""
        return self.environment.options

    def step(
        self, links: Links, memory: Any, state: EnvironmentState, wrong: Array | None = None
    ) -> tuple[Any, EnvironmentState, SlotOutcome]:
        """Play one interval.

        Args:
            links: The Links.
            memory: The current memory of the sender's policy.
            state: The current EnvironmentState.
            wrong: The factor by which the sender misjudges the smallest RTT, as in Environment.misled. The history
                keeps the falsified observations.

        Returns:
            The next memory, the next EnvironmentState, and the SlotOutcome of each slot.
        """
        shown = state if wrong is None else self.environment.misled(state, wrong)
        memory, action = self.policy.act(memory, links, shown, self.environment.observation(shown))
        state = state._replace(history=shown.history)
        state, _, _, outcomes = self.environment.watched(links, state, action)
        return memory, state, outcomes


def target(name: str, options: LinkOptions) -> Target:
    """Return the Target with this name.

    Args:
        name: `policy:FILE` for a trained policy, or a name as in `learning.sender`.
        options: The LinkOptions of the target's links.

    Raises:
        InputError: If there is no such sender, or it cannot be a target.
    """
    if options.all_flows != 1:
        raise InputError(f"{options.all_flows} flows; expected one, the target's")
    if name == "oracle":
        raise InputError("the oracle knows what rate will be chosen; expected a sender that does not")
    word, _, file = name.partition(":")
    if word == "policy":
        return Target(name, *trained(policies.load(file), options))
    environment = Environment(options, act=definitions.chosen("models.signals", "RATE"))
    return Target(name, environment, sender(name, environment))
