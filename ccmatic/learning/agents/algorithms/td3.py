"""TD3 (Fujimoto et al., 2018), compiled as one loop.

The agent learns at the end of each episode from its memory, which also keeps earlier episodes. Two critics learn from
the lower of two target values, and a policy learns from one critic.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

from ccmatic.learning.agents import contract
from ccmatic.learning.agents.contract import Network, Played, begin_network, output

if TYPE_CHECKING:
    from ccmatic.learning.agents.query import Training

#: The noise on the target policy's actions: its standard deviation and its limit, as shares of the largest action
#: (values of the TD3 authors).
SMOOTHING = 0.2, 0.5


class Transitions(NamedTuple):
    """Intervals of flows: observation (…, size), action, reward, and the next observation (…, size)."""

    seen: Array
    action: Array
    reward: Array
    following: Array


def act(policy: Network, seen: Array, most: float) -> Array:
    """Return the actions of a policy. A tanh limits them to the range from -most to most."""
    return most * jnp.tanh(output(policy, seen))


def worth(critic: Network, seen: Array, action: Array) -> Array:
    """Return a critic's value of actions, given the observations."""
    return output(critic, jnp.concatenate([seen, action[..., None]], axis=-1))


def target(
    policy: Network, critics: tuple[Network, Network], batch: Transitions, most: float, gamma: float, key: Array
) -> Array:
    """Return the values that the critics should have for a batch, by the target policy and the target critics."""
    noise = jax.random.normal(key, batch.action.shape) * SMOOTHING[0] * most
    limit = SMOOTHING[1] * most
    action = jnp.clip(act(policy, batch.following, most) + jnp.clip(noise, -limit, limit), -most, most)
    value = jnp.minimum(*(worth(critic, batch.following, action) for critic in critics))
    return batch.reward + gamma * value


def critics_loss(critics: tuple[Network, Network], batch: Transitions, wanted: Array) -> Array:
    errors = [worth(critic, batch.seen, batch.action) - wanted for critic in critics]
    return sum(((error**2).mean() for error in errors), jnp.float32(0))


def policy_loss(policy: Network, critic: Network, batch: Transitions, most: float) -> Array:
    return -worth(critic, batch.seen, act(policy, batch.seen, most)).mean()


#: The policy's learning rate divided by the critics' learning rate (value of the DDPG authors).
SLOWER = 0.1

#: The share by which target networks follow the learned networks, and the critics' updates per update of the policy
#: (values of the TD3 authors).
FOLLOW, CRITICS_PER_POLICY = 0.005, 2


@dataclass(frozen=True)
class Options:
    updates: int = 100  #: the number of updates at the end of an episode
    batch: int = 256  #: the number of intervals in one update, counted over all links
    memory: int = 500  #: the latest intervals per link from which updates draw

    def __post_init__(self) -> None:
        contract.require_whole(self, "updates", "batch", "memory")


class Networks(NamedTuple):
    policy: Network
    critics: tuple[Network, Network]


class State(NamedTuple):
    learned: Networks
    slow: Networks  #: the target networks, which follow the learned networks
    adam: tuple[optax.OptState, optax.OptState]  #: Adam's state for the policy, and for the critics
    memory: Transitions  #: the latest transitions (intervals, flows)
    received: Array  #: the number of intervals that the memory has received so far


class Agent(contract.Agent):
    Options = Options

    def __init__(self, training: "Training") -> None:
        super().__init__(training)
        rate = training.agent.learning_rate
        self.adam = optax.adam(rate * SLOWER), optax.adam(rate)
        self.most = training.environment.bounds[1]

    def begin(self, key: Array) -> State:
        section, size, flows = self.training.agent, self.training.environment.size, self.training.links.flows
        one, two, three = jax.random.split(key, 3)
        policy = begin_network(one, size, section.layers, last=0.01)
        critics = begin_network(two, size + 1, section.layers), begin_network(three, size + 1, section.layers)
        empty = jnp.zeros((section.options.memory, flows))
        seen = jnp.zeros((*empty.shape, size))
        return State(
            Networks(policy, critics),
            jax.tree.map(jnp.copy, Networks(policy, critics)),
            (self.adam[0].init(policy), self.adam[1].init(critics)),
            Transitions(seen, empty, jnp.copy(empty), jnp.copy(seen)),
            jnp.int32(0),
        )

    def learn(self, state: State, links: Array, key: Array) -> tuple[State, Played]:
        acting, learning = jax.random.split(key)
        played, transitions = self._play(state.learned.policy, links, acting)
        state = self._remember(state, transitions)
        own = self.training.agent.options

        def update(state: State, now: tuple[Array, Array]) -> tuple[State, None]:
            number, key = now
            return self._update(state, number, key), None

        keys = jax.random.split(learning, own.updates)
        return jax.lax.scan(update, state, (jnp.arange(own.updates), keys))[0], played

    def _play(self, policy: Network, key: Array, acting: Array) -> tuple[Played, Transitions]:
        """Play an episode. A transition has the reward that belongs to its action."""
        training = self.training
        lag, links, deviation = training.lag, training.links, training.deviation

        def interval(place: tuple[Played, Array], key: Array) -> tuple[tuple[Played, Array], tuple[Array, ...]]:
            played, seen = place
            noise = deviation * jax.random.normal(key, (links.flows,))
            action = jnp.clip(act(policy, seen, self.most) + noise, -self.most, self.most)
            played, following, reward = links.step(played, action)
            return (played, following), (seen, action, reward, following)

        keys = jax.random.split(acting, training.environment.options.steps)
        (played, _), (seen, action, reward, following) = jax.lax.scan(interval, links.begin(key), keys)
        ours = slice(len(keys) - lag)
        return played, Transitions(seen[ours], action[ours], reward[lag:], following[ours])

    def _remember(self, state: State, transitions: Transitions) -> State:
        """Return the state with these transitions in its memory, in place of the oldest."""
        room = self.training.agent.options.memory
        latest = jax.tree.map(lambda part: part[-room:], transitions)
        count = len(transitions.reward)
        places = (state.received + jnp.arange(count)[-room:]) % room
        memory = jax.tree.map(lambda old, new: old.at[places].set(new), state.memory, latest)
        return state._replace(memory=memory, received=state.received + count)

    def _update(self, state: State, number: Array, key: Array) -> State:
        training, (learned, slow, adam, memory, received) = self.training, state
        drawing, smoothing = jax.random.split(key)
        own = training.agent.options
        filled = jnp.minimum(received, own.memory) * training.links.flows
        chosen = jax.random.randint(drawing, (own.batch,), 0, filled)
        batch = Transitions(*(part.reshape(-1, *part.shape[2:])[chosen] for part in memory))
        wanted = target(slow.policy, slow.critics, batch, self.most, training.agent.gamma, smoothing)
        change, second = self.adam[1].update(jax.grad(critics_loss)(learned.critics, batch, wanted), adam[1])
        critics = optax.apply_updates(learned.critics, change)
        change, first = self.adam[0].update(
            jax.grad(policy_loss)(learned.policy, critics[0], batch, self.most), adam[0]
        )
        after = Networks(optax.apply_updates(learned.policy, change), critics)
        turn = number % CRITICS_PER_POLICY == CRITICS_PER_POLICY - 1
        policy, first = _either(turn, (after.policy, first), (learned.policy, adam[0]))
        after = Networks(policy, critics)
        slow = _either(turn, optax.incremental_update(after, slow, FOLLOW), slow)
        return State(after, slow, (first, second), memory, received)

    def deviation(self, state: State) -> Array:
        return jnp.asarray(self.training.deviation, jnp.float32)

    def layers(self, state: State) -> Network:
        """Return the layers, and a fixed last layer, which multiplies the tanh's output."""
        return [*state.learned.policy, (jnp.full((1, 1), self.most), jnp.zeros(1))]


def _either(condition: Array, then: Any, other: Any) -> Any:
    return jax.tree.map(lambda one, two: jnp.where(condition, one, two), then, other)


AGENT = Agent
