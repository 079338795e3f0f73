"""Senders as policies whose actions are rates.

They are ccmatic's controllers, senders of given rates, Cubic, and a sender that knows the link.
"""

import operator
from collections.abc import Iterator
from functools import partial
from math import ceil
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import CONDITION, InputError, definitions
from ccmatic.contracts import Links
from ccmatic.controllers import Controller, Stateful, load, signal
from ccmatic.deployment import policies
from ccmatic.language import Binary, Name, Past, Tree, Visit, Walker, as_sent, find_program, is_stateful, parts, rebuilt
from ccmatic.learning.envs import beliefs, signals
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.learning.envs.links import LinkOptions
from ccmatic.learning.envs.signals import Act, EnvironmentState, RolloutPolicy
from ccmatic.worlds.arrays import FloatPair, Values, rates, to_float, where


def sender_of_rates(name: str, options: LinkOptions) -> RolloutPolicy:
    """Return the RolloutPolicy of a sender whose actions are rates in bytes per second.

    The names are those of `learning.sender`, and `on_off:MBIT:ON:OFF`, which sends at a rate in Mbit/s for ON seconds,
    and then nothing for OFF seconds.
    """
    word, colon, rest = name.partition(":")
    if word == "constant":
        return _constant(name, rest)
    if word == "on_off" and colon:
        return _on_off(name, rest)
    if word == "oracle":
        return RolloutPolicy(lambda links: (), _knows_the_link(options))
    if word == definitions.chosen("models.signals", "CUBIC"):
        return _without_actions(signal.load("act", word))
    if is_stateful(find_program(name)[1]):
        model = next(m for m in definitions.every("models", "MODEL") if m.windows and m.flows == 1)
        return remembering(load(name, observations=model.observations), options)
    return _believing(load(name), options)


def window(of_envelope: bool) -> int:
    """Return the number of steps in a window of beliefs, plus one.

    In an envelope, this is the window of the envelope's proof.
    """
    return policies.PROVED_HORIZON if of_envelope else beliefs.HORIZON


def _constant(name: str, number: str) -> RolloutPolicy:
    rate = _number(number, f"cannot read the sender '{name}'; expected constant:MBIT, Mbit/s above 0") * MBIT
    return RolloutPolicy(
        lambda links: (), lambda memory, links, state, observation: (memory, jnp.full(observation.shape[:2], rate))
    )


def _on_off(name: str, numbers: str) -> RolloutPolicy:
    expected = f"cannot read the sender '{name}'; expected on_off:MBIT:ON:OFF, a rate and two times above 0"
    if numbers.count(":") != 2:
        raise InputError(expected)
    mbit, on, off = (_number(number, expected) for number in numbers.split(":"))

    def act(memory: Any, links: Links, state: EnvironmentState, observation: Array) -> tuple[Any, Array]:
        since = state.interval * state.knowledge.now.seconds - links.start * links.slot
        return memory, jnp.where(jnp.mod(since, on + off) < on, mbit * MBIT, 0.0).T

    return RolloutPolicy(lambda links: (), act)


def _number(text: str, problem: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise InputError(problem)
    return number


def _knows_the_link(options: LinkOptions) -> Act:
    def act(memory: Any, links: Links, state: EnvironmentState, observation: Array) -> tuple[Any, Array]:
        start = state.interval * options.slots
        bytes_ = jnp.sum(jax.lax.dynamic_slice_in_dim(links.capacity, start, options.slots), axis=0)
        return memory, jnp.broadcast_to(
            (bytes_ / options.slots / links.slot / options.all_flows)[:, None], observation.shape[:2]
        )

    return act


def _without_actions(formula: signal.Signal) -> RolloutPolicy:
    """Return the RolloutPolicy that always takes the action 0.

    The formula has its own registers, which the environment's actions do not change. The formula also reads the
    environment's registers.
    """
    own = formula.memory[-1]

    def begin(links: Links) -> dict[str, Array]:
        return signals.first_values(own, links.rtt * links.slot, links.packet)

    def act(
        memory: dict[str, Array], links: Links, state: EnvironmentState, observation: Array
    ) -> tuple[dict[str, Array], Array]:
        knowledge = state.knowledge._replace(registers=state.knowledge.registers | memory, action=0.0)
        memory = knowledge.next_values(own)
        knowledge = knowledge._replace(registers=knowledge.registers | memory)
        return memory, knowledge.value(formula.term).T

    return RolloutPolicy(begin, act)


def _believing(controller: Controller, options: LinkOptions) -> RolloutPolicy:
    """Return the RolloutPolicy of a controller of beliefs. A step is an interval, and there is no start controller.

    If the controller is an envelope, the policy sends at the lowest allowed rate.
    """

    def act(
        bounds: beliefs.Beliefs, links: Links, state: EnvironmentState, observation: Array
    ) -> tuple[beliefs.Beliefs, Array]:
        after = bounds.learned(state.knowledge)
        bounds = jax.tree.map(lambda new, old: jnp.where(state.interval > 0, new, old), after, bounds)
        low, _ = rates(controller, bounds)
        return bounds, (low / state.knowledge.now.seconds).T

    options.require_drop_tail("with beliefs")
    return RolloutPolicy(lambda links: beliefs.of_links(links, options.slots, window(controller.is_envelope)), act)


def remembering(controller: Stateful, options: LinkOptions) -> RolloutPolicy:
    """Return the RolloutPolicy of a controller with state. The state is the policy's memory, and a step is an interval.

    The policy's rate is the controller's window divided by the latest measured RTT. If the controller's own rate is
    lower, it applies instead. The rate is at least one packet per interval. No timeout fires.

    A model knows a delay in whole steps, and too large by at most one step. Some controllers, such as Vegas, read both
    bounds, `delay - step` and `delay`. Here the bounds are tight: both are the measured delay. Other controllers read
    whole steps.
    """
    if options.slots != 1:
        raise InputError(f"{controller.name} needs R_m to be whole intervals; expected an interval of 1, 1/2, 1/3 …")
    if "marked" in controller.parameters and not options.marks:
        raise InputError(f"{controller.name} reads `marked`, and these links mark no packets; expected another sender")
    rtt = options.per_rtt
    jitter = ceil(options.jitter.ends[1] / options.rtt.ends[0] * rtt)
    fixed = {"R_m": float(rtt), "D": float(jitter), "step": 1.0, "MSS": float(options.packet)}
    measured = _Measured()
    update = measured.walk(as_sent(controller.update))
    past = [round(float(Values(fixed).of(read.back))) for read in _pasts(update)]
    kept = max([0, *past]) + rtt + 1
    conditions = {memory.name for memory in controller.state if memory.unit == CONDITION}

    def begin(links: Links) -> tuple[dict[str, Any], dict[str, Any]]:
        values, none = Values(fixed), jnp.zeros(links.rtt.shape, jnp.float32)
        state = {memory.name: none + values.of(memory.chosen) for memory in controller.state}
        state = {name: value > 0 if name in conditions else FloatPair.of(value) for name, value in state.items()}
        column = jnp.zeros((kept, *none.shape))
        return state, {name: FloatPair.of(column) if name in _COUNTED else column for name in _KEPT}

    def act(
        memory: tuple[dict[str, Any], dict[str, Any]], links: Links, state: EnvironmentState, observation: Array
    ) -> tuple[tuple[dict[str, Any], dict[str, Any]], Array]:
        now, (remembered, counted) = state.knowledge.now, memory
        wrong = 1.0 if state.wrong is None else state.wrong
        waited = jnp.maximum(0, (now.rtt_end - links.rtt * links.slot * wrong) / now.seconds)
        latest = {name: _back(counted[name], 0) + getattr(now, name) for name in _COUNTED}
        latest |= {
            "delay": waited if measured.replaces else jnp.floor(waited + 1e-4),
            "waited": waited,
            "measured": jnp.where(now.acked > 0, 1.0, 0.0),
        }
        counted = {name: jax.tree.map(_shift, counted[name], latest[name]) for name in counted}
        taken = {**fixed, "R_m": fixed["R_m"] * wrong}
        observed = {**taken, **remembered, **_observations(counted, now, state.interval, rtt)}
        observed["second"] = 1 / now.seconds
        in_law = {**observed, "delay": observed["waited"]}
        values = Values(observed, Values(fixed), Values(in_law, Values(fixed)))
        after = values.becomes(update, remembered)
        begun = state.interval > links.start
        after = {name: where(begun, after[name], remembered[name]) for name in remembered}
        sent = Values({**taken, **after, "line_rate": jnp.inf})
        window = jnp.inf if controller.window is None else to_float(sent.of(controller.window)) / now.rtt_end
        rate = jnp.inf if controller.rate is None else to_float(sent.of(controller.rate)) / now.seconds
        least = links.packet / now.seconds
        return (after, counted), jnp.broadcast_to(jnp.maximum(least, jnp.minimum(window, rate)), now.sent.shape).T

    return RolloutPolicy(begin, act)


class _Measured(Walker[Tree]):
    """Replaces the lower bound of a delay, `delay - step`, by the delay."""

    replaces = False

    def visit_Binary(self, node: Binary) -> Visit[Tree]:
        is_delay = isinstance(node.left, Name | Past) and node.left.name == "delay"
        if node.op == "-" and is_delay and node.right == Name("step"):
            self.replaces = True
            return node.left
        return rebuilt(node, (yield from self.results(parts(node))))

    def visit_object(self, node: Tree) -> Visit[Tree]:
        return rebuilt(node, (yield from self.results(parts(node))))

    visit_Function = visit_Local = visit_object


#: The observations that the memory of a stateful controller keeps as columns, the latest value first. The first four
#: columns are cumulative bytes.
_COUNTED = ("acked", "lost", "sent", "marked")
_KEPT = (*_COUNTED, "delay", "waited", "measured")


def _back(column: Any, steps: int) -> Any:
    return jax.tree.map(operator.itemgetter(steps), column)


def _shift(column: Array, latest: Array) -> Array:
    return jnp.concatenate([jnp.broadcast_to(latest, column.shape[1:])[None], column[:-1]])


def _observations(counted: dict[str, Any], now: signals.Interval, interval: Array, rtt: int) -> dict[str, Any]:
    """Return a stateful controller's observations by name.

    An observation is an array, or a function of its age in steps. Acknowledged bytes count as served bytes, as in a
    real sender.
    """
    no = jnp.zeros(now.sent.shape, bool)
    return {name: partial(_back, column) for name, column in counted.items()} | {
        "served": partial(_back, counted["acked"]),
        "admitted": _back(counted["sent"], 0) - _back(counted["lost"], 0),
        "ack_rate": lambda back: (_back(counted["acked"], back) - _back(counted["acked"], back + rtt)) / rtt,
        "measured": lambda back: counted["measured"][back] > 0,
        "timeout": no,
        "app_limited": lambda back: no,
        "before_trace": no,
        "time": jnp.float32(interval),
        "line_rate": jnp.inf,
    }


def _pasts(tree: Tree) -> Iterator[Past]:
    if isinstance(tree, Past):
        yield tree
    for part in parts(tree):
        yield from _pasts(part)
