"""An adversary: the network as an agent that acts once per interval against one sender.

The adversary is that of CCLab ("CCLab: Adversarial Testing of Learning- and Non-Learning-Based Congestion
Controllers").
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
from ccmatic.learning.adversaries.levels import Bandwidth, Effect, Jitter, LeastRtt
from ccmatic.learning.adversaries.target import Target
from ccmatic.learning.envs import EnvironmentState, LinkOptions
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.learning.envs.signals import Knowledge

#: The reward uses two mean queueing delays, over these numbers of latest intervals. CCLab's Eq. 5 compares both means
#: with its threshold.
LONG, SHORT = 10, 2

#: The largest number of intervals in all played episodes, and in the observations of an episode.
MOST_INTERVALS = 10**7


class AttackState(NamedTuple):
    """The state of an episode of an attack."""

    effect: Effect  #: the latest Effect, which includes the links
    target: EnvironmentState
    memory: Any  #: the memory of the target's policy
    delays: Array  #: the latest queueing delays in seconds, an array (LONG, n)
    history: Array  #: the latest observations of the adversary, an array (n, 1, k, features)

    @property
    def interval(self) -> Array:
        """The number of finished intervals in the episode."""
        return self.target.interval

    @property
    def links(self) -> Links:
        """The links, with the capacities that the adversary has chosen so far."""
        return self.effect.links


@dataclass(frozen=True, eq=False)
class Attack:
    """The environment of an adversary, with the interface of a ccmatic.learning Environment.

    The level determines the meaning of the actions, which are numbers from -1 to 1.
    """

    target: Target  #: the Target, the sender under attack
    reward: str = "utilisation"  #: `utilisation` (CCLab's Eqs. 4 to 7), or `naive` (Eq. 3)
    threshold: float = 0.0  #: of the queueing delay, in seconds; in CCLab the mean delay without an adversary
    penalty: float = 2.0  #: the cost of an interval without any delay (Eq. 6), in units of the whole link
    history: int = 5  #: the number k of vectors in an observation
    runs: int = 30  #: the number of episodes to play
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
        return self.target.options

    @property
    def features(self) -> int:
        """The number of elements in one vector of the history."""
        return self.level.features + 5

    @property
    def size(self) -> int:
        """The number of elements in an observation."""
        return self.history * self.features

    def reset(self, key: Array, n: int) -> tuple[Links, AttackState]:
        links, target = self.target.environment.reset(key, n)
        return links, AttackState(
            effect=self.level.begin(self.options, links),
            target=target,
            memory=self.target.policy.begin(links),
            delays=jnp.zeros((LONG, n)),
            history=jnp.zeros((n, 1, self.history, self.features)),
        )

    def observation(self, state: AttackState) -> Array:
        """Return the observation, an array (n, 1, size).

        The observation has one vector for each of the latest intervals, the oldest first. A vector contains the
        observations of the level, the acknowledged bytes and the bytes in flight (as shares of the possible maximum),
        the delays in R_m, and the losses.
        """
        return state.history.reshape(*state.history.shape[:2], self.size)

    def step(self, links: Links, state: AttackState, action: Array) -> tuple[AttackState, Array, Array]:
        """Play one interval with actions (n, 1). Return the AttackState, the observation and the reward (n, 1)."""
        state, reward, _ = self.watched(state, action)
        return state, self.observation(state), reward

    def watched(self, state: AttackState, action: Array) -> tuple[AttackState, Array, Array]:
        """Play one interval. Return the AttackState, the reward (n, 1) and the bytes served (n)."""
        effect = self.level.choose(self.options, state.effect, state.interval, jnp.clip(action[:, 0], -1, 1))
        links = effect.links
        memory, target, outcomes = self.target.step(links, state.memory, state.target, effect.wrong)
        knowledge = target.knowledge
        waits = knowledge.measure("smoothed_rtt") - knowledge.measure("least_rtt")
        delays = jnp.concatenate([waits[:1], state.delays[:-1]])
        served = outcomes.served.sum(0)
        capacity = jax.lax.dynamic_slice_in_dim(links.capacity, state.interval * self.options.slots, self.options.slots)
        reward = self.rewarded(served / jnp.maximum(capacity.sum(0), 1), delays, knowledge)
        vector = jnp.stack(
            [*self.level.observed(self.options, effect), *self._network(links, knowledge, delays[0])], axis=-1
        )
        history = jnp.concatenate([state.history[:, :, 1:], vector[:, None, None]], axis=2)
        return AttackState(effect, target, memory, delays, history), reward[:, None], served

    def rewarded(self, used: Array, delays: Array, knowledge: Knowledge) -> Array:
        """Return the reward (n) for the used share of the link (n), and delays (LONG, n) in s, the latest first."""
        return REWARDS[self.reward](self, used, delays, knowledge)

    def wanting(self, rates: Array) -> Array:
        """Return the actions that request these link rates, in Mbit/s."""
        low, high = self.options.rate.ends
        actions: Array = (rates - low) / (high - low) * 2 - 1
        return actions

    def totals(self, links: Links, state: AttackState) -> tuple[Array, Array, Array]:
        return self.target.environment.totals(state.links, state.target)

    def _network(self, links: Links, knowledge: Knowledge, delay: Array) -> list[Array]:
        now, high = knowledge.now, self.options.rate.ends[1] * MBIT
        rtt = links.rtt[0] * links.slot
        throughput, loss, least_rtt = (knowledge.measure(name)[0] for name in ("throughput", "loss_rate", "least_rtt"))
        late = (now.rtt_end[0] - least_rtt) / rtt
        return [throughput / high, now.out[0] / (high * rtt), delay / rtt, late, loss]


def _utilisation(attack: Attack, used: Array, delays: Array, knowledge: Knowledge) -> Array:
    """Return the reward of CCLab's Eq. 7.

    The reward is the negative of the used share. If a mean queueing delay is below the threshold, the reward is lower
    by a penalty (Eq. 6). The two means are over the last LONG and the last SHORT intervals (Eq. 5).
    """
    least = jnp.minimum(delays.mean(0), delays[:SHORT].mean(0))
    return -used - attack.penalty * jnp.maximum(0, 1 - least / jnp.maximum(attack.threshold, 1e-6))


def _naive(attack: Attack, used: Array, delays: Array, knowledge: Knowledge) -> Array:
    """Return the reward of CCLab's Eq. 3: the negative of the reward of Orca's training."""
    return -knowledge.value(signal.load("reward", definitions.chosen("models.signals", "ORCA")).term)[0]


REWARDS: dict[str, Callable[[Attack, Array, Array, Knowledge], Array]] = {"utilisation": _utilisation, "naive": _naive}
