"""The types of a model's fluid.py: arrays that describe many links at once, one time slot after another.

A fluid.py has two functions:

- `begin(links, history, longest_rtt, longest_jitter)` returns the queues before slot 0, a pytree of arrays. The last
  three arguments are in slots, at least 1 each.
- `advance(links, queues, t, sent)` returns the queues after slot t and a SlotOutcome. `sent` has the bytes that each
  flow sends, of shape (f, n); they leave evenly over the slot.

The arrays are JAX arrays; this module does not import JAX.
"""

from typing import Any, NamedTuple

Array = Any

#: More bytes than any link serves in one slot, so that permission to release them limits nothing.
MANY = 2**29


class Links(NamedTuple):
    """The behaviour of n links with f flows each, over an episode of T slots.

    Attributes:
        slot: (n) The length of a slot in seconds.
        capacity: (T, n) The bytes that the bottleneck may serve in each slot.
        buffer: (n) β, the bytes that may wait.
        queue: (n) The first flow's bytes that wait at the start.
        rtt: (f, n) R_m of each flow in slots, at least 1.
        start: (f, n) The slot in which a flow arrives.
        stop: (f, n) The slot from which on a flow is gone.
        jitter: (n) D in slots. If it is at least one slot, only its whole slots count.
        held: (T, n) The held share of the bytes that jitter may hold, from 0 to 1; None holds nothing.
        loss: (n) The share of packets lost at random before the bottleneck.
        luck: (T, f, n) Random numbers from 0 to 1 that decide the number of random losses; None for no such losses.
        keeps: (n) Whether unused capacity is kept, like the tokens of an exported schedule; None keeps nothing.
        released: (T, n) The largest number of bytes that a schedule releases in each slot; None if no link has a
            schedule.
        packet: The bytes of a packet.
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
        """Return the tables' entries for slot t: (capacity, held, luck, released)."""
        tables = (self.capacity, self.held, self.luck, self.released)
        return tuple(None if table is None else table[t] for table in tables)


class SlotOutcome(NamedTuple):
    """The outcome of one slot.

    Attributes:
        acked: (f, n) Bytes acknowledged to the senders.
        lost: (f, n) Bytes whose loss the senders detect.
        delay: (f, n) The queueing delay of the last byte acknowledged, in slots.
        accepted: (f, n) Bytes that the link accepted.
        dropped: (f, n) Bytes that the full buffer dropped.
        released: (f, n) Bytes that the link released.
        served: (n) Bytes that the link served.
    """

    acked: Array
    lost: Array
    delay: Array
    accepted: Array
    dropped: Array
    released: Array
    served: Array
