"""Many links at once, as fluids, that mark the bytes which arrive above a threshold at the bottleneck of CBR-delay.

Within a slot the queue only grows or only shrinks. So the marked bytes of a slot are its last or its first bytes.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from ccmatic.models.cbr_delay import fluid
from jax import Array

from ccmatic.contracts import Marks


class MarkingQueues(NamedTuple):
    """The bytes on their way, and the marks among them.

    Attributes:
        queues: The Queues of CBR-delay.
        marked: Array (H, f, n). Total marked bytes accepted by the end of each of the last H slots, modulo 2^32. Slot t
            has the index t mod H.
        skipped: Array (H, f, n). The bytes accepted in each of the last H slots before the slot's first marked byte.
        left: Array (f, n). Total marked bytes released, modulo 2^32.
        released: Array (P, f, n). Marked bytes released in each of the last P slots, the latest slot first.
    """

    queues: Any
    marked: Array
    skipped: Array
    left: Array
    released: Array


def begin(links, history, longest_rtt, longest_jitter):
    """Return the MarkingQueues before slot 0. The bytes that wait at the start have no marks."""
    queues = fluid.begin(links, history, longest_rtt, longest_jitter)
    none = jnp.zeros_like(queues.accepted)
    return MarkingQueues(queues, none, none, none[0], jnp.zeros_like(queues.released))


def advance(links, queues, t, sent):
    """Return the MarkingQueues after slot t, and the SlotOutcome."""
    after, outcome = fluid.advance(links, queues.queues, t, sent)
    slots = queues.marked.shape[0]
    now, skipped = _marked(links, queues.queues.waiting, after.waiting, t, outcome)
    marked = queues.marked.at[t % slots].set(queues.marked[(t - 1) % slots] + now)
    skipped = queues.skipped.at[t % slots].set(skipped)
    until = _until(after, marked, skipped, t)
    # The flows together are first in, first out. Each flow is so, except for bytes that `share` rounds.
    out = fluid.share(jnp.sum(until - queues.left, axis=0), until - queues.left, outcome.released)
    marks = Marks(now, out, fluid.slots_ago(queues.released, links.rtt))
    later = MarkingQueues(after, marked, skipped, queues.left + out, fluid.prepend(queues.released, out))
    return later, outcome._replace(marks=marks)


def _marked(links, before, waiting, t, outcome):
    """Return the bytes (f, n) that the link marks in slot t, and the bytes accepted before the first of them.

    Args:
        links: The Links.
        before: The bytes that wait at the start of the slot, (n).
        waiting: The bytes that wait at its end, (n).
        t: The slot.
        outcome: The SlotOutcome of CBR-delay.
    """
    capacity, threshold = links.at(t)[0], links.threshold
    came = jnp.sum(outcome.accepted, axis=0)
    arrived = came + jnp.sum(outcome.dropped, axis=0)
    long = before > threshold, waiting > threshold
    growth = arrived - capacity
    # The share of the slot until the queue crosses the threshold.
    until = jnp.clip((threshold - before) / jnp.where(growth == 0, 1, growth), 0, 1)
    crossed = jnp.floor(jnp.where(long[0], until, 1 - until) * arrived).astype(jnp.int32) - (arrived - came)
    # In floats this number may be off by some bytes. These two bounds are exact.
    crossed = jnp.clip(crossed, jnp.maximum(0, waiting - threshold), jnp.clip(before + came - threshold, 0, came))
    total = jnp.where(long[0] & long[1], came, jnp.where(long[0] | long[1], crossed, 0))
    wish = jnp.floor(outcome.accepted * (total / jnp.maximum(came, 1))).astype(jnp.int32)
    now = fluid.share(total, wish, outcome.accepted)
    return now, jnp.where(long[0], 0, outcome.accepted - now)


def _until(queues, marked, skipped, t):
    """Return the marked bytes (f, n) among all the bytes that have been released by the end of slot t.

    All bytes that the link accepted by the end of the slot `ended` have been released. The next byte to be released
    arrived in the slot `at`, which follows.
    """
    slots = marked.shape[0]
    since = queues.accepted[t % slots] - queues.accepted  # the bytes accepted after the end of each slot
    whole = jnp.minimum(jnp.sum(since < queues.inside, axis=0), slots - 1)
    ended, at = (t - whole) % slots, (t - jnp.maximum(whole - 1, 0)) % slots
    passed = jnp.maximum(0, _at(since, ended) - queues.inside)
    there = _at(marked, at) - _at(marked, ended)
    return _at(marked, ended) + jnp.clip(passed - _at(skipped, at), 0, there)


def _at(column, slots):
    """Return, from values (H, f, n), the entries (f, n) of `slots` (f, n)."""
    return jnp.take_along_axis(column, slots[None], axis=0)[0]
