"""Many links at once, as fluids, that lose packets by chance in front of the bottleneck of CBR-delay.

As in packets.h, an allowance bounds the losses of each link. It grows by a share of the bytes sent, up to the bytes of
a burst, and each lost byte takes one.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from ccmatic.models.cbr_delay import fluid
from jax import Array

#: A factor below 1 by which a product of two numbers in float32 never exceeds the exact product.
DOWN = 1 - 2**-22

#: The choice of bursts reads bits of a random number that hardly affect the number of random losses.
BITS = 2**12


class LossyQueues(NamedTuple):
    """The bytes on their way, and the allowances.

    Attributes:
        queues: The Queues of CBR-delay.
        allowance: Array (n). The bytes that chance may lose at once.
    """

    queues: Any
    allowance: Array


def begin(links, history, longest_rtt, longest_jitter):
    """Return the LossyQueues before slot 0."""
    return LossyQueues(fluid.begin(links, history, longest_rtt, longest_jitter), jnp.zeros_like(links.buffer))


def advance(links, queues, t, sent):
    """Return the LossyQueues after slot t, and the SlotOutcome."""
    _, _, luck, _ = links.at(t)
    wanted = fluid.lost_at_random(links, sent, luck)
    total = jnp.sum(sent, axis=0)
    have = queues.allowance + jnp.floor(links.loss * total * DOWN).astype(jnp.int32)
    lost = _packets(links, wanted, luck, have, total) * links.packet
    after, outcome = fluid.advance_without(fluid.share(lost, wanted, sent), links, queues.queues, t, sent)
    return LossyQueues(after, jnp.minimum(have - lost, links.burst)), outcome


def _packets(links, wanted, luck, have, total):
    """Return the number of packets (n) that chance loses on each link.

    The allowance `have` bounds this number. The link also loses the packets that would not fit into the allowance. If
    random losses occur, every other time a burst takes the whole allowance.
    """
    most = jnp.minimum(have, total) // links.packet
    least = jnp.minimum(jnp.maximum(-((links.burst - have) // links.packet), 0), most)
    count = jnp.sum(wanted, axis=0) // links.packet
    bursts = (luck[0] * BITS) % 1 < 1 / 2
    return jnp.clip(jnp.where(bursts & (count > 0), most, count), least, most)
