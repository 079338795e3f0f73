"""The state of an episode, and policies for whole episodes as functions of this state."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from jax import Array

from ccmatic.contracts import Links
from ccmatic.learning.envs import signals


class BackgroundState(NamedTuple):
    """The state of a background flow.

    Attributes:
        memory: The memory of the flow's RolloutPolicy.
        knowledge: The signals.Knowledge of the flow's sender, with arrays (1, n).
    """

    memory: Any
    knowledge: signals.Knowledge


class EnvironmentState(NamedTuple):
    """The state of an episode. Flows that learn come first, and f counts them; background flows follow.

    Attributes:
        interval: The number of finished intervals.
        rate: The rate of each flow for the next interval, in bytes per second, an array (f + background flows, n). An
            action may change it.
        queues: The queues of the links.
        knowledge: The signals.Knowledge of the senders that learn.
        history: The latest observation vectors, an array (n, f, k + d, features), the latest vector last.
        wrong: The factor by which senders misjudge the smallest RTT, an array (n). The value is None if senders measure
            the RTT correctly.
        background: The BackgroundState of each background flow.
    """

    interval: Array
    rate: Array
    queues: Any
    knowledge: signals.Knowledge
    history: Array
    wrong: Array | None = None
    background: tuple[BackgroundState, ...] = ()


#: A function that maps a policy's memory, Links, an EnvironmentState and its observation to the next memory and the
#: action.
Act: TypeAlias = Callable[[Any, Links, EnvironmentState, Array], tuple[Any, Array]]


@dataclass(frozen=True)
class RolloutPolicy:
    """A policy for whole episodes.

    Attributes:
        begin: A function that maps Links to the policy's first memory. A memory consists of arrays.
        act: A function that maps the memory, Links, an EnvironmentState and its observation to the next memory and the
            actions (n, f).
    """

    begin: Callable[[Links], Any]
    act: Act


def stateless(decide: Callable[[Array], Array]) -> RolloutPolicy:
    """Return a RolloutPolicy without memory that applies a function from observations to actions."""
    return RolloutPolicy(lambda links: (), lambda memory, links, state, observation: (memory, decide(observation)))
