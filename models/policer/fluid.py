"""Many policers at once, as fluids: a policer is a bottleneck without a queue that keeps unused capacity as tokens.

The bucket is full at first. `links.buffer` is its size β.
"""

import jax.numpy as jnp
from ccmatic.models.cbr_delay import fluid


def begin(links, history, longest_rtt, longest_jitter):
    """Return the Queues before slot 0, as the function of CBR-delay does. Negative waiting bytes are tokens."""
    queues = fluid.begin(links, history, longest_rtt, longest_jitter)
    return queues._replace(waiting=-links.buffer)


def advance(links, queues, t, sent):
    """Return the Queues after slot t, and the SlotOutcome."""
    bottleneck = links._replace(buffer=jnp.zeros_like(links.buffer), keeps=links.buffer)
    return fluid.advance(bottleneck, queues, t, sent)
