"""What a model's fluid.py computes with: arrays of what many links do at once, a slot of time at a time.

A fluid.py has two functions:

- `begin(links, history, longest_rtt, longest_jitter)` returns the queues before slot 0, a pytree of arrays. The last
  three arguments are in slots, at least 1 each.
- `advance(links, queues, t, sent)` returns the queues after slot t, in which the flows send (f, n) bytes evenly, and
  what was SlotOutcome.

Arrays are of JAX, which these types do not import.
"""

from typing import Any, NamedTuple

Array = Any

#: More bytes than any link has in one slot; a permission to release that limits nothing.
MANY = 2**29


class Links(NamedTuple):
    """What links do in an episode, T slots of n links with f flows each.

    slot:      (n) how long a slot is, in seconds.
    capacity:  (T, n) bytes that the bottleneck may serve in each slot.
    buffer:    (n) β, bytes that may wait. queue: (n) those of the first flow that do at first.
    rtt:       (f, n) R_m of each flow, in slots, from 1 on.
    start, stop: (f, n) the slot in which a flow comes, and that in which it is gone.
    jitter:    (n) D, in slots. Of D of a slot or more, whole slots are used.
    held:      (T, n) how much of what jitter may hold is held, from 0 to 1; None: none of it.
    loss:      (n) the share of packets that is lost at random, before the bottleneck.
    luck:      (T, f, n) from 0 to 1, by which it is decided how many; None: none is.
    keeps:     (n) whether capacity that nobody uses is kept, as the tokens of an exported schedule are; None: nowhere.
    released:  (T, n) bytes that a schedule lets go in each slot, at most; None: no link has a schedule.
    packet:    bytes of a packet.
    """

    slot: Array
    capacity: Array
    buffer: Array
    queue: Array
    rtt: Array
    start: Array
    stop: Array
    jitter: Array
    held: Array
    loss: Array
    luck: Array
    keeps: Array
    released: Array
    packet: Array

    def at(self, t: Any) -> tuple[Array, ...]:
        """What they do in one slot, by its number: (capacity, held, luck, released)."""
        tables = (self.capacity, self.held, self.luck, self.released)
        return tuple(None if table is None else table[t] for table in tables)


class SlotOutcome(NamedTuple):
    """What became of a slot.

    What the senders come to know, (f, n): bytes acknowledged, bytes known to be lost, and the queueing delay of the
    last byte acknowledged, in slots. What the link did, (f, n): bytes accepted, dropped by the full buffer, released;
    and (n) bytes served.
    """

    acked: Array
    lost: Array
    delay: Array
    accepted: Array
    dropped: Array
    released: Array
    served: Array
