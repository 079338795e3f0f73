"""The network as an agent that acts once per interval against one sender.

It is CCLab's adversary ("CCLab: Adversarial Testing of Learning- and Non-Learning-Based Congestion Controllers").
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import InputError, definitions, shown, suggest
from ccmatic.contracts import Links
from ccmatic.controllers import signal
from ccmatic.learning.adversaries.levels import Bandwidth, Chosen, Jitter, LeastRtt
from ccmatic.learning.adversaries.target import Target
from ccmatic.learning.envs import EnvironmentState, LinkOptions
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.learning.envs.signals import Knowledge

#: The numbers of last intervals for the two mean delays that CCLab's Eq. 5 compares with its threshold.
LONG, SHORT = 10, 2

#: The most intervals in all played episodes, and in the observations of an episode.
MOST_INTERVALS = 10**7


class AttackState(NamedTuple):
    """The state of an episode.

    Attributes:
        chosen: The last Chosen, with the links.
        target: The EnvironmentState of the target.
        memory: The memory of the target's policy.
        delays: (LONG, n), the last queueing delays in seconds.
        history: (n, 1, k, features), the history of the adversary's observations.
    """

    chosen: Chosen
    target: EnvironmentState
    memory: Any
    delays: Array
    history: Array

    @property
    def interval(self) -> Array:
        """The number of finished intervals."""
        return self.target.interval

    @property
    def links(self) -> Links:
        """The links, with the capacities chosen so far."""
        return self.chosen.links


@dataclass(frozen=True, eq=False)
class Attack:
    """The environment of an adversary, with the interface of a ccmatic.learning Environment.

    A level defines the meaning of its actions, from -1 to 1.

    Attributes:
        target: The Target, the sender under attack.
        reward: `utilisation` (CCLab's Eqs. 4 to 7) rewards low use of the link while the queueing delay is at least a
            threshold. `naive` (its Eq. 3) is the negative of Orca's reward.
        threshold: The threshold of the delay in seconds. CCLab uses the mean delay without an adversary.
        penalty: The cost of an interval without any delay (Eq. 6), in units of the whole link.
        history: k, the number of vectors in an observation.
        runs: The number of episodes to play.
        level: The level, which determines what the adversary chooses.

    Raises:
        InputError: If a value is wrong.
    """

    target: Target
    reward: str = "utilisation"
    threshold: float = 0.0
    penalty: float = 2.0
    history: int = 5
    runs: int = 30
    level: Bandwidth | LeastRtt | Jitter = field(default_factory=Bandwidth)

    bounds = (-1.0, 1.0)

    def __post_init__(self) -> None:
        if self.reward not in REWARDS:
            raise InputError(f"unknown reward '{self.reward}' of an adversary; {suggest(self.reward, REWARDS)}")
        for name in ("history", "runs"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise InputError(f"{name} is {shown(value)}; expected a whole number, at least 1")
        if max(self.history, self.runs) * self.options.steps > MOST_INTERVALS:
            size = f"{shown(self.runs)} runs of {self.options.steps} steps, with a history of {shown(self.history)}"
            raise InputError(f"{size}; expected at most {MOST_INTERVALS} intervals of either")
        if isinstance(self.penalty, bool) or not isinstance(self.penalty, int | float) or not 0 <= self.penalty < 1e6:
            raise InputError(f"penalty is {shown(self.penalty)}; expected a number, at least 0, such as 10")

    @property
    def options(self) -> LinkOptions:
        """The LinkOptions of the links."""
        return self.target.options

    @property
    def features(self) -> int:
        """The size of a vector of the history."""
        return self.level.features + 5

    @property
    def size(self) -> int:
        """The size of an observation."""
        return self.history * self.features

    def reset(self, key: Array, n: int) -> tuple[Links, AttackState]:
        """Draw n links, and return them with their first AttackState, as Environment.reset does."""
        links, target = self.target.environment.reset(key, n)
        return links, AttackState(
            chosen=self.level.begin(self.options, links),
            target=target,
            memory=self.target.policy.begin(links),
            delays=jnp.zeros((LONG, n)),
            history=jnp.zeros((n, 1, self.history, self.features)),
        )

    def observation(self, state: AttackState) -> Array:
        """Return the observation, (n, 1, size).

        It has a vector for each of the last intervals, the oldest first. A vector has the observations of the level;
        acknowledged bytes and bytes in flight, as shares of the possible maximum; delays in R_m; and losses.
        """
        return state.history.reshape(*state.history.shape[:2], self.size)

    def step(self, links: Links, state: AttackState, action: Array) -> tuple[AttackState, Array, Array]:
        """Play one interval.

        Args:
            links: The Links.
            state: The AttackState.
            action: The actions, (n, 1).

        Returns:
            The next AttackState, the observation, and the reward (n, 1).
        """
        state, reward, _ = self.watched(state, action)
        return state, self.observation(state), reward

    def watched(self, state: AttackState, action: Array) -> tuple[AttackState, Array, Array]:
        """Play one interval, and return (AttackState, reward (n, 1), bytes served (n))."""
        chosen = self.level.choose(self.options, state.chosen, state.interval, jnp.clip(action[:, 0], -1, 1))
        links = chosen.links
        memory, target, outcomes = self.target.step(links, state.memory, state.target, chosen.wrong)
        knowledge = target.knowledge
        waits = knowledge.measure("smoothed_rtt") - knowledge.measure("least_rtt")
        delays = jnp.concatenate([waits[:1], state.delays[:-1]])
        served = outcomes.served.sum(0)
        capacity = jax.lax.dynamic_slice_in_dim(links.capacity, state.interval * self.options.slots, self.options.slots)
        reward = self.rewarded(served / jnp.maximum(capacity.sum(0), 1), delays, knowledge)
        vector = jnp.stack(
            [*self.level.observed(self.options, chosen), *self._network(links, knowledge, delays[0])], axis=-1
        )
        history = jnp.concatenate([state.history[:, :, 1:], vector[:, None, None]], axis=2)
        return AttackState(chosen, target, memory, delays, history), reward[:, None], served

    def rewarded(self, used: Array, delays: Array, knowledge: Knowledge) -> Array:
        """Return the reward, (n).

        Args:
            used: (n), the share of the link that was used.
            delays: (LONG, n), the last queueing delays, the latest one first.
            knowledge: The target's Knowledge.
        """
        return REWARDS[self.reward](self, used, delays, knowledge)

    def wanting(self, rates: Array) -> Array:
        """Return the actions that request these rates, in Mbit/s."""
        low, high = self.options.rate.ends
        actions: Array = (rates - low) / (high - low) * 2 - 1
        return actions

    def totals(self, links: Links, state: AttackState) -> tuple[Array, Array, Array]:
        """Return totals of the target, as Environment.totals does."""
        return self.target.environment.totals(state.links, state.target)

    def _network(self, links: Links, knowledge: Knowledge, delay: Array) -> list[Array]:
        now, high = knowledge.now, self.options.rate.ends[1] * MBIT
        rtt = links.rtt[0] * links.slot
        throughput, loss, least_rtt = (knowledge.measure(name)[0] for name in ("throughput", "loss_rate", "least_rtt"))
        late = (now.rtt_end[0] - least_rtt) / rtt
        return [throughput / high, now.out[0] / (high * rtt), delay / rtt, late, loss]


def _utilisation(attack: Attack, used: Array, delays: Array, knowledge: Knowledge) -> Array:
    """Return the reward of CCLab's Eq. 7.

    It is the negative of the used share. A penalty (Eq. 6) is subtracted if the mean queueing delay over the last LONG
    intervals, or over the last SHORT intervals (Eq. 5), is below the threshold.
    """
    least = jnp.minimum(delays.mean(0), delays[:SHORT].mean(0))
    return -used - attack.penalty * jnp.maximum(0, 1 - least / jnp.maximum(attack.threshold, 1e-6))


def _naive(attack: Attack, used: Array, delays: Array, knowledge: Knowledge) -> Array:
    """Return the reward of CCLab's Eq. 3: the negative of the reward of Orca's training."""
    return -knowledge.value(signal.load("reward", definitions.chosen("models.signals", "ORCA")).term)[0]


REWARDS: dict[str, Callable[[Attack, Array, Array, Knowledge], Array]] = {"utilisation": _utilisation, "naive": _naive}
