"""The interface of the senders' knowledge that estimates read. The package `ccmatic.learning.envs` implements it."""

from typing import Protocol

from jax import Array


class IntervalMeasures(Protocol):
    """The measurements of senders in an interval, as arrays (f, n); see `ccmatic.learning.envs.signals.Interval`."""

    @property
    def seconds(self) -> Array:
        """The length of the interval."""
        ...

    @property
    def sent(self) -> Array:
        """The number of bytes that were sent."""
        ...

    @property
    def acked(self) -> Array:
        """The number of bytes that were acknowledged."""
        ...

    @property
    def lost(self) -> Array:
        """The number of bytes that the sender has detected as lost."""
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
        """The previous interval."""
        ...

    def measure(self, name: str) -> Array:
        """Return the value of a shipped measure by name."""
        ...
