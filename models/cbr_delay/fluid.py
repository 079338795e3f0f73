"""Many links at once, as fluids: flows that share a drop-tail bottleneck, in whole bytes, a slot of time at a time.

Within a slot each flow sends at one rate and the link serves at one, so that what waits, what is dropped and what
leaves follow in closed form, exactly; all are whole bytes, none of which is lost count of. Arrays have the links as
their last axis, flows as the one before.

As in ccmatic's models all propagation is behind the bottleneck: what is sent arrives there at once, waits first-in
first-out, may be held by jitter, and is acknowledged R_m later. Between the ends of slots curves are straight lines.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.contracts import MANY, SlotOutcome


class Queues(NamedTuple):
    """What is under way on n links, at the end of a slot; bytes.

    waiting:   (n) at the bottleneck; below 0 where capacity is kept.
    held:      (n) behind it, by jitter.
    served:    (J, n) served in the last J slots, the latest first.
    allowed:   (n) what a schedule allows to release and is not used.
    inside:    (f, n) of each flow, waiting or held.
    accepted:  (H, f, n) all accepted by the end of a slot, modulo 2^32: slot t stands at t mod H.
    age:       (n) how long ago, in slots, the byte that is released next was sent; H where longer.
    released, dropped, ages: (P, f, n), (P, f, n), (P, n) of the last P slots, the latest first: not yet known to
    senders.
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
    """The Queues before slot 0. history, longest_rtt, longest_jitter: H, P and J, in slots; at least 1 each."""
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


#: Packets lost in a slot, on average, beyond which their number is taken as normal.
EXACT = 4


def advance(links, queues, t, sent):
    """One slot, number t, in which the flows send (f, n) bytes evenly: the Queues after it, and its SlotOutcome."""
    capacity, held, luck, released = links.at(t)
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
    behind, served_lately = _held(links, queues, total, capacity, served, held)
    inside = jnp.maximum(waiting, 0) + behind
    allowed = queues.allowed
    if released is not None:
        most = allowed + released
        going = jnp.minimum(jnp.sum(queues.inside, axis=0) + came - inside, most)
        inside = jnp.sum(queues.inside, axis=0) + came - going
        behind = inside - jnp.maximum(waiting, 0)
        allowed = jnp.minimum(most - going, MANY)
    accepted = arrived - overflow
    age, left, lately = _head(queues.accepted, t, accepted, inside)
    have = queues.inside + accepted
    gone = jnp.sum(have, axis=0) - inside
    out = share(gone, jnp.floor(have - left).astype(jnp.int32), have)
    seen = SlotOutcome(
        acked=_lagging(queues.released, links.rtt),
        lost=_lagging(queues.dropped, links.rtt),
        delay=_lagging(jnp.broadcast_to(queues.ages[:, None], queues.released.shape), links.rtt),
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
        released=_then(queues.released, out),
        dropped=_then(queues.dropped, overflow + unlucky),
        ages=_then(queues.ages, age),
    )
    return after, seen


def share(total, wish, most):
    """(f, n) whole numbers, each from 0 to `most`, that sum up to `total` (n): as near to `wish` as that is. The `most`
    have to sum up to `total` at least."""
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
    """Bytes of whole packets, of which so many are lost as of a Poisson process of this mean: below EXACT by inverting
    its distribution, above as a normal one."""
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
    """(bytes held behind the bottleneck, those served in the last slots): what was served D ago or before is not."""
    if held is None:
        return jnp.zeros_like(served), queues.served
    within = jnp.clip(1 - links.jitter, 0, 1)
    early = jnp.minimum(jnp.ceil(capacity * within), jnp.maximum(queues.waiting, 0) + jnp.ceil(total * within)).astype(
        jnp.int32
    )
    lately = _then(queues.served, served)
    slots = jnp.arange(1, lately.shape[0] + 1)[:, None]
    whole = jnp.sum(jnp.where(slots <= links.jitter, lately, 0), axis=0)
    most = jnp.where(links.jitter < 1, jnp.maximum(served - early, 0), whole)
    behind = jnp.minimum(jnp.floor(held * most).astype(jnp.int32), queues.held + served)
    return jnp.minimum(behind, most), lately


def _head(lately, t, accepted, inside):
    """Where in what was accepted lately the byte that is released next stands: its age in slots, (n), and the bytes of
    each flow accepted since, (f, n). And what was accepted lately, with that of slot t."""
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
    """Of (H, f, n) values those of (n) slots: (f, n)."""
    return jnp.take_along_axis(column, slots[None, None], axis=0)[0]


def _lagging(column, slots):
    """Of (P, f, n) values of the last slots, those of so many, (f, n), before this one."""
    if column.shape[0] == 1:
        return column[0]
    return jnp.take_along_axis(column, slots[None] - 1, axis=0)[0]


def _then(column, latest):
    return jnp.concatenate([latest[None], column[:-1]])
