"""Kinds of links: how many bytes a bottleneck may serve in each slot of an episode, by the name of the kind."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from ccmatic.base import InputError, located, suggest
from ccmatic.trace_export import OPPORTUNITY, Opportunities, Schedule

if TYPE_CHECKING:
    from ccmatic.learning.envs.links import LinkOptions


@dataclass(frozen=True)
class Constant:
    """One rate for the whole episode."""

    def rates(self, options: "LinkOptions", rate: Array, slot: Array, luck: Array) -> Array:
        """(T, n) bytes per second in each slot. rate: (n) of each link; slot: (n) seconds; luck: (T, n) from 0 to 1."""
        return jnp.broadcast_to(rate, luck.shape)


@dataclass(frozen=True)
class Changing:
    """Another rate every `period` seconds, of those asked for. Custard's dynamic link (Jay et al., "Internet Congestion
    Control via Deep Reinforcement Learning", 2018, section 4.2): uniform in 16 to 64 Mbit/s, every five seconds. A rate
    lasts for whole slots."""

    period: float

    def rates(self, options: "LinkOptions", rate: Array, slot: Array, luck: Array) -> Array:
        """As Constant.rates."""
        turn = jnp.floor(jnp.arange(len(luck))[:, None] * slot / self.period).astype(jnp.int32)
        return jnp.where(turn == 0, rate, options.rate.at(jnp.take_along_axis(luck, turn, axis=0)) * MBIT)


def smoothed(rate: Array, changes: Array, wanted: Array, budget: float) -> tuple[Array, Array]:
    """The rate nearest to the one wanted after which the mean of the last |change|s is within a budget (CCLab's Eq. 8),
    and these. rate: (n) the last one; changes: (window, n), the latest first."""
    room = jnp.maximum(0, len(changes) * budget - jnp.sum(changes[:-1], axis=0))
    after = jnp.clip(wanted, rate - room, rate + room)
    return after, jnp.concatenate([jnp.abs(after - rate)[None], changes[:-1]])


@dataclass(frozen=True)
class Smooth:
    """A new rate in each slot, drawn among those from the least to the most asked for that keep the mean of
    |change| over the last `window` slots within `budget` Mbit/s: CCLab's smoothness budget (its Eq. 8)."""

    budget: float
    window: int

    def rates(self, options: "LinkOptions", rate: Array, slot: Array, luck: Array) -> Array:
        """As Constant.rates."""
        low, high = (end * MBIT for end in options.rate.ends)

        def step(carry: tuple[Array, Array], luck: Array) -> tuple[tuple[Array, Array], Array]:
            last, changes = carry
            after, changes = smoothed(last, changes, low + luck * (high - low), self.budget * MBIT)
            return (after, changes), after

        carry = rate, jnp.zeros((self.window, *rate.shape))
        rates: Array = jax.lax.scan(step, carry, luck)[1]
        return rates


@dataclass(frozen=True)
class Mahimahi:
    """A link trace of mahimahi, from a random place on, again and again: 1500 bytes at each line's millisecond."""

    file: str
    opportunities: Opportunities

    def rates(self, options: "LinkOptions", rate: Array, slot: Array, luck: Array) -> Array:
        """As Constant.rates."""
        trace = self.opportunities
        by = jnp.array([trace.by(ms) for ms in range(trace.period + 1)], jnp.float32)
        ends = luck[0] * trace.period + jnp.arange(len(luck) + 1)[:, None] * slot * 1000
        cycle, within = jnp.divmod(ends, trace.period)
        count = cycle * len(trace.milliseconds) + by[within.astype(jnp.int32)]
        return jnp.diff(count, axis=0) * OPPORTUNITY / slot


#: Bytes per second in a Mbit/s.
MBIT = 125_000.0


@dataclass(frozen=True)
class Exported:
    """An exported counterexample (docs/export.md), from its first step on: what its bottleneck admits, what is released
    by when, its buffer, R_m and initial queue. Its tokens wait for who uses them, as in the emulator. After its last
    point it goes on at its rate."""

    file: str
    schedule: Schedule = field(compare=False)

    def rates(self, options: "LinkOptions", rate: Array, slot: Array, luck: Array) -> Array:
        """As Constant.rates."""
        return jnp.broadcast_to(self.tables(len(luck), options.per_rtt)[0][:, None] / slot, luck.shape)

    def tables(self, slots: int, per_rtt: int) -> list[NDArray[np.int32]]:
        """Bytes admitted and released in each slot, of which there are so many in R_m: two (T) arrays of whole
        numbers. What a schedule admits at its very beginning is of the first slot."""
        times, *curves = np.array(self.schedule.points, float).T
        ends = np.arange(1, slots + 1) * (self.schedule.step / per_rtt)
        beyond = np.maximum(0, ends - times[-1]) / 1e9 * float(self.schedule.rate)
        by = [np.floor(np.interp(ends, times, curve) + beyond) for curve in curves]
        return [np.diff(curve, prepend=0).astype(np.int32) for curve in by]


Kind: TypeAlias = Constant | Changing | Smooth | Mahimahi | Exported

#: Kinds that need no file, and those that do, by their names.
KINDS = ("constant", "changing", "smooth")
OF_FILES = {"mahimahi": Mahimahi, "schedule": Exported}


def kind(name: str, period: float, budget: float, window: int) -> Kind:
    """The kind of link of this name, or KIND:FILE. Raises InputError."""
    word, colon, file = name.partition(":")
    if word in OF_FILES:
        if not file:
            raise InputError(f"the link '{name}' has no file; expected '{word}:FILE'")
        with located(file):
            if word == "mahimahi":
                return Mahimahi(file, Opportunities.load(file))
            return Exported(file, Schedule.load(file))
    if word not in KINDS or colon:
        raise InputError(f"unknown kind of link '{name}'; {suggest(word, [*KINDS, *OF_FILES])}")
    if word == "smooth":
        return Smooth(budget, window)
    return Changing(period) if word == "changing" else Constant()
