"""Who is attacked: a sender in the fluid simulator, alone on its link."""

from dataclasses import dataclass
from typing import Any

from jax import Array

from ccmatic.base import InputError, definitions
from ccmatic.contracts import Links, SlotOutcome
from ccmatic.learning import policies
from ccmatic.learning.envs import Environment, EnvironmentState, LinkOptions, RolloutPolicy, sender, trained


@dataclass(frozen=True, eq=False)
class Target:
    """A sender by its name, the Environment that it is in, and its RolloutPolicy there."""

    name: str
    environment: Environment
    policy: RolloutPolicy

    @property
    def options(self) -> LinkOptions:
        """The LinkOptions."""
        return self.environment.options

    def step(
        self, links: Links, memory: Any, state: EnvironmentState, wrong: Array | None = None
    ) -> tuple[Any, EnvironmentState, SlotOutcome]:
        """One interval: what it remembers next, the EnvironmentState after it, and the SlotOutcome of each slot. wrong:
        as of Environment.misled; what it observes once it goes on observing."""
        shown = state if wrong is None else self.environment.misled(state, wrong)
        memory, action = self.policy.act(memory, links, shown, self.environment.observation(shown))
        state = state._replace(history=shown.history)
        state, _, _, seen = self.environment.watched(links, state, action)
        return memory, state, seen


def target(name: str, options: LinkOptions) -> Target:
    """Return the Target of this name on the links of `options`: `policy:FILE` for a trained policy, else a name as of
    `learning.sender`. Raises InputError."""
    if options.flows != 1:
        raise InputError(f"{options.flows} flows; expected one, the target's")
    if name == "oracle":
        raise InputError("the oracle knows what rate will be chosen; expected a sender that does not")
    word, _, file = name.partition(":")
    if word == "policy":
        return Target(name, *trained(policies.load(file), options))
    environment = Environment(options, act=definitions.chosen("models.signals", "RATE"))
    return Target(name, environment, sender(name, environment))
