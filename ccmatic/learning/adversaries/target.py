"""Who is attacked: a sender in the fluid simulator, alone on its link."""

from dataclasses import dataclass

from ccmatic.base import InputError, definitions
from ccmatic.learning import policies
from ccmatic.learning.envs import Environment, RolloutPolicy, sender, trained


@dataclass(frozen=True, eq=False)
class Target:
    """A sender by its name, the Environment that it is in, and its RolloutPolicy there."""

    name: str
    environment: Environment
    policy: RolloutPolicy

    @property
    def asked(self):
        """Which links."""
        return self.environment.asked

    def step(self, links, memory, state, wrong=None):
        """One interval: what it remembers next, the EnvironmentState after it, and the SlotOutcome of each slot. wrong:
        as of Environment.misled; what it observes once it goes on observing."""
        shown = state if wrong is None else self.environment.misled(state, wrong)
        memory, action = self.policy.act(memory, links, shown, self.environment.observation(shown))
        state = state._replace(history=shown.history)
        state, _, _, seen = self.environment.watched(links, state, action)
        return memory, state, seen


def target(name, asked):
    """The Target of this name on links as asked for: `policy:FILE`, of a trained policy, or as of `learning.sender`.
    Raises InputError."""
    if asked.flows != 1:
        raise InputError(f"{asked.flows} flows; expected one, the target's")
    if name == "oracle":
        raise InputError("the oracle knows what rate will be chosen; expected a sender that does not")
    word, _, file = name.partition(":")
    if word == "policy":
        return Target(name, *trained(policies.load(file), asked))
    environment = Environment(asked, act=definitions.chosen("models.signals", "RATE"))
    return Target(name, environment, sender(name, environment))
