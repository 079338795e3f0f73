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
    """A sender under attack."""

    name: str  #: the name of the sender
    environment: Environment  #: the Environment in which the sender acts
    policy: RolloutPolicy  #: the sender's RolloutPolicy in this environment

    @property
    def options(self) -> LinkOptions:
        return self.environment.options

    def step(
        self, links: Links, memory: Any, state: EnvironmentState, wrong: Array | None = None
    ) -> tuple[Any, EnvironmentState, SlotOutcome]:
        """Play one interval. The history keeps what the factor `wrong` falsifies, as in Environment.misled."""
        shown = state if wrong is None else self.environment.misled(state, wrong)
        memory, action = self.policy.act(memory, links, shown, self.environment.observation(shown))
        state = state._replace(history=shown.history)
        state, _, _, outcomes = self.environment.watched(links, state, action)
        return memory, state, outcomes


def target(name: str, options: LinkOptions) -> Target:
    """Return the Target of a name: `policy:FILE`, or a name as in `learning.sender`."""
    if options.all_flows != 1:
        raise InputError(f"{options.all_flows} flows; expected one, the target's")
    if name == "oracle":
        raise InputError("the oracle knows what rate will be chosen; expected a sender that does not")
    word, _, file = name.partition(":")
    if word == "policy":
        return Target(name, *trained(policies.load(file), options))
    environment = Environment(options, act=definitions.chosen("models.signals", "RATE"))
    return Target(name, environment, sender(name, environment))
