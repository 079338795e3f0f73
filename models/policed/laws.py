"""A token-bucket policer, then a drop-tail queue, for window senders (docs/reference/encoding.md, section 4)."""

from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType, SimpleNamespace

from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Start, Timer, Waste
from ccmatic.models.policer import BUCKET, lost_when_empty, refills_at_any_time

from ccmatic.base import InputError
from ccmatic.contracts import BYTES, Column, number
from ccmatic.logic import equal, every, implies

LOST = Column("Lp", BYTES, "bytes that the policer lost")

#: The fields of the base class that these laws do not read. The link serves at its rate while bytes wait, and may lose
#: any bytes that a full buffer or an empty bucket rejects. The laws apply to senders that do not pause.
_FIXED = ("jitter", "waste", "slack", "loss", "most_queue", "pauses", "flows")


@dataclass(frozen=True)
class Policed(CCAC2021):
    """A policer whose packets pass on to a link of constant rate with a drop-tail buffer.

    Packets may arrive at any time within a step. Like the laws of `policer_windows`, these laws allow more executions
    than a real policer has. So a property that holds on the model also holds for packets.

    Attributes:
        bucket: The size of the bucket in C·R_m.
        share: The rate of the tokens as a share of C.
    """

    name = "policed"
    parameters = MappingProxyType(
        {name: parameter for name, parameter in CCAC2021.parameters.items() if parameter.field not in _FIXED}
        | {"bucket": number("bucket"), "tokens": number("share")}
    )
    begins: Start = Start.ANYWHERE
    delay: DelayMeasurement = DelayMeasurement.OPEN_AT_FIRST
    timer: Timer = Timer.UNDETECTED_LOSS
    waste: Waste = Waste.CONSTANT_RATE
    bucket: Fraction = Fraction(1)
    share: Fraction = Fraction(1, 2)

    def __post_init__(self):
        super().__post_init__()
        if not 0 < self.share <= 1:
            raise InputError(f"tokens is {self.share}; expected a rate above 0, at most 1, in C")
        if not self.bucket > 0:
            raise InputError(f"bucket is {self.bucket}; expected a size above 0, in C·R_m")

    @property
    def policer(self):
        """The bucket in C·R_m, and the rate of its tokens as a share of C."""
        return self.bucket, self.share

    @property
    def observations(self):
        """The base class's observations, except C_U: the policer may lose bytes of a sender slower than the link."""
        return {name: each for name, each in super().observations.items() if name != "C_U"}

    @property
    def columns(self):
        """The columns of the base class, the tokens in the bucket, and the bytes that the policer lost."""
        return (BUCKET, LOST, *super().columns)

    def _losses(self, x):
        """Yield the laws of the policer, and the laws of a drop-tail buffer for the bytes that pass the policer."""
        size, buffer = self.bucket * self.round_trip(1) * x.C, x.beta
        passed = SimpleNamespace(
            C=self.share * x.C, beta=size, bucket=x.bucket, L=x.Lp, admitted=lambda t: x.A[t] - x.Lp[t]
        )
        if x.buffer.kind in ("any", "at least"):
            yield "buffer", 0, buffer >= (x.buffer.size or 0)
        yield "bucket_holds_a_packet", 0, size >= x.alpha
        for t in range(x.horizon):
            yield "bucket_is_within_size", t, every(x.bucket[t] >= 0, x.bucket[t] <= size)
            yield "policer_loses_some", t, every(x.Lp[t] >= 0, x.Lp[t] <= x.L[t])
            if buffer is not None:
                yield "queue_fits", t, x.admitted(t) <= self.tokens(x, t) + buffer
        for t in range(1, x.horizon):
            before, after = x.L[t - 1] - x.Lp[t - 1], x.L[t] - x.Lp[t]
            yield "losses_grow", t, every(x.Lp[t] >= x.Lp[t - 1], after >= before)
            yield "refills_at_rate", t, refills_at_any_time(passed, t)
            yield "lost_when_empty", t, lost_when_empty(passed, t)
            if buffer is None:
                yield "no_overflow", t, equal(after, before)
            else:
                full = self.tokens(x, t - 1) + buffer
                yield "only_overflow_is_lost", t, implies(after > before, x.admitted(t) >= full)


MODEL = Policed()
