"""Many links at once, as fluids: flows share a drop-tail bottleneck in whole bytes, one time slot after another.

Within a slot each flow sends at a constant rate and the link serves at a constant rate. Closed formulas then give
exactly how many bytes wait, are dropped, and leave. These are whole bytes, and their sums are exact. Arrays have links
on their last axis and flows on the axis before it.

As in ccmatic's models, all propagation is behind the bottleneck. Bytes arrive at the bottleneck at once, and wait in a
FIFO queue. Then jitter may hold them, and the acknowledgement follows R_m later. Between the ends of slots, curves are
straight lines.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.contracts import MANY, SlotOutcome


class Queues(NamedTuple):
    """The bytes under way on n links at the end of a slot.

    Attributes:
        waiting: (n) Bytes at the bottleneck. A negative number is capacity that the link keeps.
        held: (n) Bytes behind the bottleneck that jitter holds.
        served: (J, n) Bytes served in the last J slots, the latest first.
        allowed: (n) Bytes that a schedule allows the link to release and that it has not released yet.
        inside: (f, n) Bytes of each flow, waiting or held.
        accepted: (H, f, n) All bytes accepted by the end of a slot, modulo 2^32. The index of slot t is t mod H.
        age: (n) The age, in slots, of the next byte to be released; H for any larger age.
        released: (P, f, n) Bytes released in the last P slots, the latest first. Senders do not know of them yet.
        dropped: (P, f, n) Bytes dropped in these slots.
        ages: (P, n) The ages at the ends of these slots.
    """

    waiting: Array
    held: Array
    served: Array
    allowed: Array
    inside: Array
    accepted: Array
    age: Array
    released: Array
    dropped: Array
    ages: Array


def begin(links, history, longest_rtt, longest_jitter):
    """Return the Queues before slot 0.

    Args:
        links: The Links.
        history: H, in slots, at least 1.
        longest_rtt: P, in slots, at least 1.
        longest_jitter: J, in slots, at least 1.
    """
    flows, n = links.rtt.shape
    none, zeros = jnp.zeros(n, jnp.int32), jnp.zeros((flows, n), jnp.int32)
    first = zeros.at[0].set(links.queue)
    return Queues(
        waiting=links.queue,
        held=none,
        served=jnp.zeros((longest_jitter, n), jnp.int32),
        allowed=none,
        inside=first,
        accepted=jnp.zeros((history, flows, n), jnp.int32).at[-1].set(first),
        age=jnp.zeros(n, jnp.float32),
        released=jnp.zeros((longest_rtt, flows, n), jnp.int32),
        dropped=jnp.zeros((longest_rtt, flows, n), jnp.int32),
        ages=jnp.zeros((longest_rtt, n), jnp.float32),
    )


#: The mean number of packets lost in a slot above which a normal distribution approximates it.
EXACT = 4


def advance(links, queues, t, sent):
    """Return the Queues after slot t, and its SlotOutcome. The flows send `send` (f, n) bytes evenly over the slot."""
    capacity, held, luck, released = links.at(t)
    # Random losses, the bottleneck's queue, and its overflow.
    unlucky = lost_at_random(links, sent, luck)
    arrived = sent - unlucky
    total = jnp.sum(arrived, axis=0)
    before = queues.waiting
    waiting = before + total - capacity
    dropped = jnp.maximum(0, waiting - links.buffer)
    waiting -= dropped
    if links.keeps is None:
        waiting = jnp.maximum(waiting, 0)
    else:
        waiting = jnp.where(links.keeps, jnp.maximum(waiting, -MANY), jnp.maximum(waiting, 0))
    overflow = share(dropped, _by_rate(dropped, arrived, total), arrived)
    came = total - dropped
    served = jnp.maximum(before, 0) + came - jnp.maximum(waiting, 0)
    # Bytes held by jitter, or by a schedule in its place.
    behind, served_lately = _held(links, queues, total, capacity, served, held)
    inside = jnp.maximum(waiting, 0) + behind
    allowed = queues.allowed
    if released is not None:
        most = allowed + released
        going = jnp.minimum(jnp.sum(queues.inside, axis=0) + came - inside, most)
        inside = jnp.sum(queues.inside, axis=0) + came - going
        behind = inside - jnp.maximum(waiting, 0)
        allowed = jnp.minimum(most - going, MANY)
    # The bytes that leave, first in, first out over all flows.
    accepted = arrived - overflow
    age, left, lately = _head(queues.accepted, t, accepted, inside)
    have = queues.inside + accepted
    gone = jnp.sum(have, axis=0) - inside
    out = share(gone, jnp.floor(have - left).astype(jnp.int32), have)
    outcome = SlotOutcome(
        acked=_slots_ago(queues.released, links.rtt),
        lost=_slots_ago(queues.dropped, links.rtt),
        delay=_slots_ago(jnp.broadcast_to(queues.ages[:, None], queues.released.shape), links.rtt),
        accepted=accepted,
        dropped=overflow,
        released=out,
        served=served,
    )
    after = Queues(
        waiting=waiting,
        held=behind,
        served=served_lately,
        allowed=allowed,
        inside=have - out,
        accepted=lately,
        age=age,
        released=_prepend(queues.released, out),
        dropped=_prepend(queues.dropped, overflow + unlucky),
        ages=_prepend(queues.ages, age),
    )
    return after, outcome


def share(total, wish, most):
    """Return integers (f, n), from 0 to `most`, as near to `wish` as possible. Their sums over flows are `total` (n).

    The sums of `most` must be at least `total`.
    """
    if most.shape[0] == 1:
        return total[None]
    wish = jnp.clip(wish, 0, most)
    ends = jnp.minimum(jnp.cumsum(wish, axis=0), total)
    given = jnp.diff(ends, axis=0, prepend=0)
    room = most - given
    missing = total - ends[-1]
    return given + jnp.clip(missing - (jnp.cumsum(room, axis=0) - room), 0, room)


def _by_rate(dropped, arrived, total):
    return jnp.floor(arrived * (dropped / jnp.maximum(total, 1))).astype(jnp.int32)


def lost_at_random(links, sent, luck):
    """Return the bytes of randomly lost whole packets, distributed like a Poisson process of this mean.

    For means below EXACT the function inverts the distribution. For larger means it uses a normal distribution.
    """
    if luck is None:
        return jnp.zeros_like(sent)
    mean = links.loss * sent / links.packet
    few = jnp.minimum(mean, EXACT)
    cumulative = term = jnp.exp(-few)
    count = (luck > cumulative).astype(jnp.int32)
    for k in range(1, 3 * EXACT):
        term = term * few * (1 / k)
        cumulative += term
        count += luck > cumulative
    normal = jnp.sqrt(2) * jax.lax.erf_inv(jnp.clip(2 * luck - 1, -1 + 1e-6, 1 - 1e-6))
    spread = jnp.floor(mean + jnp.sqrt(mean) * normal + 0.5).astype(jnp.int32)
    packets = jnp.where(mean > EXACT, spread, count)
    return jnp.clip(packets * links.packet, 0, sent)


def _held(links, queues, total, capacity, served, held):
    """Return the bytes held behind the bottleneck, and the bytes served in the last slots.

    Jitter never holds bytes that were served at least D ago.
    """
    if held is None:
        return jnp.zeros_like(served), queues.served
    within = jnp.clip(1 - links.jitter, 0, 1)
    early = jnp.minimum(jnp.ceil(capacity * within), jnp.maximum(queues.waiting, 0) + jnp.ceil(total * within)).astype(
        jnp.int32
    )
    lately = _prepend(queues.served, served)
    slots = jnp.arange(1, lately.shape[0] + 1)[:, None]
    whole = jnp.sum(jnp.where(slots <= links.jitter, lately, 0), axis=0)
    most = jnp.where(links.jitter < 1, jnp.maximum(served - early, 0), whole)
    behind = jnp.minimum(jnp.floor(held * most).astype(jnp.int32), queues.held + served)
    return jnp.minimum(behind, most), lately


def _head(lately, t, accepted, inside):
    """Return the position of the next byte to be released among the bytes accepted lately.

    Returns:
        The byte's age in slots, (n); the bytes of each flow accepted since, (f, n); and `lately` with slot t added.
    """
    slots = lately.shape[0]
    before = jax.lax.dynamic_index_in_dim(lately, (t - 1) % slots, keepdims=False)
    now = before + accepted
    after = jax.lax.dynamic_update_index_in_dim(lately, now, t % slots, 0)
    since = jnp.sum(now, axis=0) - jnp.sum(lately, axis=1)  # of (H, n): by the end of each slot but this one
    whole = jnp.minimum(jnp.sum(since < inside, axis=0), slots - 1)
    until = (t - 1 - whole) % slots
    above = now - _at(lately, until)
    below = now - _at(after, (until + 1) % slots)
    from_, to = jnp.sum(below, axis=0), jnp.sum(above, axis=0)
    part = jnp.clip((inside - from_) / jnp.maximum(to - from_, 1), 0, 1)
    return whole + part, below + part * (above - below), after


def _at(column, slots):
    """Return the entries of (n) slots, (f, n), from (H, f, n) values."""
    return jnp.take_along_axis(column, slots[None, None], axis=0)[0]


def _slots_ago(column, slots):
    """Return the entries from `slots` slots ago, (f, n), from (P, f, n) values of the last slots."""
    if column.shape[0] == 1:
        return column[0]
    return jnp.take_along_axis(column, slots[None] - 1, axis=0)[0]


def _prepend(column, latest):
    return jnp.concatenate([latest[None], column[:-1]])
