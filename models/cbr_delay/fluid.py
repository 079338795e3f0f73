"""Many links at once, as fluids: on each link, flows share a drop-tail bottleneck in whole bytes, slot by slot.

Within a slot each flow sends at a constant rate and the link serves at a constant rate. Closed formulas then give the
exact numbers of bytes that wait, are dropped, and leave. All these numbers are whole bytes, and their sums are exact.
The last axis of each array numbers the links, and the second to last axis the flows.

As in ccmatic's models, all propagation is behind the bottleneck. Bytes arrive at the bottleneck at once, and wait in a
FIFO queue. Then jitter may hold the bytes, and their acknowledgement follows R_m later. Between the ends of slots, the
cumulative curves are straight lines.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.contracts import MANY, SlotOutcome


class Queues(NamedTuple):
    """The bytes on their way through n links at the end of a slot.

    Attributes:
        waiting: Array (n). Bytes at the bottleneck. A negative number is capacity that the link keeps for later.
        held: Array (n). Bytes that jitter holds behind the bottleneck.
        served: Array (J, n). Bytes served in each of the last J slots, the latest slot first.
        allowed: Array (n). Bytes that the link may release under its schedule and has not released yet.
        inside: Array (f, n). Bytes of each flow that wait at the bottleneck or that jitter holds.
        accepted: Array (H, f, n). Total bytes accepted by the end of each of the last H slots, modulo 2^32. Slot t has
            the index t mod H.
        age: Array (n). The age, in slots, of the next byte to be released. H stands for any larger age.
        released: Array (P, f, n). Bytes released in each of the last P slots, the latest slot first. Their
            acknowledgements have not reached the senders yet.
        dropped: Array (P, f, n). Bytes dropped in each of the last P slots.
        ages: Array (P + 1, n). The values of `age` at the ends of the last P + 1 slots.
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
        history: H, the number of slots that `accepted` covers; at least 1.
        longest_rtt: P, the longest R_m in slots; at least 1.
        longest_jitter: J, the largest jitter in slots; at least 1.
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
        ages=jnp.zeros((longest_rtt + 1, n), jnp.float32),
    )


#: The largest mean of lost packets per slot for which their number has a Poisson distribution. Above it, a normal
#: distribution approximates the number.
EXACT = 4


def advance(links, queues, t, sent):
    """Return the Queues after slot t, and the SlotOutcome.

    In the slot, each flow sends its number of bytes in `sent` (f, n) evenly. Random losses come before the bottleneck.
    """
    _, _, luck, _ = links.at(t)
    return advance_without(lost_at_random(links, sent, luck), links, queues, t, sent)


def advance_without(unlucky, links, queues, t, sent):
    """Return what `advance` does for given numbers of bytes (f, n) that are lost before the bottleneck."""
    capacity, held, _, released = links.at(t)
    arrived = sent - unlucky
    total = jnp.sum(arrived, axis=0)
    before = queues.waiting
    waiting = before + total - capacity
    dropped = jnp.maximum(0, waiting - links.buffer)
    waiting -= dropped
    waiting = jnp.maximum(waiting, 0 if links.keeps is None else -links.keeps)
    overflow = share(dropped, _by_rate(dropped, arrived, total), arrived)
    came = total - dropped
    served = jnp.maximum(before, 0) + came - jnp.maximum(waiting, 0)
    # The bytes that jitter holds, or that a schedule holds instead.
    behind, served_lately = _held(links, queues, total, capacity, served, held)
    inside = jnp.maximum(waiting, 0) + behind
    allowed = queues.allowed
    if released is not None:
        most = allowed + released
        going = jnp.minimum(jnp.sum(queues.inside, axis=0) + came - inside, most)
        inside = jnp.sum(queues.inside, axis=0) + came - going
        behind = inside - jnp.maximum(waiting, 0)
        allowed = jnp.minimum(most - going, MANY)
    # The bytes that leave. All flows together are first in, first out.
    accepted = arrived - overflow
    age, left, lately = _head(queues.accepted, t, accepted, inside)
    have = queues.inside + accepted
    gone = jnp.sum(have, axis=0) - inside
    out = share(gone, jnp.floor(have - left).astype(jnp.int32), have)
    ages = jnp.broadcast_to(queues.ages[:, None], (queues.ages.shape[0], *sent.shape))
    outcome = SlotOutcome(
        acked=slots_ago(queues.released, links.rtt),
        lost=slots_ago(queues.dropped, links.rtt),
        delays=(slots_ago(ages, links.rtt + 1), slots_ago(ages, links.rtt)),
        accepted=accepted,
        dropped=overflow,
        released=out,
        served=served,
        unlucky=unlucky,
        kept=jnp.maximum(-waiting, 0),
    )
    after = Queues(
        waiting=waiting,
        held=behind,
        served=served_lately,
        allowed=allowed,
        inside=have - out,
        accepted=lately,
        age=age,
        released=prepend(queues.released, out),
        dropped=prepend(queues.dropped, overflow + unlucky),
        ages=prepend(queues.ages, age),
    )
    return after, outcome


def share(total, wish, most):
    """Return integers (f, n) near `wish`, from 0 to `most`, whose sums over flows are `total` (n).

    For each link, the sum of `most` over the flows must be at least `total`.
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
    """Return the bytes that are lost at random, in whole packets.

    The number of packets approximates a Poisson distribution. If the mean is below EXACT, the function inverts the
    Poisson distribution. Otherwise the function uses a normal one.
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
    """Return the bytes that jitter holds behind the bottleneck, and the bytes served in the last slots.

    Jitter never holds bytes that were served at least D ago.
    """
    if held is None:
        return jnp.zeros_like(served), queues.served
    within = jnp.clip(1 - links.jitter, 0, 1)
    may = jnp.maximum(-queues.waiting, 0) + jnp.ceil(capacity * within)
    early = jnp.minimum(may, jnp.maximum(queues.waiting, 0) + jnp.ceil(total * within)).astype(jnp.int32)
    lately = prepend(queues.served, served)
    slots = jnp.arange(1, lately.shape[0] + 1)[:, None]
    whole = jnp.sum(jnp.where(slots <= links.jitter, lately, 0), axis=0)
    most = jnp.where(links.jitter < 1, jnp.maximum(served - early, 0), whole)
    behind = jnp.minimum(jnp.floor(held * most).astype(jnp.int32), queues.held + served)
    return jnp.minimum(behind, most), lately


def _head(lately, t, accepted, inside):
    """Return the position of the next byte to be released, among the recently accepted bytes.

    Returns:
        The byte's age in slots, (n); the bytes of each flow accepted after this byte, (f, n); and `lately` with slot t
        added.
    """
    slots = lately.shape[0]
    before = jax.lax.dynamic_index_in_dim(lately, (t - 1) % slots, keepdims=False)
    now = before + accepted
    after = jax.lax.dynamic_update_index_in_dim(lately, now, t % slots, 0)
    since = jnp.sum(now, axis=0) - jnp.sum(lately, axis=1)  # of (H, n): by the end of each slot except slot t
    whole = jnp.minimum(jnp.sum(since < inside, axis=0), slots - 1)
    until = (t - 1 - whole) % slots
    above = now - _at(lately, until)
    below = now - _at(after, (until + 1) % slots)
    from_, to = jnp.sum(below, axis=0), jnp.sum(above, axis=0)
    part = jnp.clip((inside - from_) / jnp.maximum(to - from_, 1), 0, 1)
    return whole + part, below + part * (above - below), after


def _at(column, slots):
    """Return, from values of shape (H, f, n), the entries of `slots`, one slot per link (n); the result is (f, n)."""
    return jnp.take_along_axis(column, slots[None, None], axis=0)[0]


def slots_ago(column, slots):
    """Return, from values (P, f, n) of the last P slots, the entries (f, n) that are `slots` slots old."""
    if column.shape[0] == 1:
        return column[0]
    return jnp.take_along_axis(column, slots[None] - 1, axis=0)[0]


def prepend(column, latest):
    """Return values (P, …) of the last P slots after another slot, whose value is `latest`."""
    return jnp.concatenate([latest[None], column[:-1]])
