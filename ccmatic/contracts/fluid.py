"""The types in a model's fluid.py, which simulates many links at once in arrays, one time slot after another.

A fluid.py has two functions:

- `begin(links, history, longest_rtt, longest_jitter)` returns the queues before slot 0, a pytree of arrays. The
  arguments `history`, `longest_rtt` and `longest_jitter` are numbers of slots, each at least 1.
- `advance(links, queues, t, sent)` returns the queues after slot t and a SlotOutcome. The array `sent` has the shape
  (f, n), for f flows on each of n links. The array contains the bytes that each flow sends, evenly spread over the
  slot.

The arrays are JAX arrays; this module does not import JAX.
"""

from typing import Any, NamedTuple

Array = Any

#: More bytes than any link serves in one slot. A link that may release this many bytes has no limit.
MANY = 2**29


class Links(NamedTuple):
    """The behaviour of n links with f flows each, over an episode of T slots.

    Attributes:
        slot: Array (n). The length of a slot in seconds.
        capacity: Array (T, n). The bytes that the bottleneck may serve in each slot.
        buffer: Array (n). The buffer size β: the largest number of bytes that may wait.
        queue: Array (n). The bytes of the first flow that wait at the start.
        rtt: Array (f, n). The R_m of each flow in slots, at least 1.
        start: Array (f, n). The slot in which each flow arrives.
        stop: Array (f, n). The first slot in which each flow is gone.
        jitter: Array (n). The jitter D in slots. If D is at least one slot, it is rounded down to whole slots.
        held: Array (T, n). The fraction, from 0 to 1, of the bytes that jitter holds among those that it may hold; None
            if jitter holds no bytes.
        loss: Array (n). The share of packets that are lost at random before the bottleneck.
        luck: Array (T, f, n). Random numbers from 0 to 1 that determine the number of random losses; None for no random
            losses.
        burst: The bytes that may be lost at random in any interval, in addition to `loss`. Only models that bound
            random losses read it.
        threshold: Array (n). The waiting bytes above which a link marks the bytes that arrive; None if no link marks
            bytes.
        keeps: Array (n). The largest number of bytes of unused capacity that the link keeps for later, like the tokens
            of a policer or of an exported schedule; None if no link keeps any.
        released: Array (T, n). The largest number of bytes that a schedule lets each link release in each slot; None if
            no link has a schedule.
        packet: The size of a packet in bytes.
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
    burst: Array
    threshold: Array
    keeps: Array
    released: Array
    packet: Array

    def at(self, t: Any) -> tuple[Array, ...]:
        tables = (self.capacity, self.held, self.luck, self.released)
        return tuple(None if table is None else table[t] for table in tables)

    def of_flows(self, first: int, end: int) -> "Links":
        """Return the links as the flows from number `first` to before `end` see them."""
        rtt, start, stop = (rows[first:end] for rows in (self.rtt, self.start, self.stop))
        luck = None if self.luck is None else self.luck[:, first:end]
        return self._replace(rtt=rtt, start=start, stop=stop, luck=luck)


class Marks(NamedTuple):
    """The marked bytes of a time slot, each an array (f, n).

    Attributes:
        accepted: The bytes that the link accepted and marked in the slot.
        released: The marked bytes that the link released in the slot.
        acked: The marked bytes acknowledged to the senders in the slot.
    """

    accepted: Array
    released: Array
    acked: Array


class SlotOutcome(NamedTuple):
    """The outcome of a time slot.

    Attributes:
        acked: Array (f, n). The bytes acknowledged to the senders in the slot.
        lost: Array (f, n). The bytes whose loss the senders detect in the slot.
        delays: Two arrays (f, n). The queueing delays of the bytes acknowledged at the beginning and at the end of the
            slot, in slots.
        accepted: Array (f, n). The bytes that the link accepted in the slot.
        dropped: Array (f, n). The bytes that the full buffer dropped in the slot.
        released: Array (f, n). The bytes that the link released in the slot.
        served: Array (n). The bytes that the link served in the slot.
        unlucky: Array (f, n). The bytes that were lost at random in the slot.
        kept: Array (n). The bytes of unused capacity that the link keeps at the end of the slot.
        marks: The Marks; None if the link marks no bytes.
    """

    acked: Array
    lost: Array
    delays: tuple[Array, Array]
    accepted: Array
    dropped: Array
    released: Array
    served: Array
    unlucky: Array
    kept: Array
    marks: Marks | None = None
