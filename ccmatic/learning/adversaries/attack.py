"""The network as an agent: CCLab's adversary ("CCLab: Adversarial Testing of Learning- and Non-Learning-Based
Congestion Controllers"), which acts once an interval, against one sender."""

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

#: Over how many of the last intervals the two mean delays are that CCLab's Eq. 5 compares with its threshold.
LONG, SHORT = 10, 2

#: The most intervals of all episodes that are played, and that the observations of an episode have.
MOST_INTERVALS = 10**7


class AttackState(NamedTuple):
    """An episode under way. chosen: last, and on which links; target: as of its environment; memory: its own; delays:
    (LONG, n) seconds; history: (n, 1, k, features)."""

    chosen: Chosen
    target: EnvironmentState
    memory: Any
    delays: Array
    history: Array

    @property
    def interval(self) -> Array:
        """How many are over."""
        return self.target.interval

    @property
    def links(self) -> Links:
        """With the capacity that was chosen so far."""
        return self.chosen.links


@dataclass(frozen=True, eq=False)
class Attack:
    """What an adversary learns in: an environment as of ccmatic.learning, whose actions, from -1 to 1, are a level's.

    target:    who sends. reward: `utilisation`, CCLab's Eqs. 4 to 7: that the link is used little while the queueing
               delay is some threshold at least; or `naive`, its Eq. 3: less Orca's reward.
    threshold: in seconds; CCLab's is the mean of what there is unharmed. penalty: what an interval costs without any
               delay (Eq. 6); the whole link is worth 1.
    history:   k, vectors of an observation. runs: episodes of what is played. level: what is chosen. Raises InputError.
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
        """The LinkOptions."""
        return self.target.options

    @property
    def features(self) -> int:
        """How many numbers a vector of the history has."""
        return self.level.features + 5

    @property
    def size(self) -> int:
        """How many numbers an observation has."""
        return self.history * self.features

    def reset(self, key: Array, n: int) -> tuple[Links, AttackState]:
        """n links and their first AttackState, (Links, AttackState), as Environment.reset; the Links are those at
        first."""
        links, target = self.target.environment.reset(key, n)
        return links, AttackState(
            chosen=self.level.begin(self.options, links),
            target=target,
            memory=self.target.policy.begin(links),
            delays=jnp.zeros((LONG, n)),
            history=jnp.zeros((n, 1, self.history, self.features)),
        )

    def observation(self, state: AttackState) -> Array:
        """(n, 1, size): of each of the last intervals, the oldest first, what the level tells, what was acknowledged
        and what was out, of the most that was asked for; delays in R_m; losses."""
        return state.history.reshape(*state.history.shape[:2], self.size)

    def step(self, links: Links, state: AttackState, action: Array) -> tuple[AttackState, Array, Array]:
        """One interval: (AttackState, observation, reward (n, 1)). action: (n, 1)."""
        state, reward, _ = self.watched(state, action)
        return state, self.observation(state), reward

    def watched(self, state: AttackState, action: Array) -> tuple[AttackState, Array, Array]:
        """One interval: (AttackState, reward (n, 1), bytes served (n))."""
        chosen = self.level.choose(self.options, state.chosen, state.interval, jnp.clip(action[:, 0], -1, 1))
        links = chosen.links
        memory, target, seen = self.target.step(links, state.memory, state.target, chosen.wrong)
        knowledge = target.knowledge
        waits = knowledge.measure("smoothed_rtt") - knowledge.measure("least_rtt")
        delays = jnp.concatenate([waits[:1], state.delays[:-1]])
        served = seen.served.sum(0)
        capacity = jax.lax.dynamic_slice_in_dim(links.capacity, state.interval * self.options.slots, self.options.slots)
        reward = self.rewarded(served / jnp.maximum(capacity.sum(0), 1), delays, knowledge)
        vector = jnp.stack(
            [*self.level.observed(self.options, chosen), *self._network(links, knowledge, delays[0])], axis=-1
        )
        history = jnp.concatenate([state.history[:, :, 1:], vector[:, None, None]], axis=2)
        return AttackState(chosen, target, memory, delays, history), reward[:, None], served

    def rewarded(self, used: Array, delays: Array, knowledge: Knowledge) -> Array:
        """(n), of the share of the link that was used, (n), the last queueing delays, (LONG, n) the latest first, and
        the target's Knowledge."""
        return REWARDS[self.reward](self, used, delays, knowledge)

    def wanting(self, rates: Array) -> Array:
        """The actions that want these rates, Mbit/s."""
        low, high = self.options.rate.ends
        actions: Array = (rates - low) / (high - low) * 2 - 1
        return actions

    def totals(self, links: Links, state: AttackState) -> tuple[Array, Array, Array]:
        """As Environment.totals, of the target."""
        return self.target.environment.totals(state.links, state.target)

    def _network(self, links: Links, knowledge: Knowledge, delay: Array) -> list[Array]:
        now, high = knowledge.now, self.options.rate.ends[1] * MBIT
        rtt = links.rtt[0] * links.slot
        throughput, loss, least_rtt = (knowledge.measure(name)[0] for name in ("throughput", "loss_rate", "least_rtt"))
        late = (now.rtt_end[0] - least_rtt) / rtt
        return [throughput / high, now.out[0] / (high * rtt), delay / rtt, late, loss]


def _utilisation(attack: Attack, used: Array, delays: Array, knowledge: Knowledge) -> Array:
    """CCLab's Eq. 7: less the share that is used, and less a penalty (Eq. 6) for what the long mean of the queueing
    delay is below the threshold, or the short one (Eq. 5)."""
    least = jnp.minimum(delays.mean(0), delays[:SHORT].mean(0))
    return -used - attack.penalty * jnp.maximum(0, 1 - least / jnp.maximum(attack.threshold, 1e-6))


def _naive(attack: Attack, used: Array, delays: Array, knowledge: Knowledge) -> Array:
    """CCLab's Eq. 3: less the reward of Orca's training."""
    return -knowledge.value(signal.load("reward", definitions.chosen("models.signals", "ORCA")).term)[0]


REWARDS: dict[str, Callable[[Attack, Array, Array, Knowledge], Array]] = {"utilisation": _utilisation, "naive": _naive}
