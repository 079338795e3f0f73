"""What senders on many links know, the values of formulas over it, and the state of an episode.

The formulas are those of `ccmatic.controllers.signal`. All arrays are (f, n): one element per flow and link.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import jax.numpy as jnp
from jax import Array

from ccmatic.contracts import Links
from ccmatic.controllers import shipped_beliefs, signal
from ccmatic.language import Tree
from ccmatic.learning.envs import signals
from ccmatic.learning.envs.beliefs import Beliefs
from ccmatic.learning.envs.particles import Particles
from ccmatic.worlds.arrays import Values

#: The registers of a file, and groups of registers, as in a Signal.
Group: TypeAlias = Iterable[signal.Register]
Groups: TypeAlias = Iterable[Group]


class Interval(NamedTuple):
    """A sender's measurements in a monitor interval."""

    seconds: Array  #: the length of the interval
    sent: Array  #: the number of bytes sent in the interval
    acked: Array  #: the number of bytes acknowledged in the interval
    lost: Array  #: the number of bytes detected as lost in the interval
    #: the mean RTT of the acknowledged bytes in seconds, or the previous value; at first R_m, of a handshake
    rtt: Array
    rtt_end: Array  #: the RTT of the last acknowledged byte in seconds, or the previous value
    out: Array  #: the bytes in flight at the end of the interval
    marked: Array | float = 0.0  #: bytes acknowledged with a mark; 0 on links that mark nothing


class Knowledge(NamedTuple):
    """A sender's knowledge after an interval."""

    now: Interval  #: the latest Interval
    before: Interval  #: the previous Interval
    registers: dict[str, Array]  #: the values of the registers, by name
    action: Array | float  #: the latest action
    packet: Array | int  #: the number of bytes in a packet
    bounds: Beliefs | None = None  #: the beliefs; None if no formula reads them
    particles: Particles | None = None  #: the particles; None if no formula reads them
    capacity: Array | None = None  #: the link's mean rate in bytes per second, which only rewards know

    def after(self, now: Interval, memory: Groups) -> "Knowledge":
        knowledge = self._replace(now=now, before=self.now)
        for group in memory:
            knowledge = knowledge._replace(registers=knowledge.registers | knowledge.next_values(group))
        bounds = None if self.bounds is None else self.bounds.learned(knowledge)
        particles = None if self.particles is None else self.particles.learned(knowledge)
        return knowledge._replace(bounds=bounds, particles=particles)

    def next_values(self, group: Group, **others: Any) -> dict[str, Array]:
        values = Values(_Names(self, others))
        return {register.name: jnp.broadcast_to(values.of(register.next), self.now.rtt.shape) for register in group}

    def value(self, term: Tree, **others: Any) -> Array:
        """Return the value of a term: an array (f, n), or (f, n, size) for a vector."""
        result: Array = Values(_Names(self, others)).of(term)
        return result

    def measure(self, name: str) -> Array:
        """Return the value of a shipped measure by name, for the latest interval or the previous interval."""
        return self.value(signal.measure(name).term)


def first(seconds: Array, rtt: Array, packet: Array | int, memory: Groups = (), **believed: Any) -> Knowledge:
    """Return the Knowledge before the first interval, when a sender knows only R_m, (f, n) in seconds."""
    none = jnp.zeros_like(rtt)
    nothing = Interval(seconds, none, none, none, rtt, rtt, none, none)
    registers = {name: value for group in memory for name, value in first_values(group, rtt, packet).items()}
    return Knowledge(nothing, nothing, registers, none, packet, **believed)


def first_values(group: Group, rtt: Array, packet: Array | int) -> dict[str, Array]:
    """Return the first values of a group of registers by name, (f, n). R_m is in seconds."""
    values = Values({**_FIXED, "R_m": rtt, "MSS": packet})
    return {register.name: jnp.zeros_like(rtt) + values.of(register.first) for register in group}


_FIXED = {name: float(value) for name, value in signal.IN_SECONDS.items()}


class _Names(dict[str, Any]):
    """The values of the names that a term reads. Each value is computed at the first use of its name."""

    def __init__(self, knowledge: Knowledge, others: dict[str, Any]) -> None:
        super().__init__(_FIXED | knowledge.registers | others)
        self._knowledge = knowledge

    def __missing__(self, name: str) -> Any:
        knowledge, before = self._knowledge, name.removesuffix(signal.BEFORE)
        if name in Interval._fields:
            return getattr(knowledge.now, name)
        if before in Interval._fields:
            return getattr(knowledge.before, before)
        if name in _OTHERS:
            return _OTHERS[name](knowledge)
        return self._belief(name)

    def _belief(self, name: str) -> Array:
        """Return a belief about time in seconds. The time unit of beliefs is an interval."""
        bounds = self._knowledge.bounds
        assert bounds is not None  # Senders form beliefs only if a formula reads one.
        value, seconds = bounds.named()[name], self._knowledge.now.seconds
        power = shipped_beliefs()[name].seconds_power
        return value * seconds if power > 0 else value / seconds if power < 0 else value


def _width(place: int) -> Callable[[Knowledge], Array]:
    def width(knowledge: Knowledge) -> Array:
        assert knowledge.particles is not None  # Senders keep particles only if a formula reads a width.
        return knowledge.particles.widths()[place]

    return width


#: Other quantities that a term may read, each as a function of a Knowledge. Flows are the second to last axis.
_OTHERS: dict[str, Callable[[Knowledge], Any]] = {
    "MSS": lambda knowledge: knowledge.packet,
    "R_m": lambda knowledge: knowledge.measure(signal.LEAST_RTT),
    "action": lambda knowledge: knowledge.action,
    "capacity": lambda knowledge: knowledge.capacity,
    "throughput_sum": lambda knowledge: jnp.sum(knowledge.measure("throughput"), axis=-2, keepdims=True),
    "throughput_deviation": lambda knowledge: jnp.std(knowledge.measure("throughput"), axis=-2, keepdims=True),
    "delay_width": _width(0),
    "own_width": _width(1),
    "others_width": _width(2),
}


class BackgroundState(NamedTuple):
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
    begin: Callable[[Links], Any]  #: from Links to the policy's first memory, which consists of arrays
    act: Act  #: also returns the actions (n, f)


def stateless(decide: Callable[[Array], Array]) -> RolloutPolicy:
    """Return a RolloutPolicy without memory that applies a function from observations to actions."""
    return RolloutPolicy(lambda links: (), lambda memory, links, state, observation: (memory, decide(observation)))
