"""What senders on many links measure and remember, and the values of formulas (`ccmatic.controllers.signal`) of it.

All arrays are (f, n): of each flow of each link.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

import jax.numpy as jnp
from jax import Array

from ccmatic.compilers.arrays import Values
from ccmatic.controllers import shipped_beliefs, signal
from ccmatic.language import Tree
from ccmatic.learning.estimation.beliefs import Beliefs
from ccmatic.learning.estimation.particles import Particles

#: Registers of a file; in groups, as of a Signal.
Group: TypeAlias = Iterable[signal.Register]
Groups: TypeAlias = Iterable[Group]


class Interval(NamedTuple):
    """What a sender measures in a monitor interval.

    seconds: its length. sent, acked, lost: bytes sent in it, and found acknowledged and lost. rtt: the mean RTT of the
    bytes acknowledged, in seconds; rtt_end: that of the last one. Where none is acknowledged, both are those of the
    interval before; at first they are R_m, which a handshake measures. out: bytes in flight at its end.
    """

    seconds: Array
    sent: Array
    acked: Array
    lost: Array
    rtt: Array
    rtt_end: Array
    out: Array


class Knowledge(NamedTuple):
    """What a sender knows after an interval.

    now, before: the latest Interval, and the one before. registers: what it remembers, by name. action: the latest one;
    packet: bytes of one. bounds, particles: what it believes; None where no formula reads that. capacity: the mean rate
    of the link in bytes per second, which no sender knows, but rewards do.
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
        """What the sender knows after another Interval. memory: groups of registers, as of a Signal."""
        knowledge = self._replace(now=now, before=self.now)
        for group in memory:
            knowledge = knowledge._replace(registers=knowledge.registers | knowledge.next_values(group))
        bounds = None if self.bounds is None else self.bounds.learned(knowledge)
        particles = None if self.particles is None else self.particles.learned(knowledge)
        return knowledge._replace(bounds=bounds, particles=particles)

    def next_values(self, group: Group, **others: Any) -> dict[str, Array]:
        """What a group of registers becomes after the latest interval, by name. others: as of `value`."""
        values = Values(_Names(self, others))
        return {each.name: jnp.broadcast_to(values.of(each.next), self.now.rtt.shape) for each in group}

    def value(self, term: Tree, **others: Any) -> Array:
        """The value of a term, an array (f, n); of a vector (f, n, size). others: values of other names."""
        result: Array = Values(_Names(self, others)).of(term)
        return result

    def measure(self, name: str) -> Array:
        """The value of a shipped measure, by its name, or of one of the interval before."""
        return self.value(signal.measure(name).term)


def first(seconds: Array, rtt: Array, packet: Array | int, memory: Groups = (), **believed: Any) -> Knowledge:
    """Return the Knowledge before the first interval: R_m. seconds, rtt: (f, n), the length of an interval and R_m;
    packet: bytes. memory: groups of registers, as of a Signal. believed: the fields of Knowledge that are beliefs."""
    none = jnp.zeros_like(rtt)
    nothing = Interval(seconds, none, none, none, rtt, rtt, none)
    registers = {name: value for group in memory for name, value in first_values(group, rtt, packet).items()}
    return Knowledge(nothing, nothing, registers, none, packet, **believed)


def first_values(group: Group, rtt: Array, packet: Array | int) -> dict[str, Array]:
    """The first values of a group of registers, by name, (f, n) as R_m is. packet: its bytes."""
    values = Values({**_FIXED, "R_m": rtt, "MSS": packet})
    return {each.name: jnp.zeros_like(rtt) + values.of(each.first) for each in group}


_FIXED = {name: float(value) for name, value in signal.IN_SECONDS.items()}


class _Names(dict[str, Any]):
    """The values of the names that a term reads, each worked out when it is read."""

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
        """A belief, of which the unit of time is an interval, in seconds."""
        bounds = self._knowledge.bounds
        assert bounds is not None  # they are formed where a formula reads one
        value, seconds = bounds.named()[name], self._knowledge.now.seconds
        power = shipped_beliefs()[name].seconds_power
        return value * seconds if power > 0 else value / seconds if power < 0 else value


def _width(place: int) -> Callable[[Knowledge], Array]:
    def width(knowledge: Knowledge) -> Array:
        assert knowledge.particles is not None  # they are kept where a formula reads a width
        return knowledge.particles.widths()[place]

    return width


#: What else a term may read, as functions of a Knowledge. Flows are the last axis but one.
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
