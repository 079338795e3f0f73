"""The environment, as pure functions of arrays: for training loops that JAX compiles, and what the other interfaces are
made of."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import InputError, definitions
from ccmatic.compilers.arrays import rates
from ccmatic.contracts import MANY, Links, SlotOutcome, load_definition, load_fluid
from ccmatic.controllers import Controller, shipped_beliefs, signal
from ccmatic.learning import policies
from ccmatic.learning.envs import signals
from ccmatic.learning.envs.links import LinkOptions
from ccmatic.learning.estimation import beliefs, particles


class EnvironmentState(NamedTuple):
    """The state of an episode.

    interval: how many intervals are over. rate: (f, n) bytes per second of the next interval, unless an action changes
    it. queues: the queues of the links. knowledge: signals.Knowledge. history: (n, f, k + d, features), the latest
    last. wrong: (n) senders take the least RTT for so many times its value; None: they measure it right.
    """

    interval: Array
    rate: Array
    queues: Any
    knowledge: signals.Knowledge
    history: Array
    wrong: Array | None = None


State = TypeVar("State")


class Learnable(Protocol[State]):
    """An Environment, or what else `Fluid` plays: an attack on a sender. State: of an episode."""

    @property
    def options(self) -> LinkOptions:
        """The LinkOptions of its links."""
        ...

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest action."""
        ...

    @property
    def size(self) -> int:
        """How many numbers an observation of one flow has."""
        ...

    def reset(self, key: Array, n: int) -> tuple[Links, State]:
        """As Environment.reset."""
        ...

    def observation(self, state: State) -> Array:
        """As Environment.observation."""
        ...

    def step(self, links: Links, state: State, action: Array) -> tuple[State, Array, Array]:
        """As Environment.step."""
        ...

    def totals(self, links: Links, state: State) -> tuple[Array, Array, Array]:
        """As Environment.totals."""
        ...


def window(of_envelope: bool) -> int:
    """Return the steps of a window of beliefs, and the one before it: in an envelope those of its proof."""
    return policies.PROVED_HORIZON if of_envelope else beliefs.HORIZON


@dataclass(frozen=True, eq=False)
class Environment:
    """What is learned in.

    options: the LinkOptions of its links.
    observe, act, reward: formulas (docs/signals.md), by a name that ccmatic ships or by the path of a file, which is
             made absolute. A reward may be a function of a signals.Knowledge. Or act is `envelope:NAME`, of a
             controller that leaves a choice: -1 is its least rate, 1 its most.
    history: k, vectors of an observation. delay: d, how many intervals old the latest of them is, beyond what the path
             takes.
    Raises InputError.
    """

    options: LinkOptions
    observe: str = definitions.chosen("models.signals", "DEFAULT")
    act: str = definitions.chosen("models.signals", "DEFAULT")
    reward: str | Callable[[signals.Knowledge], Array] = definitions.chosen("models.signals", "DEFAULT")
    history: int = 10
    delay: int = 0

    def __post_init__(self) -> None:
        for each in self.formulas:
            object.__setattr__(self, each.kind, each.name)
        for name, least in (("history", 1), ("delay", 0)):
            if type(getattr(self, name)) is not int or getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)!r}; expected a whole number, at least {least}")

    @cached_property
    def formulas(self) -> tuple[signal.Signal, ...]:
        """The Signals: what is observed, the reward but for a function, and the action but for one in an envelope."""
        names = {"observe": self.observe}
        if not callable(self.reward):
            names["reward"] = self.reward
        if self.envelope is None:
            names["act"] = self.act
        return tuple(signal.load(kind, name) for kind, name in names.items())

    def formula(self, kind: str) -> signal.Signal | None:
        """The Signal of a kind, `observe`, `reward` or `act`; None where it is none."""
        return next((each for each in self.formulas if each.kind == kind), None)

    def _required(self, kind: str) -> signal.Signal:
        formula = self.formula(kind)
        assert formula is not None
        return formula

    @cached_property
    def memory(self) -> tuple[tuple[signal.Register, ...], ...]:
        """The registers of senders, in groups: those that measures share, and those of the formulas."""
        return signal.joined(signal.shared_memory(), *(each.memory for each in self.formulas))

    @property
    def features(self) -> int:
        """How many numbers a vector of the history has."""
        return self._required("observe").size

    @property
    def believes(self) -> bool:
        """Whether beliefs are formed."""
        return self.envelope is not None or not shipped_beliefs().keys().isdisjoint(self._inputs)

    @property
    def _inputs(self) -> frozenset[str]:
        return frozenset().union(*(each.inputs for each in self.formulas))

    @property
    def horizon(self) -> int:
        """Steps of a window of beliefs, and the one before it."""
        return window(self.envelope is not None)

    @cached_property
    def envelope(self) -> Controller | None:
        """The controller whose choice an action is; None if it is none."""
        return policies.envelope(self.act)

    @cached_property
    def link(self) -> ModuleType:
        """The fluid.py of the model whose links are emulated: what links do."""
        return load_fluid(load_definition("models", "MODEL", definitions.chosen("models", "EMULATED")))

    @property
    def size(self) -> int:
        """How many numbers an observation of one flow has, k · features: the oldest vector first."""
        return self.history * self.features

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest action."""
        if self.envelope:
            return -1.0, 1.0
        bounds = self._required("act").bounds
        assert bounds is not None  # it is an action's
        return bounds

    def reset(self, key: Array, n: int) -> tuple[Links, EnvironmentState]:
        """n links and their first EnvironmentState: (Links, EnvironmentState). key: of jax.random; of the links and all
        that is random."""
        links, rate = self.options.draw(key, n)
        queues = self.link.begin(links, self.options.longest, self.options.longest_rtt, self.options.longest_jitter)
        rtt = links.rtt * links.slot
        luck = jax.random.key_data(jax.random.fold_in(key, n))
        knowledge = signals.first(
            self.seconds(links),
            rtt,
            links.packet,
            self.memory,
            bounds=beliefs.of_links(links, self.options.slots, self.horizon) if self.believes else None,
            particles=None if signal.PARTICLES.keys().isdisjoint(self._inputs) else particles.begin(luck, rtt),
            capacity=jnp.broadcast_to(jnp.mean(links.capacity, axis=0) / links.slot, rtt.shape),
        )
        history = jnp.zeros((n, self.options.flows, self.history + self.delay, self.features))
        return links, EnvironmentState(jnp.int32(0), rate, queues, knowledge, history)

    def seconds(self, links: Links) -> Array:
        """How long an interval is, (f, n)."""
        return jnp.broadcast_to(links.slot * self.options.slots, links.rtt.shape)

    def observation(self, state: EnvironmentState) -> Array:
        """(n, f, size) of an EnvironmentState."""
        seen = state.history[:, :, : self.history]
        return seen.reshape(*seen.shape[:2], self.size)

    def step(self, links: Links, state: EnvironmentState, action: Array) -> tuple[EnvironmentState, Array, Array]:
        """One interval: (EnvironmentState, observation (n, f, size), reward (n, f)). action: (n, f)."""
        return self.watched(links, state, action)[:3]

    def watched(
        self, links: Links, state: EnvironmentState, action: Array
    ) -> tuple[EnvironmentState, Array, Array, SlotOutcome]:
        """As `step`, and then the SlotOutcome of each slot, the slots first."""
        state = self.acted(links, state, action)
        queues, now, seen = self.send(links, state)
        knowledge, history, reward = self.learn(state.knowledge, state.history, now)
        state = EnvironmentState(state.interval + 1, state.rate, queues, knowledge, history)
        return state, self.observation(state), reward, seen

    def totals(self, links: Links, state: EnvironmentState) -> tuple[Array, Array, Array]:
        """Of the last interval, over all flows and links: bytes acknowledged, those that could be served, and seconds
        that the first took, summed up over bytes."""
        slots = self.options.slots
        served = jax.lax.dynamic_slice_in_dim(links.capacity, (state.interval - 1) * slots, slots)
        now = state.knowledge.now
        return now.acked.sum(), served.sum(dtype=jnp.float32), (now.acked * now.rtt).sum()

    def acted(self, links: Links, state: EnvironmentState, action: Array) -> EnvironmentState:
        """The EnvironmentState with the rate of the next interval, by an action (n, f): at least a packet in it, at
        most as much as is counted. A flow that has not come yet stays as it is, and its action is 0."""
        most = MANY / (self.options.flows * self.options.slots * 4)
        here = links.start <= state.interval * self.options.slots
        knowledge = state.knowledge._replace(action=jnp.where(here, action.T, 0))
        if self.envelope is None:
            wanted = knowledge.value(self._required("act").term, rate=state.rate)
        else:
            low, high = (jnp.maximum(links.packet, end) for end in rates(self.envelope, knowledge.bounds))
            wanted = (low + (jnp.clip(action.T, -1, 1) + 1) / 2 * (high - low)) / knowledge.now.seconds
        rate = jnp.clip(wanted, links.packet / (links.slot * self.options.slots), most / links.slot)
        return state._replace(rate=jnp.where(here, rate, state.rate), knowledge=knowledge)

    def send(self, links: Links, state: EnvironmentState) -> tuple[Any, signals.Interval, SlotOutcome]:
        """Send at the rates of an EnvironmentState for an interval: the Queues after it, the signals.Interval that was
        measured, and the SlotOutcome of each slot, the slots first."""
        knowledge, slots = state.knowledge, self.options.slots
        queues, end, outcomes = state.queues, knowledge.now.rtt_end, []
        waited: Any = 0
        sent: Any = 0
        for slot in range(slots):
            t = state.interval * slots + slot
            here = (links.start <= t) & (t < links.stop)
            sending = jnp.where(here, jnp.floor(state.rate * links.slot), 0).astype(jnp.int32)
            queues, seen = self.link.advance(links, queues, t, sending)
            last = jnp.where(seen.acked > 0, (links.rtt + seen.delay) * links.slot, end)
            waited += seen.acked * (end + last) / 2
            end, sent = last, sent + sending
            outcomes.append(seen)
        every = jax.tree.map(lambda *slots: jnp.stack(slots), *outcomes)
        acked, lost = jnp.sum(every.acked, axis=0), jnp.sum(every.lost, axis=0)
        rtt = jnp.where(acked > 0, waited / jnp.maximum(acked, 1), knowledge.now.rtt)
        counts = [jnp.float32(bytes_) for bytes_ in (sent, acked, lost)]
        out = knowledge.now.out + sent - acked - lost
        now = signals.Interval(self.seconds(links), counts[0], counts[1], counts[2], rtt, end, out)
        return queues, now, every

    def learn(
        self, knowledge: signals.Knowledge, history: Array, now: signals.Interval
    ) -> tuple[signals.Knowledge, Array, Array]:
        """What a sender knows after an interval, with the history and the reward (n, f)."""
        knowledge = knowledge.after(now, self.memory)
        reward, vector = self._outcome(knowledge)
        return knowledge, jnp.concatenate([history[:, :, 1:], vector], axis=2), reward.T

    def misled(self, state: EnvironmentState, wrong: Array) -> EnvironmentState:
        """The EnvironmentState as it is to a sender that takes the least RTT for (n) times what it is, now that it has
        measured the latest interval. (A formula's own registers stay as they are.)"""
        registers = state.knowledge.registers
        knowledge = state.knowledge._replace(
            registers=registers | {signal.LEAST_RTT: registers[signal.LEAST_RTT] * wrong}
        )
        vector = jnp.where(state.interval > 0, self._outcome(knowledge)[1], state.history[:, :, -1:])
        history = jnp.concatenate([state.history[:, :, :-1], vector], axis=2)
        return state._replace(knowledge=knowledge, history=history, wrong=wrong)

    def _outcome(self, knowledge: signals.Knowledge) -> tuple[Array, Array]:
        """Return the reward (f, n), and the latest vector of observations (n, f, 1, features), from a Knowledge."""
        reward = self.reward(knowledge) if callable(self.reward) else knowledge.value(self._required("reward").term)
        vector = knowledge.value(self._required("observe").term, reward=reward)
        return reward, jnp.swapaxes(vector, 0, 1)[:, :, None]
