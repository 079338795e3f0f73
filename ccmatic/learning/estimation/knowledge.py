"""The part of senders' knowledge that estimates read, for many senders at once; `ccmatic.learning.envs` provides it."""

from typing import Protocol

from jax import Array


class IntervalMeasures(Protocol):
    """The measurements of senders in an interval, (f, n), as in `ccmatic.learning.envs.signals.Interval`."""

    @property
    def seconds(self) -> Array:
        """The length of the interval."""
        ...

    @property
    def sent(self) -> Array:
        """The bytes sent."""
        ...

    @property
    def acked(self) -> Array:
        """The bytes acknowledged."""
        ...

    @property
    def lost(self) -> Array:
        """The bytes that the sender has detected as lost."""
        ...

    @property
    def rtt_end(self) -> Array:
        """The RTT of the last acknowledged byte, in seconds."""
        ...


class SenderKnowledge(Protocol):
    """The knowledge of senders after an interval."""

    @property
    def now(self) -> IntervalMeasures:
        """The latest interval."""
        ...

    @property
    def before(self) -> IntervalMeasures:
        """The interval before."""
        ...

    def measure(self, name: str) -> Array:
        """Return a shipped measure by name."""
        ...
