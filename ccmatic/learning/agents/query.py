"""What is to be trained, from a TOML file: its sections [environment] and [agent], and of an adversary [adversary]."""

import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from ccmatic import language
from ccmatic.base import InputError, line_of, load_toml, located, shown, suggest
from ccmatic.learning import adversaries, policies
from ccmatic.learning.envs import LEARNED, Asked, Environment, make_environment

#: The options that one algorithm alone has, and what they are by default.
OWN = {
    "ppo": {"rollout": 25, "epochs": 4, "batches": 4, "initial": None},
    "td3": {"updates": 100, "batch": 256, "memory": 500},
}


@dataclass(frozen=True)
class AgentAsked:
    """The section [agent].

    algorithm: `ppo` or `td3`. layers: units of the network's hidden layers, of policy and value alike. gamma: the
    discount of an interval. parallel: on how many links it learns at once. episodes: in all. learning_rate: of Adam, by
    TD3 of the critics. deviation: of an action, by PPO at first. device: `cpu`, `gpu` …; None: JAX's default.
    Of PPO: rollout, epochs, batches: intervals between updates, how often an update goes over them, in how many parts;
    initial: the file of the policy that it begins with; None: one at random.
    Of TD3: updates: at the end of an episode; batch: of how many intervals of all links one is; memory: how many of
    each link they are drawn from, the latest. Raises InputError.
    """

    algorithm: str = "ppo"
    layers: tuple = (32, 16)
    gamma: float = 0.9
    parallel: int = 256
    episodes: int = 50
    rollout: int | None = None
    epochs: int | None = None
    batches: int | None = None
    updates: int | None = None
    batch: int | None = None
    memory: int | None = None
    learning_rate: float = 1e-3
    deviation: float = 1.0
    initial: str | None = None
    device: str | None = None

    def __post_init__(self):
        if self.algorithm not in tuple(OWN):
            raise InputError(f"unknown algorithm '{shown(self.algorithm)}'; {suggest(self.algorithm, OWN)}")
        for algorithm, options in OWN.items():
            self._settle(algorithm, options)
        own = [name for name in OWN[self.algorithm] if name != "initial"]
        for name in ("parallel", "episodes", *own):
            if not _whole(getattr(self, name)):
                raise InputError(f"{name} is {shown(getattr(self, name))}; expected a whole number, at least 1")
        if not isinstance(self.layers, list | tuple) or not all(map(_whole, self.layers)):
            raise InputError(f"layers is {shown(self.layers)}; expected whole numbers, such as [32, 16]")
        for name, least, most in (("gamma", 0, 1), ("learning_rate", 1e-9, 1), ("deviation", 1e-3, 7)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
                raise InputError(f"{name} is {shown(value)}; expected a number from {least:g} to {most:g}")
        if self.initial is not None and not isinstance(self.initial, str):
            raise InputError(f"initial is {shown(self.initial)}; expected the name of a policy's file")
        object.__setattr__(self, "layers", tuple(self.layers))

    def _settle(self, algorithm, options):
        """What an algorithm alone has is its own default where nothing is said, and nothing else's."""
        for name, default in options.items():
            value = getattr(self, name)
            if algorithm != self.algorithm and value is not None:
                raise InputError(f"{name} is {shown(value)}; expected none: it is of {algorithm}, not {self.algorithm}")
            if algorithm == self.algorithm and value is None:
                object.__setattr__(self, name, default)


@dataclass(frozen=True)
class Training:
    """What is to be trained: an Environment, or an Attack, and an agent. sections: of the file, as it was written;
    name: of it. initial: the policy that it begins with, if it does."""

    name: str
    sections: dict[str, Any]
    environment: Environment | adversaries.Attack
    agent: AgentAsked
    initial: policies.Policy | None = None

    @property
    def attacks(self):
        """Whether it is an adversary that is trained."""
        return isinstance(self.environment, adversaries.Attack)

    @property
    def lag(self):
        """After how many intervals that of an action is heard of: those in R_m; what a link does is felt at once."""
        return 0 if self.attacks else int(1 / self.environment.asked.interval)


KNOWN = {
    "environment": (*LEARNED, *(field.name for field in fields(Asked) if field.init)),
    "agent": tuple(field.name for field in fields(AgentAsked)),
    "adversary": adversaries.OPTIONS,
}


def load(file):
    """The Training of a TOML file. Raises InputError, which names the file and, where it can, the line."""
    sections, text = load_toml(file)
    for section, keys in sections.items():
        if section not in KNOWN or not isinstance(keys, dict):
            found = f"unknown section [{section}]" if isinstance(keys, dict) else f"'{section}' is a value"
            raise InputError(f"{found}; {suggest(section, KNOWN)}", str(file), line_of(text, section))
        for key in keys:
            if key not in KNOWN[section]:
                message = f"unknown key '{key}' in [{section}]; {suggest(key, KNOWN[section])}"
                raise InputError(message, str(file), line_of(text, key))
    with located(str(file)):
        try:
            made = _made(sections)
            training = Training(Path(file).stem, sections, made, AgentAsked(**sections.get("agent", {})))
            if not training.attacks:
                _check_exported(made)
            _check_length(training)
            initial = _initial(training)
        except InputError as error:
            if error.file is None:
                error.line = _line(text, error.message, sections)
            raise
    if training.attacks:
        return replace(training, environment=adversaries.constrained(training.environment))
    return replace(training, initial=initial)


def _made(sections):
    if "adversary" not in sections:
        return make_environment(sections.get("environment", {}))
    return adversaries.attack(sections["adversary"], sections.get("environment", {}))


def _check_exported(environment):
    """What is learned can be sent by: `ccmatic.learning.policies` has all that it observes and does."""
    rewards = policies.rewards(environment.observe)
    tables = {"observes": ("observe", policies.OBSERVATIONS), "acts by": ("act", policies.ACTIONS)}
    for what, (name, table) in {**tables, "is rewarded by": ("reward", rewards)}.items():
        found = getattr(environment, name)
        if found not in table and not (name == "act" and environment.envelope):
            raise InputError(f"no policy is exported that {what} '{found}'; expected {name} of {', '.join(table)}")
    asked = environment.asked
    if environment.envelope and asked.longest_delay > 1:
        found = f"interval is {asked.interval} R_m, and R_m with jitter takes up to {asked.longest_delay:g} of it"
        raise InputError(f"{found}; expected an interval as long, as the beliefs of an envelope's proof are of such")
    language.require_order(environment.envelope, jitter=1)


def _check_length(training):
    """Something is recorded of an episode; PPO's updates are of whole rollouts, and all that is recorded counts."""
    asked, steps = training.agent, training.environment.asked.steps
    rollout = asked.rollout if asked.algorithm == "ppo" else 1
    recorded = steps - training.lag
    if recorded < rollout or recorded % rollout:
        whole = f"a multiple of rollout, {rollout}, and" if asked.algorithm == "ppo" else "at least 1 and"
        expected = f"{whole} {training.lag} more until the first is heard of"
        raise InputError(f"steps is {steps}; expected {expected}, such as {4 * rollout + training.lag}")
    if asked.algorithm == "ppo" and asked.parallel * rollout < asked.batches:
        raise InputError(f"batches is {asked.batches}; expected no more than parallel times rollout")


def _initial(training):
    """The policy that a training begins with, which fits what it observes and does; None if it has none."""
    if training.agent.initial is None:
        return None
    if training.attacks:
        raise InputError("initial is of policies; expected none, as an adversary begins at random")
    policy, environment = policies.load(training.agent.initial), training.environment
    sizes = [len(layer.bias) for layer in policy.file.layers[:-1]]
    found = {"layers": sizes, "interval": policy.file.interval}
    expected = {"layers": list(training.agent.layers), "interval": str(environment.asked.interval)}
    for name in ("observe", "act", "history", "delay"):
        found[name], expected[name] = getattr(policy.file, name), getattr(environment, name)
    for name, value in found.items():
        if value != expected[name]:
            what = f"{name} is {shown(expected[name])}, and that of the policy in {training.agent.initial}"
            raise InputError(f"{what} {shown(value)}; expected the same")
    return policy


def _line(text, message, sections):
    """That of the first key that a message speaks of."""
    keys = {key for section in sections.values() for key in section}
    named = [word for word in re.findall(r"\w+", message) if word in keys]
    return line_of(text, named[0]) if named else None


def _whole(value):
    return type(value) is int and value >= 1
