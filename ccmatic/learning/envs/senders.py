"""Senders as policies of an environment: those that are not learned, whose actions are rates (controllers of ccmatic, a
constant rate, and one that knows the link), and those that were trained."""

import operator
from collections.abc import Iterator
from functools import partial
from math import ceil
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import CONDITION, InputError, definitions
from ccmatic.compilers.arrays import Counted, Values, rates, to_float, where
from ccmatic.contracts import Links
from ccmatic.controllers import Controller, Stateful, load, signal
from ccmatic.language import Past, Tree, as_sent, find_program, is_stateful, parts
from ccmatic.learning import policies
from ccmatic.learning.envs import signals
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.learning.envs.environment import Environment, EnvironmentState, window
from ccmatic.learning.envs.links import LinkOptions
from ccmatic.learning.envs.rollout import Act, RolloutPolicy, stateless
from ccmatic.learning.estimation import beliefs


def sender(name: str, environment: Environment) -> RolloutPolicy:
    """The RolloutPolicy of a sender: `constant:MBIT`, in Mbit/s; `oracle`, which sends at the rate of the link, a share
    of it if it has several flows; `cubic`, RFC 9438's; or a controller, by its path or the name of one that ccmatic
    ships. Raises InputError."""
    if environment.act != definitions.chosen("models.signals", "RATE"):
        raise InputError(f"the sender '{name}' says rates; expected act='rate', not '{environment.act}'")
    word, _, number = name.partition(":")
    if word == "constant":
        return _constant(name, number)
    if word == "oracle":
        return RolloutPolicy(lambda links: (), _knows_the_link(environment.options))
    if word == definitions.chosen("models.signals", "CUBIC"):
        return _untouched(signal.load("act", word))
    if is_stateful(find_program(name)[1]):
        model = next(m for m in definitions.every("models", "MODEL") if m.windows and m.flows == 1)
        return remembering(load(name, observations=model.observations), environment.options)
    return _believing(load(name), environment.options)


def trained(policy: policies.Policy, options: LinkOptions) -> tuple[Environment, RolloutPolicy]:
    """The Environment in which a policies.Policy observes, acts and is rewarded as in its training, with the links of
    `options`; and its RolloutPolicy there, whose actions are clipped as there."""
    learned = {each: getattr(policy.file, each) for each in ("observe", "act", "reward", "history", "delay")}
    environment = Environment(options, **learned)

    def action(seen: Array) -> Array:
        return jnp.clip(policies.outputs(policy.layers, seen)[..., 0], *environment.bounds)

    return environment, stateless(action)


def _constant(name: str, number: str) -> RolloutPolicy:
    try:
        rate = float(number) * MBIT
    except ValueError:
        rate = -1.0
    if not 0 < rate < float("inf"):
        raise InputError(f"cannot read the sender '{name}'; expected constant:MBIT, Mbit/s above 0")
    return RolloutPolicy(lambda links: (), lambda memory, links, state, seen: (memory, jnp.full(seen.shape[:2], rate)))


def _knows_the_link(options: LinkOptions) -> Act:
    def act(memory: Any, links: Links, state: EnvironmentState, seen: Array) -> tuple[Any, Array]:
        start = state.interval * options.slots
        bytes_ = jnp.sum(jax.lax.dynamic_slice_in_dim(links.capacity, start, options.slots), axis=0)
        return memory, jnp.broadcast_to((bytes_ / options.slots / links.slot / options.flows)[:, None], seen.shape[:2])

    return act


def _untouched(formula: signal.Signal) -> RolloutPolicy:
    """The RolloutPolicy that sends as an action of 0 does: of a formula with registers of its own, which go on by
    themselves, and of what its environment remembers."""
    own = formula.memory[-1]

    def begin(links: Links) -> dict[str, Array]:
        return signals.first_values(own, links.rtt * links.slot, links.packet)

    def act(
        memory: dict[str, Array], links: Links, state: EnvironmentState, seen: Array
    ) -> tuple[dict[str, Array], Array]:
        knowledge = state.knowledge._replace(registers=state.knowledge.registers | memory, action=0.0)
        memory = knowledge.next_values(own)
        knowledge = knowledge._replace(registers=knowledge.registers | memory)
        return memory, knowledge.value(formula.term).T

    return RolloutPolicy(begin, act)


def _believing(controller: Controller, options: LinkOptions) -> RolloutPolicy:
    """A controller of beliefs: a step is an interval. It has no other controller at first, whatever it says.

    An envelope sends the least that it leaves.
    """

    def act(
        bounds: beliefs.Beliefs, links: Links, state: EnvironmentState, seen: Array
    ) -> tuple[beliefs.Beliefs, Array]:
        after = bounds.learned(state.knowledge)
        bounds = jax.tree.map(lambda new, old: jnp.where(state.interval > 0, new, old), after, bounds)
        low, _ = rates(controller, bounds)
        return bounds, (low / state.knowledge.now.seconds).T

    return RolloutPolicy(lambda links: beliefs.of_links(links, options.slots, window(controller.is_envelope)), act)


def remembering(controller: Stateful, options: LinkOptions) -> RolloutPolicy:
    """The RolloutPolicy of a controller with state, which it remembers first: a step is an interval. It sends its
    window in the RTT that it measured last, or at its rate where that is less; no timeout fires. Raises InputError
    where R_m is no whole number of intervals."""
    if options.slots != 1:
        raise InputError(f"{controller.name} needs R_m to be whole intervals; expected an interval of 1, 1/2, 1/3 …")
    rtt = options.per_rtt
    jitter = ceil(options.jitter.ends[1] / options.rtt.ends[0] * rtt)
    fixed = {"R_m": float(rtt), "D": float(jitter), "step": 1.0, "MSS": float(options.packet)}
    update = as_sent(controller.update)
    past = [round(float(Values(fixed).of(each.back))) for each in _pasts(update)]
    kept = max([0, *past]) + rtt + 1
    conditions = {memory.name for memory in controller.state if memory.unit == CONDITION}

    def begin(links: Links) -> tuple[dict[str, Any], dict[str, Any]]:
        values, none = Values(fixed), jnp.zeros(links.rtt.shape, jnp.float32)
        state = {memory.name: none + values.of(memory.chosen) for memory in controller.state}
        state = {name: value > 0 if name in conditions else Counted.of(value) for name, value in state.items()}
        column = jnp.zeros((kept, *none.shape))
        return state, {name: Counted.of(column) if name in _COUNTED else column for name in _KEPT}

    def act(
        memory: tuple[dict[str, Any], dict[str, Any]], links: Links, state: EnvironmentState, seen: Array
    ) -> tuple[tuple[dict[str, Any], dict[str, Any]], Array]:
        now, (remembered, counted) = state.knowledge.now, memory
        wrong = 1.0 if state.wrong is None else state.wrong
        waited = jnp.maximum(0, (now.rtt_end - links.rtt * links.slot * wrong) / now.seconds)
        latest = {name: _back(counted[name], 0) + getattr(now, name) for name in _COUNTED}
        latest |= {"delay": jnp.floor(waited + 1e-4), "waited": waited, "measured": jnp.where(now.acked > 0, 1.0, 0.0)}
        counted = {name: jax.tree.map(_then, counted[name], latest[name]) for name in counted}
        taken = {**fixed, "R_m": fixed["R_m"] * wrong}
        observed = {**taken, **remembered, **_observed(counted, now, state.interval, rtt), "second": 1 / now.seconds}
        in_law = {**observed, "delay": observed["waited"]}
        values = Values(observed, Values(fixed), Values(in_law, Values(fixed)))
        after = values.becomes(update, remembered)
        after = {name: where(state.interval > 0, after[name], remembered[name]) for name in remembered}
        sent = Values({**taken, **after, "line_rate": jnp.inf})
        window = jnp.inf if controller.window is None else to_float(sent.of(controller.window)) / now.rtt_end
        rate = jnp.inf if controller.rate is None else to_float(sent.of(controller.rate)) / now.seconds
        return (after, counted), jnp.broadcast_to(jnp.maximum(0.0, jnp.minimum(window, rate)), now.sent.shape).T

    return RolloutPolicy(begin, act)


#: What a controller with state observes, as columns: the latest first. The first of them are bytes since the beginning.
_COUNTED = ("acked", "lost", "sent")
_KEPT = (*_COUNTED, "delay", "waited", "measured")


def _back(column: Any, steps: int) -> Any:
    """What stands in a column so many steps before the latest."""
    return jax.tree.map(operator.itemgetter(steps), column)


def _then(column: Array, latest: Array) -> Array:
    return jnp.concatenate([jnp.broadcast_to(latest, column.shape[1:])[None], column[:-1]])


def _observed(counted: dict[str, Any], now: signals.Interval, interval: Array, rtt: int) -> dict[str, Any]:
    """What such a controller observes, by name: arrays, or functions from steps back to arrays. What is served it
    takes to be what is acknowledged, as a sender does."""
    no = jnp.zeros(now.sent.shape, bool)
    return {name: partial(_back, column) for name, column in counted.items()} | {
        "served": partial(_back, counted["acked"]),
        "admitted": _back(counted["sent"], 0) - _back(counted["lost"], 0),
        "ack_rate": lambda back: (_back(counted["acked"], back) - _back(counted["acked"], back + rtt)) / rtt,
        "measured": lambda back: counted["measured"][back] > 0,
        "timeout": no,
        "before_trace": no,
        "time": jnp.float32(interval),
        "line_rate": jnp.inf,
    }


def _pasts(tree: Tree) -> Iterator[Past]:
    """The Pasts in a tree."""
    if isinstance(tree, Past):
        yield tree
    for part in parts(tree):
        yield from _pasts(part)
