"""The measurements and the memory of senders on many links, and the values of formulas over these.

The formulas are those of `ccmatic.controllers.signal`. All arrays are (f, n): one element per flow and link.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

import jax.numpy as jnp
from jax import Array

from ccmatic.controllers import shipped_beliefs, signal
from ccmatic.language import Tree
from ccmatic.learning.envs.beliefs import Beliefs
from ccmatic.learning.envs.particles import Particles
from ccmatic.worlds.arrays import Values

#: The registers of a file, and groups of registers, as in a Signal.
Group: TypeAlias = Iterable[signal.Register]
Groups: TypeAlias = Iterable[Group]


class Interval(NamedTuple):
    """A sender's measurements in a monitor interval.

    Attributes:
        seconds: The length of the interval.
        sent: The number of bytes sent in the interval.
        acked: The number of bytes acknowledged in the interval.
        lost: The number of bytes detected as lost in the interval.
        rtt: The mean RTT of the acknowledged bytes in seconds. If no byte is acknowledged, the value of the previous
            interval remains. The initial value is R_m, which a handshake measures.
        rtt_end: The RTT of the last acknowledged byte in seconds. If no byte is acknowledged, the previous value
            remains.
        out: The bytes in flight at the end of the interval.
        marked: The number of bytes acknowledged with a mark in the interval; 0 on links that mark nothing.
    """

    seconds: Array
    sent: Array
    acked: Array
    lost: Array
    rtt: Array
    rtt_end: Array
    out: Array
    marked: Array | float = 0.0


class Knowledge(NamedTuple):
    """A sender's knowledge after an interval.

    Attributes:
        now: The latest Interval.
        before: The previous Interval.
        registers: The values of the registers, by name.
        action: The latest action.
        packet: The number of bytes in a packet.
        bounds: The beliefs; None if no formula reads them.
        particles: The particles; None if no formula reads them.
        capacity: The mean rate of the link in bytes per second. No sender knows this rate, but rewards use it.
    """

    now: Interval
    before: Interval
    registers: dict[str, Array]
    action: Array | float
    packet: Array | int
    bounds: Beliefs | None = None
    particles: Particles | None = None
    capacity: Array | None = None

    def after(self, now: Interval, memory: Groups) -> "Knowledge":
        """Return the sender's knowledge after another Interval.

        Args:
            now: The new Interval.
            memory: Groups of registers, as in a Signal.
        """
        knowledge = self._replace(now=now, before=self.now)
        for group in memory:
            knowledge = knowledge._replace(registers=knowledge.registers | knowledge.next_values(group))
        bounds = None if self.bounds is None else self.bounds.learned(knowledge)
        particles = None if self.particles is None else self.particles.learned(knowledge)
        return knowledge._replace(bounds=bounds, particles=particles)

    def next_values(self, group: Group, **others: Any) -> dict[str, Array]:
        """Return the next values of a group of registers by name, after the latest interval.

        The argument `others` is as in the method `value`.
        """
        values = Values(_Names(self, others))
        return {register.name: jnp.broadcast_to(values.of(register.next), self.now.rtt.shape) for register in group}

    def value(self, term: Tree, **others: Any) -> Array:
        """Return the value of a term: an array (f, n), or an array (f, n, size) for a vector.

        Args:
            term: The term.
            others: The values of other names in the term.
        """
        result: Array = Values(_Names(self, others)).of(term)
        return result

    def measure(self, name: str) -> Array:
        """Return the value of a shipped measure by name, for the latest interval or the previous interval."""
        return self.value(signal.measure(name).term)


def first(seconds: Array, rtt: Array, packet: Array | int, memory: Groups = (), **believed: Any) -> Knowledge:
    """Return the Knowledge before the first interval, when a sender knows only R_m.

    Args:
        seconds: The length of an interval in seconds, an array (f, n).
        rtt: R_m in seconds, an array (f, n).
        packet: The number of bytes in a packet.
        memory: Groups of registers, as in a Signal.
        believed: The fields of Knowledge that are beliefs.
    """
    none = jnp.zeros_like(rtt)
    nothing = Interval(seconds, none, none, none, rtt, rtt, none, none)
    registers = {name: value for group in memory for name, value in first_values(group, rtt, packet).items()}
    return Knowledge(nothing, nothing, registers, none, packet, **believed)


def first_values(group: Group, rtt: Array, packet: Array | int) -> dict[str, Array]:
    """Return the first values of a group of registers by name. The values have the shape of R_m, (f, n).

    Args:
        group: The registers.
        rtt: R_m in seconds.
        packet: The number of bytes in a packet.
    """
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
