"""The back ends of an episode, and their players, which play episodes one after the other with arrays of NumPy.

The fluid simulator and the packet simulator are here; the emulator and the simulator in C are in modules of their own.
The method `reset` of a back end returns Links, an EnvironmentState and an observation. The method `step` takes the
Links, the EnvironmentState and an action.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import ceil
from random import Random
from typing import Any, Generic, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike
from numpy.typing import NDArray

from ccmatic.base import InputError
from ccmatic.contracts import Links
from ccmatic.learning.envs import capacity
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.learning.envs.environment import Environment, Learnable, State
from ccmatic.learning.envs.signals import EnvironmentState, Interval, Knowledge
from ccmatic.networks.simulation import Path, Shares, Simulation

#: The rates of a changing link are multiples of one base rate, up to this multiple. So a packet's service takes whole
#: ticks at each rate.
MULTIPLES = 12


class SimulatorBackEnd:
    """A simulated back end: it has no open resources, and its runs are always valid."""

    faults: list[str] | None = None

    def close(self) -> None:
        """Do nothing, because the back end has no open resources."""


class Fluid(SimulatorBackEnd, Generic[State]):
    """The links of an Environment in the compiled fluid simulator."""

    def __init__(self, environment: Learnable[State], n: int = 1, device: str | None = None) -> None:
        self.environment, self.n = environment, n
        self._given, self._device = device, find_device(device)
        self._reset = jax.jit(partial(environment.reset, n=n))
        self._step = jax.jit(environment.step, donate_argnums=1)
        self._observe = jax.jit(environment.observation)

    def __reduce__(self) -> tuple[Any, ...]:
        return Fluid, (self.environment, self.n, self._given)

    def reset(self, seed: int | Sequence[int]) -> tuple[Links, State, Array]:
        """Begin an episode. With a seed for each link, a link does not depend on the number of other links.

        Return the Links, the EnvironmentState, and the observation (n, f, size).
        """
        key = jax.random.key(seed) if isinstance(seed, int) else _keys(np.asarray(seed, np.uint32))
        links, state = self._reset(key if self._device is None else jax.device_put(key, self._device))
        return links, state, self._observe(state)

    def step(self, links: Links, state: State, action: ArrayLike) -> tuple[State, Array, Array]:
        """Play one interval. The caller must not use the given EnvironmentState again."""
        after: tuple[State, Array, Array] = self._step(links, state, jnp.asarray(action, jnp.float32))
        return after


_keys = jax.jit(jax.vmap(jax.random.key))


def find_device(name: str | None) -> jax.Device | None:
    try:
        return None if name is None else jax.devices(name)[0]
    except RuntimeError:
        platforms = ", ".join(sorted({device.platform for device in jax.devices()}))
        raise InputError(f"no device '{name}' here; JAX has {platforms}") from None


class Packets(SimulatorBackEnd):
    """The back end that simulates one link packet by packet. This back end has the interface of `Fluid`.

    A step of the simulation is a monitor interval. R_m and additional jitter delay packets behind the bottleneck. A
    constant link rate is rounded to whole packets per interval, and a changing rate to multiples of a twelfth of the
    highest rate.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        environment.options.require_drop_tail("packet by packet", marks=True)
        low, high = environment.options.rtt.ends
        if environment.options.all_flows > 1 and low != high:
            raise InputError(f"rtt from {low:g} to {high:g} packet by packet; expected one rtt for all flows of a link")
        for kind in environment.options.mix:
            if not isinstance(kind, capacity.Constant | capacity.Changing):
                name = type(kind).__name__.lower()
                raise InputError(f"{name} links packet by packet; expected constant or changing ones")
        self._reset = jax.jit(partial(environment.reset, n=1))
        self._act, self._learn = jax.jit(environment.acted), jax.jit(environment.learn)
        self._observe, self._latest = jax.jit(environment.observation), jax.jit(environment.latest)

    def __reduce__(self) -> tuple[Any, ...]:
        return Packets, (self.environment,)

    def reset(self, seed: int) -> tuple[Links, EnvironmentState, Array]:
        links, state = self._reset(_keys(np.array([seed], np.uint32)))
        self._random = np.random.default_rng(seed)
        self._begin(links, seed)
        state = state._replace(queues=None)
        return links, state, self._observe(state)

    def step(self, links: Links, state: EnvironmentState, action: ArrayLike) -> tuple[EnvironmentState, Array, Array]:
        state = self._act(links, state, jnp.asarray(action, jnp.float32))
        before = jax.tree.map(np.asarray, self._latest(state))
        now = self._send(np.asarray(state.rate)[:, 0], int(state.interval), before)
        state, reward = self._learn(state, now)
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
            options.network,
            rate=Fraction(int(self._capacity[0]) * packet),
            packet=packet,
            jitter=ceil(rtt + held),
            buffer=Fraction(max(packet, int(links.buffer[0]))),
            threshold=None if links.threshold is None else int(links.threshold[0]),
        )
        jitter = _holding(rtt, held, options.pattern)
        rates = {Fraction(int(count) * packet) for count in self._capacity}
        self._simulation = Simulation(self._path, seed, jitter=jitter, rates=rates)
        self._shares = Shares(self._simulation, options.all_flows)
        self._stays = [(int(start), int(stop)) for start, stop in np.asarray([links.start, links.stop])[:, :, 0].T]
        self._loss, self._flows = float(links.loss[0]), [_Flow() for _ in range(options.all_flows)]

    def _send(self, rates: "np.ndarray[Any, Any]", interval: int, before: Interval) -> Interval:
        """Send at rates, in bytes per second, for an interval, and return the measured Interval of all flows."""
        packet, slots = self.environment.options.packet, self.environment.options.slots
        if interval and self._capacity[interval] != self._capacity[interval - 1]:
            self._simulation.change_rate(Fraction(int(self._capacity[interval]) * packet))
        counts = [
            flow.packets(rate * self._seconds / packet) if start <= interval * slots < stop else 0
            for flow, rate, (start, stop) in zip(self._flows, rates, self._stays, strict=True)
        ]
        unlucky = [int(self._random.binomial(count, self._loss)) if self._loss else 0 for count in counts]
        self._shares.send([count - lost for count, lost in zip(counts, unlucky, strict=True)])
        rows = [
            flow.measured(share.observation, (count, lost), packet, self._seconds, (rtt, end, out))
            for flow, share, count, lost, rtt, end, out in zip(
                self._flows, self._shares, counts, unlucky,
                before.rtt[:, 0], before.rtt_end[:, 0], before.out[:, 0], strict=True,
            )
        ]  # fmt: skip
        return Interval(*(jnp.asarray(np.array(column, np.float32)[:, None]) for column in zip(*rows, strict=True)))


class _Flow:
    def __init__(self) -> None:
        self._carry, self._unlucky, self._totals = 0.0, [0], (0, 0, 0)

    def packets(self, wanted: float) -> int:
        """Return the number of packets of the next interval, given a number that need not be whole."""
        if not wanted:
            return 0
        budget = self._carry + wanted
        count = max(1, int(budget))
        self._carry = max(0.0, budget - count)
        return count

    def measured(
        self, observed: Any, sent: tuple[int, int], packet: int, seconds: float, before: tuple[float, ...]
    ) -> Interval:
        """Return the flow's Interval, in numbers.

        `sent` has the packets that were sent, and how many of them were lost at random. `before` has `rtt`, `rtt_end`
        and `out` of the previous Interval.
        """
        count, unlucky = sent
        rtt, rtt_end, out = before
        self._unlucky.append(self._unlucky[-1] + unlucky)
        totals = observed.delivered, observed.lost + packet * self._unlucky[-2], observed.marked
        acked, lost, marked = (new - old for new, old in zip(totals, self._totals, strict=True))
        self._totals = totals
        end = rtt_end if observed.delay is None or not acked else float(observed.delay) * seconds
        rtt = (rtt_end + end) / 2 if acked else rtt
        sent_bytes = count * packet
        return Interval(seconds, sent_bytes, acked, lost, rtt, end, out + sent_bytes - acked - lost, marked)  # type: ignore[arg-type]


def _holding(rtt: float, held: float, pattern: str) -> "Callable[[Random, int, int], Callable[[int], int]]":
    """Return a function for the delay behind the bottleneck: R_m plus a random share of D, or R_m plus D, in steps."""

    def make(rng: Random, bound: int, step: int) -> Callable[[int], int]:
        least, most = int(rtt * step), int(held * step)
        if pattern == "latest":
            return lambda now: now + least + most
        return lambda now: now + least + (rng.randint(0, most) if most else 0)

    return make


#: The measurements of an interval in `info`: the measure and the factor of each name.
MEASURES = {"throughput_mbit": ("throughput", 1 / MBIT), "rtt_ms": ("rtt", 1000.0), "loss": ("loss_rate", 1.0)}


class Outcome(NamedTuple):
    """The outcome of an interval, or the beginning of an episode."""

    observation: NDArray[np.float32]  #: the observations, an array (n, f, size)
    reward: NDArray[Any]  #: the rewards, an array (n, f); zeros at the beginning
    measures: dict[str, NDArray[Any]]  #: the measurements by name, arrays (n, f)
    interval: int  #: the number of finished intervals


class Player(Protocol):
    """Plays the episodes of n links."""

    @property
    def is_kept(self) -> bool: ...

    @property
    def faults(self) -> list[str] | None: ...

    def reset(self, seeds: Sequence[int]) -> Outcome:
        """Begin an episode. Each link has its own seed, which determines all random choices of the link."""
        ...

    def step(self, actions: NDArray[np.float32]) -> Outcome:
        """Play an interval. The actions are an array (n, f), and obey the rule of actions."""
        ...

    def close(self) -> None: ...


class Played:
    """The Player of a back end whose interface is that of Fluid: its methods pass Links and an EnvironmentState."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self.links: Links
        self._state: EnvironmentState

    @property
    def is_kept(self) -> bool:
        """Whether pickle keeps a running episode: only the back end `fluid` has a state of arrays."""
        return isinstance(self._backend, Fluid)

    @property
    def faults(self) -> list[str] | None:
        faults: list[str] | None = self._backend.faults
        return faults

    def reset(self, seeds: Sequence[int]) -> Outcome:
        given = seeds if isinstance(self._backend, Fluid) else seeds[0]
        self.links, self._state, observation = self._backend.reset(given)
        return self._outcome(observation, np.zeros(observation.shape[:2], np.float32))

    def step(self, actions: NDArray[np.float32]) -> Outcome:
        self._state, observation, reward = self._backend.step(self.links, self._state, actions)
        return self._outcome(observation, finite("reward", reward))

    def close(self) -> None:
        self._backend.close()

    def _outcome(self, observation: Array, reward: NDArray[Any]) -> Outcome:
        columns = zip(MEASURES, measured(self._state.knowledge), strict=True)
        values = {name: np.asarray(value).T for name, value in columns}
        return Outcome(finite("observation", observation), reward, values, int(self._state.interval))

    def __getstate__(self) -> dict[str, Any]:
        kept = {"_backend": self._backend}
        if self.is_kept and hasattr(self, "links"):
            kept["episode"] = jax.tree.map(np.asarray, jax.tree.leaves((self.links, self._state)))
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self._backend = kept["_backend"]
        if "episode" in kept:
            # The classes of a model's state have no name that pickle could find, so the shapes come from a new reset.
            begins = partial(self._backend.environment.reset, n=self._backend.n)
            structure = jax.tree.structure(jax.eval_shape(begins, jax.random.key(0)))
            self.links, self._state = jax.tree.unflatten(structure, kept["episode"])


class Several:
    is_kept = False

    def __init__(self, players: Sequence[Player]) -> None:
        self._players = list(players)

    @property
    def faults(self) -> list[str] | None:
        faults = [player.faults for player in self._players]
        known = [each for each in faults if each is not None]
        return [fault for each in known for fault in each] if known else None

    def reset(self, seeds: Sequence[int]) -> Outcome:
        return _together([player.reset([seed]) for player, seed in zip(self._players, seeds, strict=True)])

    def step(self, actions: NDArray[np.float32]) -> Outcome:
        return _together([player.step(action[None]) for player, action in zip(self._players, actions, strict=True)])

    def close(self) -> None:
        for player in self._players:
            player.close()


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    measures = {name: np.concatenate([each.measures[name] for each in outcomes]) for name in outcomes[0].measures}
    observations, rewards = (np.concatenate(parts) for parts in zip(*(each[:2] for each in outcomes), strict=True))
    return Outcome(observations, rewards, measures, min(each.interval for each in outcomes))


@jax.jit
def measured(knowledge: Knowledge) -> tuple[Array, ...]:
    """Return the MEASURES of an interval, as arrays (f, n)."""
    values = (
        getattr(knowledge.now, name) if name in Interval._fields else knowledge.measure(name)
        for name, _ in MEASURES.values()
    )
    return tuple(value * factor for value, (_, factor) in zip(values, MEASURES.values(), strict=True))


def finite(name: str, given: Any) -> NDArray[Any]:
    numbers: NDArray[Any] = np.asarray(given)
    if not np.isfinite(numbers).all():
        raise InputError(f"the {name} is {numbers[~np.isfinite(numbers)][0]}; expected finite numbers")
    return numbers
