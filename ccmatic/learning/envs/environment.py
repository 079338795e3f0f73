"""The environment as pure functions of arrays, for training loops that JAX compiles.

The other interfaces build on these functions. Formulas may be functions of Python instead of names and files. JAX
compiles these functions, so they consist of operations on arrays. They have no registers, and no export: a formula in
a file has both.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from types import ModuleType
from typing import Any, Protocol, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import InputError, definitions, shown
from ccmatic.contracts import MANY, Links, SlotOutcome, load_fluid
from ccmatic.controllers import Controller, shipped_beliefs, signal
from ccmatic.deployment import policies
from ccmatic.learning.envs import beliefs, particles, signals
from ccmatic.learning.envs.links import LinkOptions, Ranges
from ccmatic.learning.envs.senders import sender_of_rates, window
from ccmatic.learning.envs.signals import BackgroundState, EnvironmentState, RolloutPolicy
from ccmatic.learning.envs.spread import spread
from ccmatic.worlds.arrays import rates

#: A function of a signals.Knowledge.
Function: TypeAlias = Callable[[signals.Knowledge], Array]

#: The numbers of flows and links in the check of a function. They differ, so that no axis is mistaken for another.
FLOWS, LINKS = 2, 3


@dataclass(frozen=True)
class ActionFunction:
    """A formula of actions, as a function of Python."""

    #: from a Knowledge and the last rates (bytes/s) to the next rates, all (f, n)
    rate: Callable[[signals.Knowledge, Array], Array]
    bounds: tuple[float, float]  #: the smallest and the largest action

    def __post_init__(self) -> None:
        if not isinstance(self.bounds, list | tuple) or len(self.bounds) != 2:
            raise InputError(f"the bounds of actions are {shown(self.bounds)}; expected two numbers")
        low, high = (spread(end, "a bound of actions", least=-float("inf")).ends[0] for end in self.bounds)
        if not low < high:
            raise InputError(f"the bounds of actions are {low:g} and {high:g}; expected ascending numbers")
        if not callable(self.rate):
            raise InputError(f"the rate of an action is {shown(self.rate)}; expected a function")
        object.__setattr__(self, "bounds", (low, high))


def observed(function: Function) -> int:
    """Return the number of elements in a vector of an observation, (f, n, elements)."""
    shape = _shape(function, "observe")
    if len(shape) != 3 or shape[:2] != (FLOWS, LINKS) or not shape[2]:
        raise InputError(f"observe {_named(function)} returns {_text(shape)}; expected (flows, links, numbers)")
    return int(shape[2])


def check_reward(function: Function) -> None:
    _check(function, "reward", _shape(function, "reward"))


def check_action(action: ActionFunction) -> None:
    rate = jnp.ones((FLOWS, LINKS))
    _check(action.rate, "act", _shape(lambda knowledge: action.rate(knowledge, rate), "act"))


def _check(function: Callable[..., Any], kind: str, shape: tuple[int, ...]) -> None:
    if shape != (FLOWS, LINKS):
        raise InputError(f"{kind} {_named(function)} returns {_text(shape)}; expected (flows, links)")


def _shape(function: Function, kind: str) -> tuple[int, ...]:
    """Return the shape of the array that a function returns for a Knowledge of FLOWS flows and LINKS links."""
    ones = jnp.ones((FLOWS, LINKS))
    knowledge = signals.first(ones, ones, jnp.int32(1500), signal.shared_memory(), capacity=ones)
    try:
        result = jax.eval_shape(function, knowledge)
    except Exception as error:  # the function is the user's, so it may raise anything
        raise InputError(f"{kind} fails: {type(error).__name__}: {shown(str(error).splitlines()[0])}") from None
    if not hasattr(result, "shape") or not jnp.issubdtype(result.dtype, jnp.number):
        raise InputError(f"{kind} {_named(function)} returns {shown(result)}; expected an array of numbers")
    return tuple(result.shape)


def _named(function: object) -> str:
    return shown(getattr(function, "__name__", type(function).__name__))


def _text(shape: tuple[int, ...]) -> str:
    names = {FLOWS: "flows", LINKS: "links"}
    return f"the shape ({', '.join(names.get(size, str(size)) for size in shape)})"


State = TypeVar("State")


class Learnable(Protocol[State]):
    """What `Fluid` can play: an Environment, or an attack on a sender. State is the type of the state of an episode."""

    @property
    def options(self) -> LinkOptions: ...

    @property
    def bounds(self) -> tuple[float, float]: ...

    @property
    def size(self) -> int: ...

    def reset(self, key: Array, n: int) -> tuple[Links, State]: ...

    def observation(self, state: State) -> Array: ...

    def step(self, links: Links, state: State, action: Array) -> tuple[State, Array, Array]: ...

    def totals(self, links: Links, state: State) -> tuple[Array, Array, Array]: ...


@dataclass(frozen=True, eq=False)
class Environment:
    """An environment for learning.

    Attributes:
        options: The LinkOptions of the links.
        observe: The formula of observations (docs/signals.md): a shipped name, or the path of a file, which is
            converted to an absolute path; or a function that maps a signals.Knowledge to an array (f, n, elements).
        act: The formula of actions: a shipped name or a path, as for `observe`. The formula may also be
            `envelope:NAME`, where NAME is a controller that leaves a choice. In this case, the action -1 is the
            controller's lowest allowed rate, and the action 1 is its highest. Or an ActionFunction.
        reward: The formula of rewards, given by name or path, or a function that maps a signals.Knowledge to an array
            (f, n).
        history: The number k of vectors in an observation.
        delay: The age d of the latest vector, in intervals, in addition to the delay of the path.
        choices: The actions of a discrete choice, in ascending order. A Gymnasium action is then the place of an
            action in this tuple. Empty if every number within the bounds is an action.
        guard: The name or the path of an envelope that limits the rates of the actions; None for no limit.

    Raises:
        InputError: If a formula or number is wrong.
    """

    options: LinkOptions
    observe: str | Function = definitions.chosen("models.signals", "DEFAULT")
    act: str | ActionFunction = definitions.chosen("models.signals", "DEFAULT")
    reward: str | Function = definitions.chosen("models.signals", "DEFAULT")
    history: int = 10
    delay: int = 0
    choices: tuple[float, ...] = ()
    guard: str | None = None

    def __post_init__(self) -> None:
        if callable(self.reward):
            check_reward(self.reward)
        if callable(self.act):
            raise InputError(f"act is {shown(self.act)}; expected a name, a file, or an ActionFunction with its bounds")
        if isinstance(self.act, ActionFunction):
            check_action(self.act)
        for formula in self.formulas:
            object.__setattr__(self, formula.kind, formula.name)
        self.features  # noqa: B018  # checks a function of observations
        for name, least in (("history", 1), ("delay", 0)):
            given, most = getattr(self, name), policies.LARGEST
            if type(given) is not int or not least <= given <= most:
                raise InputError(f"{name} is {shown(given)}; expected a whole number from {least} to {most}")
        object.__setattr__(self, "choices", signal.choices(self.choices, self.bounds))
        if self.envelope and self.guard is not None:
            raise InputError(f"act is {shown(self.act)}, with a guard; expected one envelope")
        if self.believes:
            self.options.require_drop_tail("with beliefs")
        self.background  # noqa: B018  # raises an error for a wrong name

    @cached_property
    def formulas(self) -> tuple[signal.Signal, ...]:
        """The Signals of observations, rewards and actions that are neither functions nor in an envelope."""
        given: dict[str, Any] = {"observe": self.observe, "reward": self.reward}
        if not self.envelope:
            given["act"] = self.act
        named = {k: v for k, v in given.items() if not (callable(v) or isinstance(v, ActionFunction))}
        return tuple(signal.load(kind, name) for kind, name in named.items())

    def formula(self, kind: str) -> signal.Signal | None:
        return next((formula for formula in self.formulas if formula.kind == kind), None)

    @property
    def lag(self) -> int:
        """The number of intervals in R_m, until a sender observes the effect of an action."""
        return int(1 / self.options.interval)

    @property
    def warning(self) -> str | None:
        """The measured exploit of the reward, as a sentence."""
        reward = self.formula("reward")
        return f"reward '{reward.name}': {reward.warning}" if reward and reward.warning else None

    def _formula(self, kind: str) -> signal.Signal:
        formula = self.formula(kind)
        assert formula is not None
        return formula

    @cached_property
    def memory(self) -> tuple[tuple[signal.Register, ...], ...]:
        """The registers of senders, in groups: the registers that measures share, and the registers of the formulas."""
        return signal.joined(signal.shared_memory(), *(formula.memory for formula in self.formulas))

    @cached_property
    def features(self) -> int:
        return observed(self.observe) if callable(self.observe) else self._formula("observe").size

    @property
    def believes(self) -> bool:
        return self.limits is not None or not shipped_beliefs().keys().isdisjoint(self._inputs)

    @property
    def _inputs(self) -> frozenset[str]:
        return frozenset().union(*(formula.inputs for formula in self.formulas))

    @property
    def horizon(self) -> int:
        """The number of steps in a window of beliefs, plus one for the step before the window."""
        return window(self.limits is not None)

    @cached_property
    def envelope(self) -> Controller | None:
        """The controller from whose range of rates an action chooses; None if there is no such controller."""
        return None if isinstance(self.act, ActionFunction) else policies.envelope(self.act)

    @cached_property
    def limits(self) -> Controller | None:
        """The envelope that contains each rate: the envelope of the actions, or the guard. None without an envelope."""
        return self.envelope if self.guard is None else policies.envelope(f"envelope:{self.guard}")

    @cached_property
    def background(self) -> tuple[RolloutPolicy, ...]:
        return tuple(sender_of_rates(name, self.options) for name in self.options.beside)

    @cached_property
    def link(self) -> ModuleType:
        return load_fluid(self.options.network)

    @property
    def size(self) -> int:
        """The number of elements in one flow's observation, k · features. The oldest vector is first."""
        return self.history * self.features

    @property
    def bounds(self) -> tuple[float, float]:
        if self.envelope:
            return -1.0, 1.0
        if isinstance(self.act, ActionFunction):
            return self.act.bounds
        bounds = self._formula("act").bounds
        assert bounds is not None  # Every formula of actions has bounds.
        return bounds

    def __reduce__(self) -> tuple[Any, ...]:
        return Environment, tuple(getattr(self, part.name) for part in fields(self))

    def reset(self, key: Array, n: int, ranges: Ranges | None = None) -> tuple[Links, EnvironmentState]:
        """Draw n links, and return them with their first EnvironmentState.

        The key may be an array (n) with a key for each link. The ranges, as in LinkOptions.draw, may be traced.
        """
        links, rate = self.options.draw(key, n, ranges)
        key = key if key.ndim == 0 else key[0]
        queues = self.link.begin(links, self.options.longest, self.options.longest_rtt, self.options.longest_jitter)
        own = self.own(links)
        rtt = own.rtt * own.slot
        luck = jax.random.key_data(jax.random.fold_in(key, n))
        knowledge = signals.first(
            self.seconds(own),
            rtt,
            links.packet,
            self.memory,
            bounds=beliefs.of_links(own, self.options.slots, self.horizon) if self.believes else None,
            particles=None if signal.PARTICLES.keys().isdisjoint(self._inputs) else particles.begin(luck, rtt),
            capacity=jnp.broadcast_to(jnp.mean(links.capacity, axis=0) / links.slot, rtt.shape),
        )
        history = jnp.zeros((n, self.options.flows, self.history + self.delay, self.features))
        background = tuple(self._first(links, place) for place in range(len(self.background)))
        return links, EnvironmentState(jnp.int32(0), rate, queues, knowledge, history, background=background)

    def own(self, links: Links) -> Links:
        """Return the Links of the flows that learn, without the background flows."""
        return links.of_flows(0, self.options.flows)

    def _beside(self, links: Links, place: int) -> Links:
        return links.of_flows(self.options.flows + place, self.options.flows + place + 1)

    def _first(self, links: Links, place: int) -> BackgroundState:
        own = self._beside(links, place)
        knowledge = signals.first(self.seconds(own), own.rtt * own.slot, links.packet, signal.shared_memory())
        return BackgroundState(self.background[place].begin(own), knowledge)

    def seconds(self, links: Links) -> Array:
        """Return the length of an interval in seconds, of the shape of R_m."""
        return jnp.broadcast_to(links.slot * self.options.slots, links.rtt.shape)

    def observation(self, state: EnvironmentState) -> Array:
        """Return the observation (n, f, size)."""
        vectors = state.history[:, :, : self.history]
        return vectors.reshape(*vectors.shape[:2], self.size)

    def step(self, links: Links, state: EnvironmentState, action: Array) -> tuple[EnvironmentState, Array, Array]:
        """Play one interval with actions (n, f). Return the state, observations (n, f, size) and rewards (n, f)."""
        return self.watched(links, state, action)[:3]

    def watched(
        self, links: Links, state: EnvironmentState, action: Array
    ) -> tuple[EnvironmentState, Array, Array, SlotOutcome]:
        """Play one interval like `step`. Also return the SlotOutcome of each slot, with slots as the first axis."""
        state = self.acted(links, state, action)
        queues, now, outcomes = self.send(links, state)
        state, reward = self.learn(state._replace(queues=queues), now)
        return state, self.observation(state), reward, outcomes

    def totals(self, links: Links, state: EnvironmentState) -> tuple[Array, Array, Array]:
        """Return the acknowledged bytes of an interval, those that links could serve, and bytes times RTT in s."""
        slots = self.options.slots
        served = jax.lax.dynamic_slice_in_dim(links.capacity, (state.interval - 1) * slots, slots)
        now = state.knowledge.now
        return now.acked.sum(), served.sum(dtype=jnp.float32), (now.acked * now.rtt).sum()

    def acted(self, links: Links, state: EnvironmentState, action: Array) -> EnvironmentState:
        """Return the EnvironmentState with the rates of the next interval, given actions (n, f).

        An action outside the bounds is clipped to them, and NaN counts as 0. (Compiled code cannot refuse an action.)
        Each rate is at least one packet per interval, and at most the largest rate that the simulator's integers can
        count. Only a background flow may send nothing. A flow that has not started yet keeps its rate, and has the
        action 0.
        """
        own = self.own(links)
        here = own.start <= state.interval * self.options.slots
        action = jnp.clip(jnp.where(jnp.isnan(action), 0, action), *self.bounds)
        knowledge = state.knowledge._replace(action=jnp.where(here, action.T, 0))
        rate = state.rate[: self.options.flows]
        if self.limits is None:
            wanted = self._wanted(knowledge, rate)
        else:
            seconds = knowledge.now.seconds
            low, high = (jnp.maximum(links.packet, end) / seconds for end in rates(self.limits, knowledge.bounds))
            if self.envelope is None:
                wanted = jnp.clip(self._wanted(knowledge, rate), low, high)
            else:
                wanted = low + (action.T + 1) / 2 * (high - low)
        rate = jnp.where(here, self._limited(links, wanted), rate)
        pairs = [self._sender_acts(links, state, place) for place in range(len(self.background))]
        rate = jnp.concatenate([rate, *(rate for _, rate in pairs)])
        return state._replace(rate=rate, knowledge=knowledge, background=tuple(flow for flow, _ in pairs))

    def _wanted(self, knowledge: signals.Knowledge, rate: Array) -> Array:
        """Return the rates (f, n) by the formula of actions, given the last rates."""
        if isinstance(self.act, ActionFunction):
            return jnp.nan_to_num(self.act.rate(knowledge, rate))
        return knowledge.value(self._formula("act").term, rate=rate)

    def _limited(self, links: Links, rate: Array) -> Array:
        """Return rates that the simulator can count, of at least one packet per interval."""
        most = MANY / (self.options.all_flows * self.options.slots * 4)
        return jnp.clip(rate, links.packet / (links.slot * self.options.slots), most / links.slot)

    def _sender_acts(self, links: Links, state: EnvironmentState, place: int) -> tuple[BackgroundState, Array]:
        memory, knowledge = state.background[place]
        own = self._beside(links, place)
        number = self.options.flows + place
        seen = EnvironmentState(state.interval, state.rate[number : number + 1], None, knowledge, state.history[:, :0])
        memory, rate = self.background[place].act(memory, own, seen, jnp.zeros((own.rtt.shape[1], 1, 0)))
        return BackgroundState(memory, knowledge), jnp.where(rate.T > 0, self._limited(links, rate.T), 0)

    def send(self, links: Links, state: EnvironmentState) -> tuple[Any, signals.Interval, SlotOutcome]:
        """Let the senders send for an interval at the rates of a state.

        Return the queues after it, the measured Interval of all flows, and the SlotOutcome of each slot (first axis).
        """
        before, slots = self.latest(state), self.options.slots
        queues, end, outcomes = state.queues, before.rtt_end, []
        waited: Any = 0
        sent: Any = 0
        for slot in range(slots):
            t = state.interval * slots + slot
            here = (links.start <= t) & (t < links.stop)
            sending = jnp.where(here, jnp.floor(state.rate * links.slot), 0).astype(jnp.int32)
            queues, outcome = self.link.advance(links, queues, t, sending)
            first, last = ((links.rtt + delay) * links.slot for delay in outcome.delays)
            waited += outcome.acked * (first + last) / 2
            end, sent = jnp.where(outcome.acked > 0, last, end), sent + sending
            outcomes.append(outcome)
        every = jax.tree.map(lambda *slots: jnp.stack(slots), *outcomes)
        acked, lost = jnp.sum(every.acked, axis=0), jnp.sum(every.lost, axis=0)
        rtt = jnp.where(acked > 0, waited / jnp.maximum(acked, 1), before.rtt)
        counts = [jnp.float32(bytes_) for bytes_ in (sent, acked, lost)]
        out = before.out + sent - acked - lost
        marked = jnp.zeros_like(out) if every.marks is None else jnp.sum(every.marks.acked, axis=0).astype(out.dtype)
        now = signals.Interval(self.seconds(links), counts[0], counts[1], counts[2], rtt, end, out, marked)
        return queues, now, every

    def latest(self, state: EnvironmentState) -> signals.Interval:
        rows = [state.knowledge.now, *(flow.knowledge.now for flow in state.background)]
        together: signals.Interval = jax.tree.map(lambda *each: jnp.concatenate(each), *rows)
        return together

    def learn(self, state: EnvironmentState, now: signals.Interval) -> tuple[EnvironmentState, Array]:
        """Return the state after an interval, and rewards (n, f). The given state has the queues after it."""
        flows = self.options.flows

        def of(first: int, end: int) -> signals.Interval:
            rows: signals.Interval = jax.tree.map(lambda column: column[first:end], now)
            return rows

        knowledge = state.knowledge.after(of(0, flows), self.memory)
        reward, vector = self._outcome(knowledge)
        background = tuple(
            flow._replace(knowledge=flow.knowledge.after(of(place, place + 1), signal.shared_memory()))
            for place, flow in enumerate(state.background, flows)
        )
        history = jnp.concatenate([state.history[:, :, 1:], vector], axis=2)
        after = state._replace(
            interval=state.interval + 1, knowledge=knowledge, history=history, wrong=None, background=background
        )
        return after, reward.T

    def misled(self, state: EnvironmentState, wrong: Array) -> EnvironmentState:
        """Return the EnvironmentState of a sender that misjudges the smallest RTT by the factor `wrong` (n).

        The sender has already measured the latest interval. The registers of formulas keep their values.
        """
        registers = state.knowledge.registers
        knowledge = state.knowledge._replace(
            registers=registers | {signal.LEAST_RTT: registers[signal.LEAST_RTT] * wrong}
        )
        vector = jnp.where(state.interval > 0, self._outcome(knowledge)[1], state.history[:, :, -1:])
        history = jnp.concatenate([state.history[:, :, :-1], vector], axis=2)
        return state._replace(knowledge=knowledge, history=history, wrong=wrong)

    def _outcome(self, knowledge: signals.Knowledge) -> tuple[Array, Array]:
        """Return the reward (f, n), and the latest vector of observations (n, f, 1, features)."""
        reward = self.reward(knowledge) if callable(self.reward) else knowledge.value(self._formula("reward").term)
        if callable(self.observe):
            vector = self.observe(knowledge)
        else:
            vector = knowledge.value(self._formula("observe").term, reward=reward)
        return reward, jnp.swapaxes(vector, 0, 1)[:, :, None]
