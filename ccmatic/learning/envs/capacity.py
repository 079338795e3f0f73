"""The kinds of links, by name. A kind determines how many bytes a bottleneck may serve in each slot of an episode."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from ccmatic.base import InputError, located, suggest
from ccmatic.networks.trace_export import OPPORTUNITY, Opportunities, Schedule

if TYPE_CHECKING:
    from ccmatic.learning.envs.links import LinkOptions


@dataclass(frozen=True)
class Constant:
    """A link with one rate for the whole episode."""

    def rates(self, options: "LinkOptions", rate: Array, slot: Array, luck: Array) -> Array:
        """Return the rate in each slot, in bytes per second, (T, n).

        The drawn rate of each link is (n), the length of a slot in seconds (n), and random numbers from 0 to 1 (T, n).
        """
        return jnp.broadcast_to(rate, luck.shape)


@dataclass(frozen=True)
class Changing:
    """A link that changes to another possible rate every `period` seconds. A rate lasts for a whole number of slots.

    On Custard's dynamic link (Jay et al., "Internet Congestion Control via Deep Reinforcement Learning", 2018, section
    4.2), the rate is uniform in 16 to 64 Mbit/s and changes every five seconds.
    """

    period: float

    def rates(self, options: "LinkOptions", rate: Array, slot: Array, luck: Array) -> Array:
        turn = jnp.floor(jnp.arange(len(luck))[:, None] * slot / self.period).astype(jnp.int32)
        return jnp.where(turn == 0, rate, options.rate.at(jnp.take_along_axis(luck, turn, axis=0)) * MBIT)


def smoothed(rate: Array, changes: Array, wanted: Array, budget: float) -> tuple[Array, Array]:
    """Return the next rate and the latest absolute changes under a smoothness budget (CCLab's Eq. 8).

    The next rate is the rate nearest to `wanted` that keeps the mean of the latest absolute changes, (window, n) with
    the latest change first, within the budget.
    """
    room = jnp.maximum(0, len(changes) * budget - jnp.sum(changes[:-1], axis=0))
    after = jnp.clip(wanted, rate - room, rate + room)
    return after, jnp.concatenate([jnp.abs(after - rate)[None], changes[:-1]])


@dataclass(frozen=True)
class Smooth:
    """A link with a new rate in each slot, under CCLab's smoothness budget (CCLab's Eq. 8).

    In each slot, the rate is drawn among the rates that keep the mean absolute change over the last `window` slots
    within `budget` Mbit/s.
    """

    budget: float
    window: int

    def rates(self, options: "LinkOptions", rate: Array, slot: Array, luck: Array) -> Array:
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
    """A link that follows a mahimahi trace from a random line on.

    At each line's millisecond, the link may serve 1500 bytes.
    """

    file: str
    opportunities: Opportunities

    def rates(self, options: "LinkOptions", rate: Array, slot: Array, luck: Array) -> Array:
        trace = self.opportunities
        by = jnp.array([trace.by(ms) for ms in range(trace.period + 1)], jnp.float32)
        ends = luck[0] * trace.period + jnp.arange(len(luck) + 1)[:, None] * slot * 1000
        cycle, within = jnp.divmod(ends, trace.period)
        count = cycle * len(trace.milliseconds) + by[within.astype(jnp.int32)]
        return jnp.diff(count, axis=0) * OPPORTUNITY / slot


#: The number of bytes per second in one Mbit/s.
MBIT = 125_000.0


@dataclass(frozen=True)
class ExportedLink:
    """A link that follows an exported counterexample (docs/reference/export.md) from its first step on.

    The counterexample determines the buffer, R_m, the initial queue, and the times at which the bottleneck admits and
    releases bytes. Unused tokens wait for packets, as in the emulator. After the last point, the link continues at the
    counterexample's rate.
    """

    file: str
    schedule: Schedule = field(compare=False)

    def rates(self, options: "LinkOptions", rate: Array, slot: Array, luck: Array) -> Array:
        return jnp.broadcast_to(self.tables(len(luck), options.per_rtt)[0][:, None] / slot, luck.shape)

    def tables(self, slots: int, per_rtt: int) -> list[NDArray[np.int32]]:
        """Return the bytes admitted and the bytes released in each slot, as two arrays (T) of whole numbers.

        Bytes that the schedule admits at time 0 belong to the first slot.
        """
        times, *curves = np.array(self.schedule.points, float).T
        ends = np.arange(1, slots + 1) * (self.schedule.step / per_rtt)
        beyond = np.maximum(0, ends - times[-1]) / 1e9 * float(self.schedule.rate)
        by = [np.floor(np.interp(ends, times, curve) + beyond) for curve in curves]
        return [np.diff(curve, prepend=0).astype(np.int32) for curve in by]


Kind: TypeAlias = Constant | Changing | Smooth | Mahimahi | ExportedLink

#: First, the names of the kinds that need no file. Second, the kinds that need a file, by name.
KINDS = ("constant", "changing", "smooth")
OF_FILES = {"mahimahi": Mahimahi, "schedule": ExportedLink}


def kind(name: str, period: float, budget: float, window: int) -> Kind:
    """Return the kind of link with this name, one of KINDS or KIND:FILE."""
    word, colon, file = name.partition(":")
    if word in OF_FILES:
        if not file:
            raise InputError(f"the link '{name}' has no file; expected '{word}:FILE'")
        with located(file):
            if word == "mahimahi":
                return Mahimahi(file, Opportunities.load(file))
            return ExportedLink(file, Schedule.load(file))
    if word not in KINDS or colon:
        raise InputError(f"unknown kind of link '{name}'; {suggest(word, [*KINDS, *OF_FILES])}")
    if word == "smooth":
        return Smooth(budget, window)
    return Changing(period) if word == "changing" else Constant()
