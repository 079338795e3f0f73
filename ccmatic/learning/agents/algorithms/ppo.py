"""PPO (Schulman et al., 2017), compiled as one loop: an agent that learns from each rollout and then discards it."""

from dataclasses import dataclass, replace
from math import log, pi
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

from ccmatic.base import InputError, shown
from ccmatic.deployment import policies
from ccmatic.learning.agents import contract
from ccmatic.learning.agents.contract import Actor, Network, Played, begin_cell, begin_network, output

if TYPE_CHECKING:
    from ccmatic.learning.agents.query import Training


class Networks(NamedTuple):
    policy: Actor  #: the network of the mean action, or of a score for each choice
    value: Network  #: the network of the value. Its inputs are the observation and then the memory of the policy
    log_deviation: Array | None  #: the logarithm of the standard deviation of actions; None for choices


def sampled(networks: Networks, outputs: Array, key: Array) -> Array:
    """Return random actions, or the places of random choices, given the outputs (…, outputs) of the policy."""
    if networks.log_deviation is None:
        return jax.random.categorical(key, outputs).astype(jnp.float32)
    noise = jax.random.normal(key, outputs.shape[:-1])
    return outputs[..., 0] + jnp.exp(networks.log_deviation) * noise


def log_probability(networks: Networks, outputs: Array, action: Array) -> Array:
    """Return the logarithm of the density of actions, or of the probability of the places of choices."""
    if networks.log_deviation is None:
        places = action.astype(jnp.int32)[..., None]
        return jnp.take_along_axis(jax.nn.log_softmax(outputs), places, axis=-1)[..., 0]
    away = (action - outputs[..., 0]) / jnp.exp(networks.log_deviation)
    return -0.5 * away**2 - networks.log_deviation - 0.5 * log(2 * pi)


def deviation(networks: Networks, outputs: Array, choices: tuple[float, ...]) -> Array:
    """Return the standard deviation of actions; for choices, its mean over the outputs (…, outputs)."""
    if networks.log_deviation is not None:
        return jnp.exp(networks.log_deviation)
    shares, numbers = jax.nn.softmax(outputs), jnp.asarray(choices, jnp.float32)
    mean = shares @ numbers
    return jnp.sqrt((shares * (numbers - mean[..., None]) ** 2).sum(-1)).mean()


#: λ of generalised advantage estimation (Schulman et al., 2016), and the limits of the ratio and of the values.
LAMBDA, CLIP = 0.95, 0.2

#: The weight of the values' loss.
VALUES = 2.5


class Batch(NamedTuple):
    """Intervals of flows. Every array begins with the axes (intervals, flows).

    The intervals of a policy with a memory are consecutive. Otherwise the first axis has the length 1.
    """

    seen: Array  #: the observations
    memory: Array  #: the memory of the policy before it saw the observation
    recalled: Array  #: the memory afterwards
    action: Array  #: the action, or the place of a choice
    log: Array  #: the logarithm of its probability (density)
    value: Array
    returned: Array
    advantage: Array


def advantages(rewards: Array, values: Array, last: Array, gamma: float) -> Array:
    """Return the advantages (intervals, flows) by generalised advantage estimation.

    Rewards and values are (intervals, flows), in the unit of rewards. `last` has the values after the last interval.
    """

    def back(carry: tuple[Array, Array], now: tuple[Array, Array]) -> tuple[tuple[Array, Array], Array]:
        (advantage, following), (reward, value) = carry, now
        advantage = reward + gamma * following - value + gamma * LAMBDA * advantage
        return (advantage, value), advantage

    result: Array = jax.lax.scan(back, (jnp.zeros_like(last), last), (rewards, values), reverse=True)[1]
    return result


def loss(networks: Networks, batch: Batch) -> Array:
    """Return PPO's loss of a Batch. Values and returns are in units of the running standard deviation."""
    outputs = networks.policy.outputs(_memories(networks, batch), batch.seen)
    ratio = jnp.exp(log_probability(networks, outputs, batch.action) - batch.log)
    limited = jnp.clip(ratio, 1 - CLIP, 1 + CLIP)
    policy = -jnp.minimum(batch.advantage * ratio, batch.advantage * limited).mean()
    value = output(networks.value, jnp.concatenate([batch.seen, batch.recalled], axis=-1))
    value = batch.value + jnp.clip(value - batch.value, -CLIP, CLIP)
    return policy + VALUES * ((batch.returned - value) ** 2).mean()


def _memories(networks: Networks, batch: Batch) -> Array:
    """Return the memory after each observation. Its gradient goes back to the first interval of the batch."""
    if networks.policy.cell is None:
        return batch.recalled

    def interval(memory: Array, seen: Array) -> tuple[Array, Array]:
        memory = networks.policy.remembered(memory, seen)
        return memory, memory

    result: Array = jax.lax.scan(interval, batch.memory[0], batch.seen)[1]
    return result


#: The largest norm of a gradient, and the least standard deviation by which to divide observations.
NORM, LEAST_DEVIATION = 0.5, 0.01


@dataclass(frozen=True)
class Options:
    rollout: int = 25  #: the number of intervals between updates
    epochs: int = 4  #: the number of passes of an update over these intervals
    batches: int = 4  #: the number of batches into which an update divides these intervals
    initial: str | None = None  #: the file of the initial policy; None for a random policy
    memory: int = 0  #: the number of units of a GRU in front of the layers; 0 for a policy without memory
    activation: str = "tanh"  #: of the policy, `tanh` or `relu`; value networks have tanh
    #: whether networks see observations by running mean and deviation (in a policy's first layer)
    normalise: bool = False

    def __post_init__(self) -> None:
        contract.require_whole(self, "rollout", "epochs", "batches")
        if type(self.memory) is not int or not 0 <= self.memory <= policies.LARGEST:
            raise InputError(f"memory is {shown(self.memory)}; expected a whole number from 0 to {policies.LARGEST}")
        if self.activation not in ("tanh", "relu"):
            raise InputError(f"activation is {shown(self.activation)}; expected tanh or relu")
        if type(self.normalise) is not bool:
            raise InputError(f"normalise is {shown(self.normalise)}; expected true or false")
        if self.initial is not None and (self.memory or self.normalise):
            raise InputError("initial with memory or normalise; expected one of them")
        if self.initial is not None and not isinstance(self.initial, str):
            raise InputError(f"initial is {shown(self.initial)}; expected the name of a policy's file")


class Scale(NamedTuple):
    """The running mean and variance of `size` numbers, or of each number of as many observations."""

    size: Array
    mean: Array
    variance: Array

    @property
    def deviation(self) -> Array:
        return jnp.sqrt(self.variance) + 1e-8

    def including(self, values: Array) -> "Scale":
        """Return the Scale that also includes these values (intervals, flows, …)."""
        new, mean, variance = values.shape[0] * values.shape[1], values.mean((0, 1)), values.var((0, 1))
        total, away = self.size + new, mean - self.mean
        spread = self.variance * self.size + variance * new + away**2 * self.size * new / total
        return Scale(total, self.mean + away * new / total, spread / total)


class State(NamedTuple):
    networks: Networks
    adam: optax.OptState  #: Adam's state
    scale: Scale
    seen: Scale  #: the Scale of observations
    deviation: Array  #: the standard deviation of actions in the last rollout


class Noted(NamedTuple):
    """What the agent notes when it acts, until the reward of the action arrives, as in a Batch."""

    seen: Array
    memory: Array
    recalled: Array
    action: Array
    log: Array
    value: Array


class Place(NamedTuple):
    """A place in an episode: the Played, the observation that comes next, and the memory before it."""

    played: Played
    seen: Array
    memory: Array


class Agent(contract.Agent):
    """PPO as an Agent.

    If the policy has a memory, a batch has whole rollouts of some flows, and gradients go back to the rollout's start.
    Its value network has random initial weights even if the user gives an initial policy.
    """

    CHOOSES = True
    Options = Options

    @classmethod
    def check(cls, training: "Training") -> None:
        """Check that an episode has whole rollouts, so that each interval counts, and that the initial policy fits."""
        section, own, steps = training.agent, training.agent.options, training.environment.options.steps
        recorded = steps - training.lag
        if recorded < own.rollout or recorded % own.rollout:
            expected = f"a multiple of rollout, {own.rollout}, and {training.lag} more until an effect is observed"
            nearest = max(1, round(recorded / own.rollout)) * own.rollout + training.lag
            raise InputError(f"steps is {steps}; expected {expected}, such as {nearest}")
        if section.parallel * (1 if own.memory else own.rollout) < own.batches:
            most = "parallel, because of the memory" if own.memory else "parallel times rollout"
            raise InputError(f"batches is {own.batches}; expected no more than {most}")
        if own.initial is not None:
            _initial(training)

    def __init__(self, training: "Training") -> None:
        super().__init__(training)
        self.adam = optax.chain(optax.clip_by_global_norm(NORM), optax.adam(training.agent.learning_rate, eps=1e-8))

    def begin(self, key: Array) -> State:
        section, size = self.training.agent, self.training.environment.size
        units, choices = section.options.memory, self.training.choices
        one, two = jax.random.split(key)
        if section.options.initial is None:
            policy = begin_network(one, units or size, section.layers, last=0.01, outputs=len(choices) or 1)
        else:
            policy = [(jnp.array(weights), jnp.array(bias)) for weights, bias in _initial(self.training).layers]
        cell = begin_cell(jax.random.fold_in(key, 1), size, units) if units else None
        deviation = None if choices else jnp.log(jnp.float32(self.training.deviation))
        actor = Actor(policy, cell, section.options.activation)
        networks = Networks(actor, begin_network(two, size + units, section.layers), deviation)
        returns = Scale(jnp.float32(1), jnp.float32(0), jnp.float32(1))
        seen = Scale(jnp.float32(1), jnp.zeros(size), jnp.ones(size))
        return State(networks, self.adam.init(networks), returns, seen, jnp.float32(self.training.deviation))

    def learn(self, state: State, links: Array, key: Array) -> tuple[State, Played]:
        training, own = self.training, self.training.agent.options
        first, key = jax.random.split(key)
        played, seen = training.links.begin(links)
        place = Place(played, seen, state.networks.policy.first_memory(training.links.flows))
        place, (waiting, *_) = self._play(state, place, jax.random.split(first, training.lag))

        def rollout(carry: tuple[Any, ...], key: Array) -> tuple[tuple[Any, ...], None]:
            state, place, waiting = carry
            acting, learning = jax.random.split(key)
            place, (noted, rewards, seen) = self._play(state, place, jax.random.split(acting, own.rollout))
            noted = Noted(*map(jnp.concatenate, zip(waiting, noted, strict=True)))
            ours = Noted(*(part[: own.rollout] for part in noted))  # Their rewards have arrived.
            waiting = Noted(*(part[own.rollout :] for part in noted))
            if training.lag:
                following = jnp.concatenate([noted.seen[own.rollout], noted.recalled[own.rollout]], axis=-1)
            else:
                following = self._inputs(state, place)
            state = self._update(state, ours, rewards, following, learning)
            if own.normalise:
                state = state._replace(seen=state.seen.including(seen))
            return (state, place, waiting), None

        rollouts = (training.environment.options.steps - training.lag) // own.rollout
        (state, place, _), _ = jax.lax.scan(rollout, (state, place, waiting), jax.random.split(key, rollouts))
        return state, place.played

    def _normalised(self, state: State, seen: Array) -> Array:
        if not self.training.agent.options.normalise:
            return seen
        return (seen - state.seen.mean) / _deviation(state.seen)

    def _inputs(self, state: State, place: "Place") -> Array:
        """Return the inputs of the value network: the observation, and the memory after it."""
        seen = self._normalised(state, place.seen)
        return jnp.concatenate([seen, state.networks.policy.remembered(place.memory, seen)], axis=-1)

    def _play(self, state: State, place: "Place", keys: Array) -> tuple[Any, ...]:
        """Play an interval per key.

        Return the last Place, the Noted, the rewards (intervals, flows), and the observations before normalisation.
        """
        networks, training = state.networks, self.training

        def interval(place: Place, key: Array) -> tuple[Place, tuple[Noted, Array, Array]]:
            seen = self._normalised(state, place.seen)
            memory = networks.policy.remembered(place.memory, seen)
            outputs = networks.policy.outputs(memory, seen)
            action = sampled(networks, outputs, key)
            value = output(networks.value, jnp.concatenate([seen, memory], axis=-1))
            noted = Noted(seen, place.memory, memory, action, log_probability(networks, outputs, action), value)
            played, following, reward = training.links.step(place.played, self._meant(action))
            return Place(played, following, memory), (noted, reward, place.seen)

        return jax.lax.scan(interval, place, keys)

    def _meant(self, action: Array) -> Array:
        choices = self.training.choices
        return jnp.asarray(choices, jnp.float32)[action.astype(jnp.int32)] if choices else action

    def _update(self, state: State, noted: Noted, rewards: Array, following: Array, key: Array) -> State:
        networks, adam, scale, *_ = state
        values, last = (scale.mean + scale.deviation * v for v in (noted.value, output(networks.value, following)))
        advantage = advantages(rewards, values, last, self.training.agent.gamma)
        returned = advantage + values
        scale = scale.including(returned)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        values, returned = ((value - scale.mean) / scale.deviation for value in (values, returned))
        parts = [*noted[:5], values, returned, advantage]
        if networks.policy.cell is None:
            parts = [part.reshape(1, rewards.size, *part.shape[2:]) for part in parts]

        def descend(carry: tuple[Networks, optax.OptState], chosen: Array) -> tuple[tuple[Any, ...], None]:
            networks, adam = carry
            part = Batch(*(whole[:, chosen] for whole in parts))
            change, adam = self.adam.update(jax.grad(loss)(networks, part), adam)
            return (optax.apply_updates(networks, change), adam), None

        (networks, adam), _ = jax.lax.scan(descend, (networks, adam), self._chosen(parts[0].shape[1], key))
        outputs = networks.policy.outputs(noted.recalled, noted.seen)
        return State(networks, adam, scale, state.seen, deviation(networks, outputs, self.training.choices))

    def _chosen(self, size: int, key: Array) -> Array:
        """Return the places in each batch of each pass, in random order."""
        own = self.training.agent.options
        kept = size // own.batches * own.batches
        orders = jax.vmap(lambda one: jax.random.permutation(one, size)[:kept])(jax.random.split(key, own.epochs))
        return orders.reshape(own.epochs * own.batches, -1)

    def deviation(self, state: State) -> Array:
        return state.deviation

    def layers(self, state: State) -> Network:
        policy = state.networks.policy
        if policy.cell:
            return policy.layers
        return [self._of_observations(state, *policy.layers[0]), *policy.layers[1:]]

    def cell(self, state: State) -> policies.Cell | None:
        cell = state.networks.policy.cell
        if cell is None:
            return None
        gates = {name: self._of_observations(state, *getattr(cell, name)) for name in ("update", "reset", "candidate")}
        return cell._replace(**gates)

    def actor(self, state: State) -> Actor:
        return replace(super().actor(state), activation=self.training.agent.options.activation)

    def _of_observations(self, state: State, weights: Array, bias: Array) -> tuple[Array, Array]:
        """Return a layer that reads plain observations, for a layer that reads normalised observations.

        Inputs that are no observations, such as memory, have the same weights as before.
        """
        if not self.training.agent.options.normalise:
            return weights, bias
        size = self.training.environment.size
        first = weights[:size] / _deviation(state.seen)[:, None]
        return jnp.concatenate([first, weights[size:]]), bias - state.seen.mean @ first


def _deviation(scale: Scale) -> Array:
    """Return the standard deviations by which to divide observations."""
    return jnp.maximum(scale.deviation, LEAST_DEVIATION)


def _initial(training: "Training") -> policies.Policy:
    """Return a training's initial policy, whose observations and actions have to be the training's."""
    if training.attacks:
        raise InputError("initial is for policies; expected none, because an adversary begins at random")
    file = training.agent.options.initial
    policy, environment = policies.load(file), training.environment
    between = training.agent.options.activation
    if policy.cell or policy.activations != policies.activations_of(len(policy.layers), between):
        what = f"which has a memory or no {between} between layers"
        raise InputError(f"initial is {shown(file)}, {what}; expected only {between}")
    sizes = [len(layer.bias) for layer in policy.file.layers[:-1]]
    actual = {"layers": sizes, "interval": policy.file.interval, "choices": list(policy.choices)}
    expected = {"layers": list(training.agent.layers), "interval": str(environment.options.interval)}
    expected["choices"] = list(training.choices)
    for name in ("observe", "act", "history", "delay"):
        actual[name], expected[name] = getattr(policy.file, name), getattr(environment, name)
    for name, value in actual.items():
        if value != expected[name]:
            what = f"{name} is {shown(expected[name])}, and that of the policy in {file}"
            raise InputError(f"{what} {shown(value)}; expected the same")
    return policy


AGENT = Agent
