"""PPO: an agent that learns from each rollout and then discards the rollout."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

from ccmatic.base import InputError, shown
from ccmatic.learning import policies
from ccmatic.learning.agents import contract
from ccmatic.learning.agents.links import Played
from ccmatic.learning.agents.networks import Network, begin, output
from ccmatic.learning.agents.ppo.losses import Batch, advantages, loss
from ccmatic.learning.agents.ppo.networks import Networks, log_probability

if TYPE_CHECKING:
    from ccmatic.learning.agents.query import Training

#: The largest norm of a gradient.
NORM = 0.5


@dataclass(frozen=True)
class Options:
    """The options that only PPO has.

    Attributes:
        rollout: The number of intervals between updates.
        epochs: The number of passes of an update over these intervals.
        batches: The number of batches into which an update divides these intervals.
        initial: The file of the initial policy; None for a random policy.
    """

    rollout: int = 25
    epochs: int = 4
    batches: int = 4
    initial: str | None = None

    def __post_init__(self) -> None:
        contract.require_whole(self, "rollout", "epochs", "batches")
        if self.initial is not None and not isinstance(self.initial, str):
            raise InputError(f"initial is {shown(self.initial)}; expected the name of a policy's file")


class Scale(NamedTuple):
    """The running mean and variance of returns, over `size` returns."""

    size: Array
    mean: Array
    variance: Array

    @property
    def deviation(self) -> Array:
        """The standard deviation."""
        return jnp.sqrt(self.variance) + 1e-8

    def including(self, values: Array) -> "Scale":
        """Return the Scale that also includes these values."""
        new, mean, variance = values.size, values.mean(), values.var()
        total, away = self.size + new, mean - self.mean
        spread = self.variance * self.size + variance * new + away**2 * self.size * new / total
        return Scale(total, self.mean + away * new / total, spread / total)


class State(NamedTuple):
    """The state of the agent: its networks, Adam's state, and the scale of returns."""

    networks: Networks
    adam: optax.OptState
    scale: Scale


class Noted(NamedTuple):
    """What the agent notes when it acts, until the reward of the action arrives. Arrays have one element per flow."""

    seen: Array
    action: Array
    log: Array
    value: Array


class Agent(contract.Agent):
    """PPO as an Agent. Its value network has random initial weights even if the user gives an initial policy."""

    Options = Options

    @classmethod
    def check(cls, training: "Training") -> None:
        """Raise InputError if a Training does not suit PPO.

        An episode must consist of whole rollouts. Every recorded interval must count. The initial policy must fit the
        environment.
        """
        section, own, steps = training.agent, training.agent.options, training.environment.options.steps
        recorded = steps - training.lag
        if recorded < own.rollout or recorded % own.rollout:
            expected = f"a multiple of rollout, {own.rollout}, and {training.lag} more until an effect is observed"
            raise InputError(f"steps is {steps}; expected {expected}, such as {4 * own.rollout + training.lag}")
        if section.parallel * own.rollout < own.batches:
            raise InputError(f"batches is {own.batches}; expected no more than parallel times rollout")
        if own.initial is not None:
            _initial(training)

    def __init__(self, training: "Training") -> None:
        super().__init__(training)
        self.adam = optax.chain(optax.clip_by_global_norm(NORM), optax.adam(training.agent.learning_rate, eps=1e-8))

    def begin(self, key: Array) -> State:
        """Return the first state, as Agent describes."""
        section, size = self.training.agent, self.training.environment.size
        one, two = jax.random.split(key)
        if section.options.initial is None:
            policy = begin(one, size, section.layers, last=0.01)
        else:
            policy = [(jnp.array(weights), jnp.array(bias)) for weights, bias in _initial(self.training).layers]
        deviation = jnp.log(jnp.float32(self.training.deviation))
        networks = Networks(policy, begin(two, size, section.layers), deviation)
        return State(networks, self.adam.init(networks), Scale(jnp.float32(1), jnp.float32(0), jnp.float32(1)))

    def learn(self, state: State, links: Array, key: Array) -> tuple[State, Played]:
        """Play an episode as rollouts, and learn from each of them, as Agent describes."""
        training, own = self.training, self.training.agent.options
        first, key = jax.random.split(key)
        played, seen = training.links.begin(links)
        (played, seen), (waiting, _) = self._play(state, (played, seen), jax.random.split(first, training.lag))

        def rollout(carry: tuple[Any, ...], key: Array) -> tuple[tuple[Any, ...], None]:
            state, place, waiting = carry
            acting, learning = jax.random.split(key)
            place, (noted, rewards) = self._play(state, place, jax.random.split(acting, own.rollout))
            noted = Noted(*map(jnp.concatenate, zip(waiting, noted, strict=True)))
            ours = Noted(*(part[: own.rollout] for part in noted))  # Their rewards have arrived.
            waiting = Noted(*(part[own.rollout :] for part in noted))
            following = noted.seen[own.rollout] if training.lag else place[1]
            return (self._update(state, ours, rewards, following, learning), place, waiting), None

        rollouts = (training.environment.options.steps - training.lag) // own.rollout
        carry = (state, (played, seen), waiting)
        (state, (played, _), _), _ = jax.lax.scan(rollout, carry, jax.random.split(key, rollouts))
        return state, played

    def _play(self, state: State, place: tuple[Played, Array], keys: Array) -> tuple[Any, ...]:
        """Play an interval per key, and return the last place, the Noted and the rewards (intervals, flows)."""
        networks, links = state.networks, self.training.links

        def interval(place: tuple[Played, Array], key: Array) -> tuple[tuple[Played, Array], tuple[Noted, Array]]:
            played, seen = place
            noise = jax.random.normal(key, (links.flows,))
            action = output(networks.policy, seen) + jnp.exp(networks.log_deviation) * noise
            noted = Noted(seen, action, log_probability(networks, seen, action), output(networks.value, seen))
            played, seen, reward = links.step(played, action)
            return (played, seen), (noted, reward)

        return jax.lax.scan(interval, place, keys)

    def _update(self, state: State, noted: Noted, rewards: Array, following: Array, key: Array) -> State:
        """Return the state after an update on a rollout."""
        networks, adam, scale = state
        values, last = (scale.mean + scale.deviation * v for v in (noted.value, output(networks.value, following)))
        advantage = advantages(rewards, values, last, self.training.agent.gamma)
        returned = advantage + values
        scale = scale.including(returned)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        values, returned = ((value - scale.mean) / scale.deviation for value in (values, returned))
        parts = (noted.seen, noted.action, noted.log, values, returned, advantage)
        batch = [part.reshape(-1, *part.shape[2:]) for part in parts]

        def descend(carry: tuple[Networks, optax.OptState], chosen: Array) -> tuple[tuple[Any, ...], None]:
            networks, adam = carry
            part = Batch(*(whole[chosen] for whole in batch))
            change, adam = self.adam.update(jax.grad(loss)(networks, part), adam)
            return (optax.apply_updates(networks, change), adam), None

        (networks, adam), _ = jax.lax.scan(descend, (networks, adam), self._chosen(rewards.size, key))
        return State(networks, adam, scale)

    def _chosen(self, size: int, key: Array) -> Array:
        """Return the numbers of the intervals in each batch of each pass, in random order."""
        own = self.training.agent.options
        kept = size // own.batches * own.batches
        orders = jax.vmap(lambda one: jax.random.permutation(one, size)[:kept])(jax.random.split(key, own.epochs))
        return orders.reshape(own.epochs * own.batches, -1)

    def deviation(self, state: State) -> Array:
        """Return the learned standard deviation of actions."""
        return jnp.exp(state.networks.log_deviation)

    def layers(self, state: State) -> Network:
        """Return the layers of the policy, as Agent describes."""
        return state.networks.policy


def _initial(training: "Training") -> policies.Policy:
    """Return a training's initial policy.

    Raise InputError if its observations or actions differ from the training's.
    """
    if training.attacks:
        raise InputError("initial is for policies; expected none, because an adversary begins at random")
    file = training.agent.options.initial
    policy, environment = policies.load(file), training.environment
    if policy.choices or policy.activations != policies.activations_of(len(policy.layers)):
        raise InputError(
            f"initial is {shown(file)}, which has choices or no tanh between layers; expected numbers, tanh"
        )
    sizes = [len(layer.bias) for layer in policy.file.layers[:-1]]
    actual = {"layers": sizes, "interval": policy.file.interval}
    expected = {"layers": list(training.agent.layers), "interval": str(environment.options.interval)}
    for name in ("observe", "act", "history", "delay"):
        actual[name], expected[name] = getattr(policy.file, name), getattr(environment, name)
    for name, value in actual.items():
        if value != expected[name]:
            what = f"{name} is {shown(expected[name])}, and that of the policy in {file}"
            raise InputError(f"{what} {shown(value)}; expected the same")
    return policy


AGENT = Agent
