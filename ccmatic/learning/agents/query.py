"""The query that describes a training: a TOML file.

The file has the sections [environment] and [agent]. To train an adversary, the file also has the section [adversary].
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

import jax.numpy as jnp
from jax import Array

from ccmatic import controllers
from ccmatic.base import InputError, line_of, load_toml, located_in, shown, suggest
from ccmatic.deployment import policies
from ccmatic.learning import adversaries
from ccmatic.learning.agents import algorithms
from ccmatic.learning.agents.contract import Agent, Links, is_whole, require_whole
from ccmatic.learning.envs import LEARNED, Environment, LinkOptions, make_environment

#: The default standard deviation of actions, as a share of the largest action.
DEVIATION = 0.4


@dataclass(frozen=True)
class AgentSection:
    """The values of the section [agent]."""

    algorithm: str  #: the name of the algorithm, in a form that `algorithms.find` accepts
    options: Any  #: the Options of the algorithm: the values of the keys that only this algorithm supports
    layers: tuple[int, ...] = (32, 16)  #: the units of each hidden layer, of policy and value networks
    gamma: float = 0.99  #: the discount factor per interval
    parallel: int = 256  #: the number of links on which the agent learns at once
    episodes: int = 50
    learning_rate: float = 1e-3  #: Adam's learning rate. For TD3, this is the learning rate of the critics
    deviation: float | None = None  #: of actions, for PPO at first; None: a share DEVIATION of the largest action
    device: str | None = None  #: the device of JAX, such as `cpu` or `gpu`. None for JAX's default

    def __post_init__(self) -> None:
        require_whole(self, "parallel", "episodes")
        most, units = policies.DEEPEST - 2, policies.LARGEST  # a further layer is the last, and TD3 adds another
        layers = self.layers if isinstance(self.layers, list | tuple) else [None]
        if len(layers) > most or not all(is_whole(each, units) for each in layers):
            expected = f"at most {most} whole numbers up to {units}, such as [32, 16]"
            raise InputError(f"layers is {shown(self.layers)}; expected {expected}")
        for name, least, most in (("gamma", 0, 1), ("learning_rate", 1e-9, 1), ("deviation", 1e-3, 7)):
            value = getattr(self, name)
            if name == "deviation" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
                raise InputError(f"{name} is {shown(value)}; expected a number from {least:g} to {most:g}")
        if self.device is not None and not isinstance(self.device, str):
            raise InputError(f"device is {shown(self.device)}; expected a name, such as cpu")
        object.__setattr__(self, "layers", tuple(self.layers))


@dataclass(frozen=True)
class Training:
    """A training: an agent, and the Environment or Attack in which the agent learns."""

    name: str  #: the name of the query's file
    sections: dict[str, Any]  #: the sections of the file, as the user wrote them
    environment: Environment | adversaries.Attack
    algorithm: type[Agent]  #: the class of the agent
    agent: AgentSection  #: the values of the section [agent]

    @property
    def attacks(self) -> bool:
        return isinstance(self.environment, adversaries.Attack)

    @property
    def lag(self) -> int:
        """The number of intervals until a learner observes the effect of an action."""
        return self.environment.lag

    @property
    def warning(self) -> str | None:
        """The measured exploit of the reward, as a sentence."""
        return self.environment.warning

    @property
    def links(self) -> Links:
        return Links(self.environment, self.agent.parallel)

    @property
    def choices(self) -> tuple[float, ...]:
        """The actions of a discrete choice; empty if the network computes the action itself."""
        return self.environment.choices

    def decided(self, outputs: Array) -> Array:
        """Return the actions (…) of a policy, given the outputs (…, outputs) of its network."""
        if self.choices:
            return jnp.asarray(self.choices, jnp.float32)[jnp.argmax(outputs, axis=-1)]
        return outputs[..., 0]

    @property
    def deviation(self) -> float:
        given = self.agent.deviation
        return DEVIATION * self.environment.bounds[1] if given is None else given


#: The keys of the section [agent] that all algorithms share.
COMMON = tuple(field.name for field in fields(AgentSection) if field.name != "options")

KNOWN = {
    "environment": (*LEARNED, *(field.name for field in fields(LinkOptions) if field.init)),
    "agent": COMMON,
    "adversary": adversaries.OPTIONS,
}


def load(file: str | Path) -> Training:
    sections, text = load_toml(file)
    return of_sections(sections, text, file)


def of_sections(sections: dict[str, Any], text: str, file: str | Path) -> Training:
    for section, keys in sections.items():
        problem = None if section in KNOWN else f"unknown section [{section}]; {suggest(section, KNOWN)}"
        if not isinstance(keys, dict):
            expected = f"sections [{'], ['.join(KNOWN)}]" if problem else f"a section [{section}]"
            problem = f"'{section}' is a value; expected {expected}"
        if problem:
            raise InputError(problem, str(file), line_of(text, section))
        for key in keys if section != "agent" else ():
            _require_known(section, key, KNOWN[section], file, text)
    with located_in(file, text, sections):
        algorithm, agent = _agent(sections.get("agent", {}), file, text)
        training = Training(Path(file).stem, sections, _environment(sections), algorithm, agent)
        if isinstance(training.environment, Environment):
            _check_exported(training.environment)
        _check_length(training)
        _check_choices(training, agent)
        algorithm.check(training)
    if isinstance(training.environment, adversaries.Attack):
        return replace(training, environment=adversaries.constrained(training.environment))
    return training


def _require_known(section: str, key: str, names: Collection[str], file: str | Path, text: str) -> None:
    if key not in names:
        raise InputError(f"unknown key '{key}' in [{section}]; {suggest(key, names)}", str(file), line_of(text, key))


def _agent(section: Mapping[str, Any], file: str | Path, text: str) -> tuple[type[Agent], AgentSection]:
    name = section.get("algorithm", algorithms.DEFAULT)
    algorithm = algorithms.find(name)
    own = _options(algorithm)
    for key, value in section.items():
        if key not in (*COMMON, *own):
            for other in algorithms.shipped():
                if key in _options(algorithms.find(other)):
                    raise InputError(f"{key} is {shown(value)}; expected none: it is of {other}, not {name}")
            _require_known("agent", key, (*COMMON, *own), file, text)
    options = algorithm.Options(**{key: section[key] for key in own if key in section})
    common = {key: section[key] for key in COMMON if key in section}
    return algorithm, AgentSection(**{**common, "algorithm": name}, options=options)


def _options(algorithm: type[Agent]) -> list[str]:
    return [field.name for field in fields(algorithm.Options)]


def _environment(sections: Mapping[str, Any]) -> Environment | adversaries.Attack:
    """Return what the sections describe. By default, the lag lengthens episodes, so that whole rollouts remain."""
    given = sections.get("environment", {})
    if "adversary" in sections:
        return adversaries.make_attack(sections["adversary"], given)
    environment = make_environment(given)
    if "steps" in given:
        return environment
    return make_environment({**given, "steps": environment.options.steps + environment.lag})


def _check_exported(environment: Environment) -> None:
    """Check that an exported sender can compute the observations and actions of the policy."""
    names = environment.observe, environment.reward, None if environment.envelope else environment.act
    policies.exportable(*cast("tuple[str, str, str | None]", names))  # A file contains no functions.
    options = environment.options
    if environment.envelope and options.longest_delay > 1:
        length = f"interval is {options.interval} R_m, and R_m with jitter takes up to {options.longest_delay:g} of it"
        expected = "an interval at least that long, because an envelope's proof assumes such intervals"
        raise InputError(f"{length}; expected {expected}")
    controllers.require_order(environment.envelope, jitter=1)


def _check_choices(training: Training, agent: AgentSection) -> None:
    if training.choices and not training.algorithm.CHOOSES:
        raise InputError(f"choices with the algorithm {agent.algorithm}; expected none, or ppo")
    if training.choices and agent.deviation is not None:
        raise InputError(f"deviation is {agent.deviation:g}, with choices; expected none: scores decide among choices")


def _check_length(training: Training) -> None:
    """Check that an episode is long enough for the agent to record at least one interval."""
    steps = training.environment.options.steps
    if steps <= training.lag:
        expected = f"at least 1 and {training.lag} more until an effect is observed"
        raise InputError(f"steps is {steps}; expected {expected}, such as {4 + training.lag}")
