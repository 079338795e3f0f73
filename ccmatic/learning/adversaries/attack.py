"""An adversary: the network as an agent that acts once per interval against one sender, its target.

The adversary is that of CCLab ("CCLab: Adversarial Testing of Learning- and Non-Learning-Based Congestion
Controllers"). Its level determines which quantity it chooses: the rate of a link, the error of the smallest RTT that a
sender measures, or the time for which jitter holds served bytes.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import InputError, definitions, shown, suggest
from ccmatic.contracts import Links, SlotOutcome
from ccmatic.controllers import signal
from ccmatic.deployment import policies
from ccmatic.learning.envs import Environment, EnvironmentState, LinkOptions, RolloutPolicy, sender, trained
from ccmatic.learning.envs.capacity import MBIT, smoothed
from ccmatic.learning.envs.signals import Knowledge


class Effect(NamedTuple):
    links: Links  #: the Links for the interval
    rate: Array  #: the rate of each link in the interval, in bytes per second, an array (n)
    kept: Array  #: a value that the level needs for the next action
    wrong: Array | None = None  #: the factor (n) by which senders misjudge the smallest RTT; None for 1


@dataclass(frozen=True)
class Bandwidth:
    """CCLab's environment level: the adversary chooses the rate of the link.

    The action -1 requests the lowest possible rate, and the action 1 requests the highest. The link gets the rate that
    is nearest to the requested rate within the budget.
    """

    features, follows_links = 2, False

    def begin(self, options: LinkOptions, links: Links) -> Effect:
        """Return the first Effect. `kept` has the latest changes of the rate, (window, n), the latest first."""
        return Effect(links, links.capacity[0] / links.slot, jnp.zeros((options.window, len(links.slot))))

    def unharmed(self, key: Array, n: int) -> Array:
        """Return the actions, (n, 1), of a link without an adversary. They request each rate with equal probability."""
        return anything(key, n)

    def choose(self, options: LinkOptions, before: Effect, interval: Array, action: Array) -> Effect:
        """Return the Effect of the actions (n) in an interval, after the Effect `before`."""
        low, high = options.rate.ends
        wanted = MBIT * (low + (action + 1) / 2 * (high - low))
        rate, changes = smoothed(before.rate, before.kept, wanted, options.budget * MBIT)
        links, slots = before.links, options.slots
        rows = jnp.broadcast_to(jnp.floor(rate * links.slot).astype(jnp.int32), (slots, *rate.shape))
        capacity = jax.lax.dynamic_update_slice_in_dim(links.capacity, rows, interval * slots, 0)
        return Effect(links._replace(capacity=capacity), rate, changes)

    def observed(self, options: LinkOptions, effect: Effect) -> list[Array]:
        """Return the rate, and the growth that the budget still allows, each as a share of the largest rate, (n)."""
        high = options.rate.ends[1]
        room = options.window * options.budget - effect.kept[:-1].sum(0) / MBIT
        return [effect.rate / MBIT / high, room / high]


@dataclass(frozen=True)
class LeastRtt:
    """CCLab's feature level: the adversary falsifies the smallest RTT that a sender measures.

    The sender multiplies the smallest RTT by 1 + within · action, and uses this product as R_m.
    """

    within: float
    features, follows_links = 1, True

    def __post_init__(self) -> None:
        if isinstance(self.within, bool) or not isinstance(self.within, int | float) or not 0 < self.within < 1:
            raise InputError(f"within is {shown(self.within)}; expected a number between 0 and 1, such as 0.05")

    def begin(self, options: LinkOptions, links: Links) -> Effect:
        """Return the first Effect. `kept` has the last action (n)."""
        none = jnp.zeros(len(links.slot))
        return Effect(links, links.capacity[0] / links.slot, none, none + 1)

    def unharmed(self, key: Array, n: int) -> Array:
        return jnp.zeros((n, 1))

    def choose(self, options: LinkOptions, before: Effect, interval: Array, action: Array) -> Effect:
        links = before.links
        served = jax.lax.dynamic_slice_in_dim(links.capacity, interval * options.slots, options.slots)
        return Effect(links, served.mean(0) / links.slot, action, 1 + self.within * action)

    def observed(self, options: LinkOptions, effect: Effect) -> list[Array]:
        return [effect.kept]


@dataclass(frozen=True)
class Jitter:
    """The jitter level: the adversary chooses the time for which the link holds bytes behind the bottleneck.

    The laws of a link with jitter allow any choice. With the action -1, the link holds bytes for no time. With the
    action 1, the link holds bytes for the full jitter D. The action also determines the losses.
    """

    features, follows_links = 1, True

    def begin(self, options: LinkOptions, links: Links) -> Effect:
        """Return the first Effect. `kept` has the share of D (n)."""
        return Effect(links, links.capacity[0] / links.slot, jnp.zeros(len(links.slot)))

    def unharmed(self, key: Array, n: int) -> Array:
        return anything(key, n)

    def choose(self, options: LinkOptions, before: Effect, interval: Array, action: Array) -> Effect:
        links, share, slots = before.links, (action + 1) / 2, options.slots
        rows = jnp.broadcast_to(share, (slots, *share.shape))
        held = jax.lax.dynamic_update_slice_in_dim(links.held, rows, interval * slots, 0)
        return Effect(links._replace(held=held), before.rate, share)

    def observed(self, options: LinkOptions, effect: Effect) -> list[Array]:
        return [effect.kept]


def anything(key: Array, n: int) -> Array:
    """Return uniform random actions, (n, 1)."""
    return jax.random.uniform(key, (n, 1), minval=-1, maxval=1)


@dataclass(frozen=True, eq=False)
class Target:
    name: str  #: the name of the sender
    environment: Environment  #: the Environment in which the sender acts
    policy: RolloutPolicy  #: the sender's RolloutPolicy in this environment

    @property
    def options(self) -> LinkOptions:
        return self.environment.options

    def step(
        self, links: Links, memory: Any, state: EnvironmentState, wrong: Array | None = None
    ) -> tuple[Any, EnvironmentState, SlotOutcome]:
        """Play one interval. The history keeps what the factor `wrong` falsifies, as in Environment.misled."""
        shown = state if wrong is None else self.environment.misled(state, wrong)
        memory, action = self.policy.act(memory, links, shown, self.environment.observation(shown))
        state = state._replace(history=shown.history)
        state, _, _, outcomes = self.environment.watched(links, state, action)
        return memory, state, outcomes


def target(name: str, options: LinkOptions) -> Target:
    """Return the Target of a name: `policy:FILE`, or a name as in `learning.sender`."""
    if options.all_flows != 1:
        raise InputError(f"{options.all_flows} flows; expected one, the target's")
    if name == "oracle":
        raise InputError("the oracle knows what rate will be chosen; expected a sender that does not")
    word, _, file = name.partition(":")
    if word == "policy":
        return Target(name, *trained(policies.load(file), options))
    environment = Environment(options, act=definitions.chosen("models.signals", "RATE"))
    return Target(name, environment, sender(name, environment))


#: The reward uses two mean queueing delays, over these numbers of latest intervals. CCLab's Eq. 5 compares both means
#: with its threshold.
LONG, SHORT = 10, 2

#: The largest number of intervals in all played episodes, and in the observations of an episode.
MOST_INTERVALS = 10**7


#: The rewards of an adversary.
REWARDS = ("utilisation", "naive")


class AttackState(NamedTuple):
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
    choices: ClassVar[tuple[float, ...]] = ()
    lag, warning = 0, None  # a link's action takes effect at once

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
        return self.level.features + 5

    @property
    def size(self) -> int:
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
        """Return the reward (n) for the used share of the link (n), and delays (LONG, n) in s, the latest first.

        `naive` (CCLab's Eq. 3) is the negative of the reward of Orca's training. `utilisation` (Eq. 7) is the negative
        of the used share. If a mean queueing delay is below the threshold, it is lower by a penalty (Eq. 6). The two
        means are over the last LONG and the last SHORT intervals (Eq. 5).
        """
        if self.reward == "naive":
            orca = signal.load("reward", definitions.chosen("models.signals", "ORCA"))
            return -knowledge.value(orca.term)[0]
        least = jnp.minimum(delays.mean(0), delays[:SHORT].mean(0))
        return -used - self.penalty * jnp.maximum(0, 1 - least / jnp.maximum(self.threshold, 1e-6))

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
