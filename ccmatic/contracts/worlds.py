"""The worlds of a link: optional files beside its laws, which other tools use to simulate or fit the link.

`packets.h` simulates the link packet by packet, in C code. `fluid.py` simulates many links at once in arrays, one time
slot after another. `logs.py` computes the jitter with which the link explains stretches of packet logs at a link rate.
A model without such a file uses the file of its base class.

A fluid.py has two functions:

- `begin(links, history, longest_rtt, longest_jitter)` returns the queues before slot 0, a pytree of arrays. The
  arguments `history`, `longest_rtt` and `longest_jitter` are numbers of slots, each at least 1.
- `advance(links, queues, t, sent)` returns the queues after slot t and a SlotOutcome. The array `sent` has the shape
  (f, n), for f flows on each of n links. The array contains the bytes that each flow sends, evenly spread over the
  slot.

In a logs.py, the packets of a stretch have the numbers 1 … n, in the order of their deliveries. Packet i was sent at
a_i and delivered at d_i, and has s_i bytes. P_i is the number of bytes up to and including packet i, Q_i = P_i - s_i
the number of bytes before it, and x = 1/C. docs/reference/fit.md derives the functions of a logs.py:

- `least_jitter(rows, x, variation)` returns two things: an array of shape (rows,) with the smallest jitter of each row
  at x, and the Lines. `variation` is γ.
- `longest_per_byte(rows, x, early, largest)` is optional. The function lowers x until the propagation delay is not
  negative, for logs with one clock. `early` is the number of seconds by which d_i may be too early. `largest` is the
  number of bytes that the link may release at once.
- `departures(rows, x)` is optional. The function returns the time at which each packet leaves the bottleneck. `fit`
  infers queues from these times.

The arrays are JAX arrays in a fluid.py, and NumPy arrays in a logs.py; this module imports neither.
"""

import inspect
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ccmatic.base import InputError, definitions
from ccmatic.contracts.model import Model

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


@dataclass(frozen=True, eq=False)
class Rows:
    """Stretches of packet logs, one stretch per row. Each array has the shape (rows, packets).

    Times are in seconds from the first delivery of the stretch, and bytes are counted from its start. A row with fewer
    packets repeats its last packet with zero bytes, which affects no law.

    Attributes:
        sent: The sending times a_i.
        delivered: The delivery times d_i.
        through: The byte counts P_i.
        before: The byte counts Q_i.
    """

    sent: Array
    delivered: Array
    through: Array
    before: Array

    def __len__(self) -> int:
        return len(self.sent)

    def some(self, chosen: Any) -> "Rows":
        return Rows(*(column[chosen] for column in (self.sent, self.delivered, self.through, self.before)))


@dataclass(frozen=True, eq=False)
class Lines:
    """A lower bound on the smallest jitter of each row, as a function of x. The bound is the minimum of several lines.

    Attributes:
        value: Array (rows, lines). The value of each line at the given x.
        slope: Array (rows, lines). The slope of each line.
    """

    value: Array
    slope: Array


#: The names of the files.
PACKETS, FLUID, LOGS = "packets.h", "fluid.py", "logs.py"


def world(model: Model, name: str) -> Path:
    """Return the file of a model for one of the worlds."""
    places = folders(model)
    file = next((place / name for place in places if (place / name).is_file()), None)
    if file is None:
        raise InputError(f"the model {model.name} has no {name}; expected one beside its laws, in {places[0]}")
    return file


@cache
def load_fluid(model: Model) -> ModuleType:
    """Return a model's fluid.py, which has the functions that this module describes."""
    return _load(world(model, FLUID), "begin", "advance")


@cache
def load_logs(model: Model) -> ModuleType:
    """Return a model's logs.py, which has the functions that this module describes."""
    return _load(world(model, LOGS), "least_jitter")


def _load(file: Path, *functions: str) -> ModuleType:
    """Run a file and return its module. Raise InputError if the file lacks one of the functions."""
    module: ModuleType = definitions.run_file(f"{file.parent.name}_{file.stem}", file)
    for name in functions:
        if not hasattr(module, name):
            raise InputError(f"it defines no {name}; expected a function of this name", str(file))
    return module


def folders(model: Model) -> list[Path]:
    """Return the folders of a model's class and of its base classes, the nearest class first."""
    kinds = [kind for kind in type(model).__mro__ if issubclass(kind, Model) and kind is not Model]
    return list(dict.fromkeys(map(_folder, kinds)))


def _folder(kind: type) -> Path:
    """Return the folder that defines a class.

    Python does not record it for a class whose file was loaded by its path, but the functions of the class record it.
    """
    written = next((member.__code__ for member in vars(kind).values() if hasattr(member, "__code__")), None)
    return Path(written.co_filename if written else inspect.getfile(kind)).parent
