"""Episodes of an environment on a back end, one after the other, as arrays of NumPy."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
from jax import Array
from numpy.typing import NDArray

from ccmatic.base import InputError
from ccmatic.contracts import Links
from ccmatic.learning.envs.backends import Fluid
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.learning.envs.signals import Interval, Knowledge
from ccmatic.learning.envs.state import EnvironmentState

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
    """The Player of several links, each of which has its own Player."""

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
