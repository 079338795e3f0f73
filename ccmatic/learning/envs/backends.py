"""What an episode runs on: the fluid simulator, or the packet simulator; the emulator is in `emulated`. One interface:
`reset` gives Links, an EnvironmentState and an observation, `step` takes them and an action."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import ceil
from random import Random
from typing import Generic

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from ccmatic.base import InputError, definitions
from ccmatic.contracts import Links
from ccmatic.learning.envs import capacity
from ccmatic.learning.envs.environment import Environment, EnvironmentState, Learnable, State
from ccmatic.learning.envs.signals import Interval
from ccmatic.simulation import Path, Simulation

#: A changing link has whole multiples, up to so many, of one rate, so that all of them serve packets in whole ticks.
MULTIPLES = 12


class Simulated:
    """What runs by itself: nothing is to be ended, nothing can be wrong with a run."""

    faults: list[str] | None = None

    def close(self) -> None:
        """Nothing is open."""


class Fluid(Simulated, Generic[State]):
    """n links of an Environment in the fluid simulator, compiled. device: `cpu`, `gpu` …; None: JAX's default. Raises
    InputError where there is no such device."""

    def __init__(self, environment: Learnable[State], n: int = 1, device: str | None = None) -> None:
        self.environment, self.n = environment, n
        self._device = _found(device)
        self._reset = jax.jit(partial(environment.reset, n=n))
        self._step = jax.jit(environment.step, donate_argnums=1)
        self._observe = jax.jit(environment.observation)

    def reset(self, seed: int) -> tuple[Links, State, Array]:
        """(Links, EnvironmentState, observation (n, f, size)) of an episode. seed: of all that is random in it."""
        key = jax.random.key(seed)
        links, state = self._reset(key if self._device is None else jax.device_put(key, self._device))
        return links, state, self._observe(state)

    def step(self, links: Links, state: State, action: ArrayLike) -> tuple[State, Array, Array]:
        """One interval, as Environment.step; the EnvironmentState that is given is not to be used again."""
        after: tuple[State, Array, Array] = self._step(links, state, jnp.asarray(action, jnp.float32))
        return after


def _found(device: str | None) -> jax.Device | None:
    try:
        return None if device is None else jax.devices(device)[0]
    except RuntimeError:
        there = ", ".join(sorted({each.platform for each in jax.devices()}))
        raise InputError(f"no device '{device}' here; JAX has {there}") from None


class Packets(Simulated):
    """As `Fluid`, of one link with one flow. A step of the simulation is a monitor interval; R_m, and what
    jitter may hold besides, are the delay behind the bottleneck. The rate is rounded to whole packets in an interval,
    on a changing link to multiples of a twelfth of the highest. Raises InputError for links of other kinds, and
    flows."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        if environment.options.flows != 1:
            raise InputError(f"{environment.options.flows} flows packet by packet; expected one")
        for each in environment.options.mix:
            if not isinstance(each, capacity.Constant | capacity.Changing):
                name = type(each).__name__.lower()
                raise InputError(f"{name} links packet by packet; expected constant or changing ones")
        self._reset = jax.jit(partial(environment.reset, n=1))
        self._act, self._learn = jax.jit(environment.acted), jax.jit(environment.learn)
        self._observe = jax.jit(environment.observation)

    def reset(self, seed: int) -> tuple[Links, EnvironmentState, Array]:
        """As Fluid.reset."""
        links, state = self._reset(jax.random.key(seed))
        self._random = np.random.default_rng(seed)
        self._begin(links, seed)
        state = state._replace(queues=None)
        return links, state, self._observe(state)

    def step(self, links: Links, state: EnvironmentState, action: ArrayLike) -> tuple[EnvironmentState, Array, Array]:
        """As Fluid.step."""
        state = self._act(links, state, jnp.asarray(action, jnp.float32))
        now = self._send(float(state.rate[0, 0]), int(state.interval), state.knowledge.now)
        knowledge, history, reward = self._learn(state.knowledge, state.history, now)
        state = EnvironmentState(state.interval + 1, state.rate, None, knowledge, history)
        return state, self._observe(state), reward

    def _begin(self, links: Links, seed: int) -> None:
        options = self.environment.options
        packet, slots = options.packet, options.slots
        self._seconds = float(links.slot[0]) * slots
        packets = np.asarray(links.capacity)[:, 0].reshape(options.steps, slots).sum(1) / packet
        unit = 1 if np.ptp(packets) < 1 else max(1, ceil(packets.max() / MULTIPLES))
        self._capacity = np.maximum(1, np.round(packets / unit).astype(int)) * unit
        rtt, held = float(links.rtt[0, 0]) / slots, float(links.jitter[0]) / slots
        self._path = Path(
            definitions.chosen("models", "EMULATED"),
            rate=Fraction(int(self._capacity[0]) * packet),
            packet=packet,
            jitter=ceil(rtt + held),
            buffer=Fraction(max(packet, int(links.buffer[0]))),
        )
        jitter = _holding(rtt, held, options.pattern)
        rates = {Fraction(int(count) * packet) for count in self._capacity}
        self._simulation = Simulation(self._path, seed, jitter=jitter, rates=rates)
        self._loss, self._carry, self._unlucky, self._totals = float(links.loss[0]), 0.0, [0], (0, 0)

    def _send(self, rate: float, interval: int, before: Interval) -> Interval:
        """Send at a rate, bytes per second, for an interval; the Interval that was measured."""
        simulation, packet = self._simulation, self.environment.options.packet
        if interval and self._capacity[interval] != self._capacity[interval - 1]:
            simulation.change_rate(Fraction(int(self._capacity[interval]) * packet))
        budget = self._carry + rate * self._seconds / packet
        count = max(1, int(budget))
        self._carry = max(0.0, budget - count)
        unlucky = int(self._random.binomial(count, self._loss)) if self._loss else 0
        simulation.send(count - unlucky)
        self._unlucky.append(self._unlucky[-1] + unlucky)
        seen = simulation.observation
        totals = seen.delivered, seen.lost + packet * self._unlucky[-2]
        acked, lost = (new - old for new, old in zip(totals, self._totals, strict=True))
        self._totals = totals
        end = before.rtt_end if seen.delay is None or not acked else _one(float(seen.delay) * self._seconds)
        rtt = (before.rtt_end + end) / 2 if acked else before.rtt
        sent, acked, lost = (_one(value) for value in (count * packet, acked, lost))
        return Interval(_one(self._seconds), sent, acked, lost, rtt, end, before.out + sent - acked - lost)


def _holding(rtt: float, held: float, pattern: str) -> "Callable[[Random, int, int], Callable[[int], int]]":
    """A jitter pattern of the simulation: R_m, and of what D allows a random part or all; both in steps."""

    def make(rng: Random, bound: int, step: int) -> Callable[[int], int]:
        least, most = int(rtt * step), int(held * step)
        if pattern == "latest":
            return lambda now: now + least + most
        return lambda now: now + least + (rng.randint(0, most) if most else 0)

    return make


def _one(value: float) -> Array:
    return jnp.full((1, 1), value, jnp.float32)
