"""What estimates read of the knowledge of many senders at once, which `ccmatic.learning.envs` fills."""

from typing import Protocol

from jax import Array


class IntervalMeasures(Protocol):
    """What senders measured in an interval, (f, n), as `ccmatic.learning.envs.signals.Interval` says."""

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
        """The bytes that the sender knows to be lost."""
        ...

    @property
    def rtt_end(self) -> Array:
        """The RTT of the last byte acknowledged, in seconds."""
        ...


class SenderKnowledge(Protocol):
    """What senders know after an interval."""

    @property
    def now(self) -> IntervalMeasures:
        """The latest interval."""
        ...

    @property
    def before(self) -> IntervalMeasures:
        """The interval before."""
        ...

    def measure(self, name: str) -> Array:
        """Return a shipped measure by its name."""
        ...
