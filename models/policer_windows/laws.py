"""A token-bucket policer for window senders (docs/reference/encoding.md, section 4)."""

from dataclasses import dataclass
from types import MappingProxyType

from ccmatic.models.beliefs.link_rate import sender_link_rate
from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Start, Timer
from ccmatic.models.policer import BUCKET, lost_when_empty, most_measured, refills_at_any_time, served_within_jitter

from ccmatic.logic import implies

#: The fields of the base class that these laws do not read: no byte waits for a token, and no token is hidden. The
#: law about delays is false for applications that pause.
_FIXED = ("jitter", "waste", "slack", "loss", "most_queue", "pauses")


@dataclass(frozen=True)
class PolicerWindows(CCAC2021):
    """The policer for window senders, whose packets may arrive at any times within a step."""

    name = "policer_windows"
    store = "bucket"
    parameters = MappingProxyType(
        {name: parameter for name, parameter in CCAC2021.parameters.items() if parameter.field not in _FIXED}
    )
    begins: Start = Start.ANYWHERE
    delay: DelayMeasurement = DelayMeasurement.OPEN_AT_FIRST
    timer: Timer = Timer.UNDETECTED_LOSS

    @property
    def observations(self):
        """The observations of CCAC2021, except that a burst may raise the lower bound C_L above the link's rate C."""
        lower, _ = sender_link_rate(most_measured)
        return {**super().observations, lower.name: lower}

    @property
    def columns(self):
        """The columns: the tokens in the bucket, instead of wasted tokens."""
        return (BUCKET, *super().columns[1:])

    @property
    def constants(self):
        """The constants of CCAC2021, without the count of tokens."""
        return tuple(name for name in super().constants if name != "tokens_at_first")

    def constants_from(self, x, t):
        """Return the constants, which are the same at each step."""
        return x.constants

    def tokens(self, x, t):
        """Return the bytes that the policer has passed."""
        return x.admitted(t)

    def _service(self, x):
        """Yield the laws of service, including the law that no byte waits for a token."""
        yield "bucket_holds_a_packet", 0, x.beta >= x.alpha
        yield from served_within_jitter(x)
        if x.Q is None:
            return
        for t in range(x.horizon):
            late, unknown = x.Q.at_least(t, x.D + 1), x.Q.exactly(t, x.horizon)
            yield "no_byte_waits", t, implies(late, unknown)

    def _waste(self, x):
        """Yield the laws of the tokens in the bucket."""
        for t in range(1, x.horizon):
            yield "refills_at_rate", t, refills_at_any_time(x, t)

    def _losses(self, x):
        """Yield the laws of losses."""
        if x.buffer.kind in ("any", "at least"):
            yield "bucket", 0, x.beta >= (x.buffer.size or 0)
        for t in range(1, x.horizon):
            yield "lost_when_empty", t, lost_when_empty(x, t)


MODEL = PolicerWindows()
