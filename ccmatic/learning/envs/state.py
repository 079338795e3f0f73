"""The state of an episode, and policies for whole episodes as functions of this state."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from jax import Array

from ccmatic.contracts import Links
from ccmatic.learning.envs import signals


class BackgroundState(NamedTuple):
    """The state of a background flow."""

    memory: Any  #: the memory of the flow's RolloutPolicy
    knowledge: signals.Knowledge  #: the signals.Knowledge of the flow's sender, with arrays (1, n)


class EnvironmentState(NamedTuple):
    """The state of an episode. Flows that learn come first, and f counts them; background flows follow."""

    interval: Array  #: the number of finished intervals
    rate: Array  #: of each flow for the next interval, in bytes per second, (f + background flows, n)
    queues: Any  #: the queues of the links
    knowledge: signals.Knowledge  #: the signals.Knowledge of the senders that learn
    history: Array  #: the latest observation vectors, an array (n, f, k + d, features), the latest vector last
    wrong: Array | None = None  #: the factor (n) by which senders misjudge the smallest RTT; None for 1
    background: tuple[BackgroundState, ...] = ()  #: the BackgroundState of each background flow


#: A function that maps a policy's memory, Links, an EnvironmentState and its observation to the next memory and the
#: action.
Act: TypeAlias = Callable[[Any, Links, EnvironmentState, Array], tuple[Any, Array]]


@dataclass(frozen=True)
class RolloutPolicy:
    """A policy for whole episodes."""

    begin: Callable[[Links], Any]  #: from Links to the policy's first memory, which consists of arrays
    act: Act  #: also returns the actions (n, f)


def stateless(decide: Callable[[Array], Array]) -> RolloutPolicy:
    """Return a RolloutPolicy without memory that applies a function from observations to actions."""
    return RolloutPolicy(lambda links: (), lambda memory, links, state, observation: (memory, decide(observation)))
