"""The contract of a learning algorithm: the file `train.py` in its folder sets AGENT to a subclass of Agent."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ccmatic.base import InputError, shown

if TYPE_CHECKING:
    from ccmatic.learning.agents.links import Links
    from ccmatic.learning.agents.query import Training


@dataclass(frozen=True)
class NoOptions:
    """The Options of an algorithm without further options."""


class Agent(ABC):
    """A learner. A training makes one Agent, and the Agent learns from one episode after the other.

    Attributes:
        Options: A frozen dataclass. Its fields are the keys of the section [agent] that only this algorithm supports,
            with their defaults. Its method `__post_init__` raises InputError for wrong values (see `require_whole`).
    """

    Options: ClassVar[type[Any]] = NoOptions

    @classmethod
    def check(cls, training: "Training") -> None:
        """Raise InputError if the algorithm cannot learn in a Training."""
        return

    @abstractmethod
    def __init__(self, training: "Training", links: "Links", seed: int) -> None:
        """Make an agent with a random initial policy.

        Args:
            training: The Training. The attribute `training.agent` has the section [agent], and `training.agent.options`
                has the Options.
            links: The Links for the episodes. The method `reset` begins an episode, and `step` plays an interval.
            seed: The seed of all random initial values.
        """

    @property
    @abstractmethod
    def deviation(self) -> float:
        """The standard deviation of the agent's actions, by which the agent explores."""

    @abstractmethod
    def learn(self, seed: int) -> None:
        """Play one episode of `training.environment.options.steps` intervals on the links, and learn from it.

        Args:
            seed: The seed of all random choices in this episode.
        """

    @abstractmethod
    def layers(self) -> list[tuple[Any, Any]]:
        """Return (weights (inputs, outputs), bias (outputs)) for each layer of the policy.

        There is a tanh between layers.
        """

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return everything that the agent has learned, for a checkpoint: trees of arrays, by name."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state that the method `state` returned in an earlier process."""


def require_whole(options: object, *names: str) -> None:
    """Raise InputError unless these fields of a dataclass are whole numbers of at least 1."""
    for name in names:
        if not is_whole(getattr(options, name)):
            raise InputError(f"{name} is {shown(getattr(options, name))}; expected a whole number, at least 1")


def is_whole(value: object) -> bool:
    """Return whether a value is an int of at least 1."""
    return type(value) is int and value >= 1
