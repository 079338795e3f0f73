"""A path that changes once, for window senders (docs/reference/encoding.md, section 4).

From some instant on, the link serves no bytes, for a time that may be 0. Then the link resumes, with another rate, R_m
or buffer.
"""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import ceil, floor
from types import MappingProxyType

from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Start, Timer
from ccmatic.models.window_sender import dupack_losses, sent_before

from ccmatic.base import InputError, exact
from ccmatic.contracts import BYTES, TIME, Column, Parameter, choice, number
from ccmatic.logic import either, equal, every, implies, no, some

#: The columns that show the change. Time counts in steps.
OFFERED = Column("G", BYTES, "bytes that the link could have served")
OUTAGE = Column("Z", TIME, "time without service so far", level=True)
SINCE = Column("P", TIME, "time since the change", level=True)


class Queue(Enum):
    """The fate of the bytes that wait at the change."""

    KEPT = "kept"
    LOST = "lost"


#: The smallest factor of each quantity, and whether the factor may be equal to it.
_SMALLEST = {"rate": (0, False), "rtt": (1, True), "room": (0, False)}


def _read_range(text):
    least, dots, most = text.partition("..")
    return exact(least), exact(most if dots else least)


def _is_in_range(field, least, most):
    """Return whether a field may have these factors."""
    smallest, included = _SMALLEST[field]
    return (smallest < least or (included and smallest == least)) and least <= most


def _range(field):
    def read(text):
        least, most = _read_range(text)
        if not _is_in_range(field, least, most):
            raise ValueError(text)
        return least, most

    smallest, included = _SMALLEST[field]
    bound = f"{'at least' if included else 'above'} {smallest}"
    return Parameter(field, read, f"a number such as 2, or a range such as 1..2, {bound}")


def _instants(text):
    if text == "any":
        return None
    earliest, latest = _read_range(text)
    if not 0 <= earliest <= latest:
        raise ValueError(text)
    return earliest, latest


#: The fields of the base class that these laws fix: one flow, and a full buffer that loses any part of the arriving
#: bytes.
_FIXED = ("flows", "slack", "loss", "most_queue", "pauses", "jitter", "begins", "delay", "timer", "before", "detection")

_NAMES = {"rate": "rate", "rtt": "rtt", "room": "buffer"}
_ONE = (Fraction(1), Fraction(1))


@dataclass(frozen=True)
class ChangingWindows(CCAC2021):
    """A path that changes once. The C, R_m and buffer of a query describe the path before the change.

    Attributes:
        rate: The least and the largest rate after the change, in C.
        rtt: The least and the largest R_m after the change, in R_m; at least 1.
        room: The least and the largest buffer after the change, in β.
        outage: The longest time without service before the change, in R_m.
        queue: The fate of the bytes that wait at the change.
        at: The earliest and the latest beginning of the outage, in R_m from the start. Without an outage,
            this is the instant of the change. None means any instant, or never.
    """

    name = "changing_windows"
    parameters = MappingProxyType(
        {name: parameter for name, parameter in CCAC2021.parameters.items() if parameter.field not in _FIXED}
        | {name: _range(field) for field, name in _NAMES.items()}
        | {"outage": number("outage", least=0), "queue": choice("queue", {each.value: each for each in Queue})}
        | {"at": Parameter("at", _instants, "'any', a number such as 2, or a range such as 1..3, at least 0")}
    )
    begins: Start = Start.ANYWHERE
    delay: DelayMeasurement = DelayMeasurement.OPEN_AT_FIRST
    timer: Timer = Timer.UNDETECTED_LOSS
    rate: tuple[Fraction, Fraction] = _ONE
    rtt: tuple[Fraction, Fraction] = _ONE
    room: tuple[Fraction, Fraction] = _ONE
    outage: Fraction = Fraction(0)
    queue: Queue = Queue.KEPT
    at: tuple[Fraction, Fraction] | None = None

    def __post_init__(self):
        super().__post_init__()
        for field in _SMALLEST:
            least, most = getattr(self, field)
            if not _is_in_range(field, least, most):
                raise InputError(f"{field} is {least}..{most}; expected {self.parameters[_NAMES[field]].expected}")

    @property
    def observations(self):
        """The observations of the base class. Beliefs about the path are omitted, because a change makes them false."""
        return {name: each for name, each in super().observations.items() if each.source is None}

    @property
    def columns(self):
        """The columns of the base class, and the columns that show the change."""
        return (*super().columns[:1], OFFERED, OUTAGE, SINCE, *super().columns[1:])

    @property
    def loses_waiting(self):
        """Whether the link loses the bytes that wait at the change."""
        return self.queue is Queue.LOST

    @property
    def since(self):
        """The name of the column with the time since the change."""
        return SINCE.name

    @property
    def least_horizon(self):
        """The least horizon that shows the longest outage, and one R_m after the latest change."""
        latest = self.at[1] if self.at else 0
        return ceil((latest + self.outage + 1) * self.round_trip(1)) + 1

    def constants_from(self, x, t):
        """Return the constants, which are the same at each step."""
        return x.constants

    def offered(self, x, t):
        """Return the bytes that the link could have served by t."""
        return x.G[t]

    def tokens(self, x, t):
        """Return the tokens that came by t and were not wasted."""
        return x.constants["tokens_at_first"] + x.G[t] - x.W[t]

    def laws(self, x):
        """Yield every law. If waiting bytes may be lost, weaker laws replace two laws of the base class."""
        weaker = ("not_detected_before_dupacks", "delay_is_time_since_sent") if self.loses_waiting else ()
        yield from (law for law in super().laws(x) if law.name not in weaker)
        if self.loses_waiting:
            yield from self._named(x, self._after_lost_queue(x))

    def network(self, x):
        """Yield the laws of the change and the laws of the path."""
        yield from self._change(x)
        yield from super().network(x)

    def _change(self, x):
        """Yield the laws of the clocks of outage and change, and of the bytes that the link could serve."""
        for t in range(x.history + 1):
            yield "begins_unchanged", t, every(equal(x.Z[t], 0), equal(x.P[t], 0))
        least, most = self.rate
        begin, end = (None, None) if self.at is None else (x.history + each * x.R for each in self.at)
        for t in range(x.horizon):
            yield "outage_is_bounded", t, x.Z[t] <= self.outage * x.R
            changed = x.Z[t] + x.P[t]
            if begin is not None:
                yield "begins_at_instant", t, every(changed <= max(0, t - begin), changed >= max(0, t - end))
            if not t:
                continue
            out, after = self._parts(x, t)
            before = 1 - out - after
            yield "clocks_run", t, every(out >= 0, after >= 0, before >= 0)
            yield "outage_lasts_until_change", t, implies(x.Z[t - 1] > 0, equal(before, 0))
            yield "change_is_for_ever", t, implies(x.P[t - 1] > 0, equal(after, 1))
            grown = x.G[t] - x.G[t - 1]
            bounds = every(grown >= x.C * (before + least * after), grown <= x.C * (before + most * after))
            yield "serves_at_rate_of_its_time", t, bounds

    @staticmethod
    def _parts(x, t):
        """Return two parts of step t: the part in the outage, and the part after the change."""
        return x.Z[t] - x.Z[t - 1], x.P[t] - x.P[t - 1]

    def _changes_within(self, x, t):
        """Return the condition that the link's rate is not constant throughout step t."""
        out, after = self._parts(x, t)
        if self.rate[0] < self.rate[1]:
            return some(after > 0, every(out > 0, out < 1))
        return some(every(out > 0, out < 1), every(after > 0, after < 1))

    def _extra(self, x):
        """Return the smallest and the largest delay of bytes by the change, in steps."""
        least, most = ((factor - 1) * x.R for factor in self.rtt)
        return floor(least), ceil(most)

    def _service(self, x):
        """Yield the laws of service.

        Bytes that the link admits after the change may arrive later than before, and all bytes arrive in order.
        """
        least, most = self._extra(x)
        for t in range(x.horizon):
            yield "served_after_tokens", t, x.S[t] <= self.tokens(x, t)
            for then in range(max(0, t - least), t):
                changed = x.P[then + 1] >= 1
                yield "served_after_change", t, implies(changed, x.S[t] <= self.tokens(x, then))
            for late in range(most + 1) if most else (0,):
                yield "served_within_jitter", t, self._in_time(x, t, t - x.D - late, late == most)
            if t:
                yield "waste_grows", t, x.W[t] >= x.W[t - 1]
                yield "waste_is_of_what_comes", t, self.tokens(x, t) >= self.tokens(x, t - 1)

    def _in_time(self, x, t, then, always):
        """Return the condition that bytes with a token by `then` are served by t, unless the change delays them."""
        if then < 0:
            return x.S[t] >= self.tokens(x, 0) + x.C * then
        served = x.S[t] >= self.tokens(x, then)
        return served if always else implies(equal(x.P[then], 0), served)

    def _waste(self, x):
        """Yield the laws of waste.

        If the rate changes in a step, the link may waste tokens before the bytes of this step arrive.
        """
        for t in range(1, x.horizon):
            tokens = self.tokens(x, t)
            idle = either(self._changes_within(x, t), x.admitted(t - 1) <= tokens, x.admitted(t) <= tokens)
            idle = some(idle, self._loses_queue(x, t))
            yield "no_waste_while_queued", t, implies(x.W[t] > x.W[t - 1], idle)
        for t in range(x.horizon) if self.waste.value == "constant-rate" else ():
            yield "no_token_is_kept", t, self.tokens(x, t) <= x.admitted(t)

    def _loses_queue(self, x, t):
        """Return the condition that the waiting bytes are lost in step t."""
        return self.loses_waiting and every(equal(x.P[t - 1], 0), x.P[t] > 0)

    def _losses(self, x):
        """Yield the laws of the buffer, whose size may change."""
        if x.beta is None:
            for t in range(1, x.horizon):
                yield "no_loss", t, equal(x.L[t], x.L[0])
            return
        if x.buffer.kind in ("any", "at least"):
            yield "buffer", 0, x.beta >= (x.buffer.size or 0)
        least, most = self.room
        smallest, largest = min(1, least), max(1, most)
        for t in range(x.horizon):
            tokens = self.tokens(x, t)
            if not t:
                yield "queue_fits", t, x.admitted(t) <= tokens + x.beta
                continue
            # If the queue is too long for the buffer after the change, it keeps its bytes, and accepts no further
            # bytes.
            drains = some(x.admitted(t) <= x.admitted(t - 1), x.admitted(t) <= tokens + most * x.beta)
            at_change = either(x.P[t - 1] > 0, drains, x.admitted(t) <= tokens + largest * x.beta)
            yield "queue_fits", t, either(x.P[t] > 0, at_change, x.admitted(t) <= tokens + x.beta)
            before, loses = self.tokens(x, t - 1), self._loses_queue(x, t)
            full = either(
                equal(x.P[t], 0),
                x.admitted(t) >= before + x.beta,
                either(
                    x.P[t - 1] > 0,
                    x.admitted(t) >= before + least * x.beta,
                    x.admitted(t) >= before + smallest * x.beta,
                ),
            )
            yield "only_overflow_is_lost", t, implies(x.L[t] > x.L[t - 1], some(full, loses))
            if self.loses_waiting:
                yield from self._lost_queue(x, t, loses)

    def _lost_queue(self, x, t, loses):
        """Yield the laws of waiting bytes: they are lost at the change, and at no other instant."""
        tokens, before = self.tokens(x, t), self.tokens(x, t - 1)
        sent = x.A[t] - x.A[t - 1]
        kept = some(x.admitted(t) >= x.admitted(t - 1), every(loses, x.admitted(t) >= before))
        yield "only_change_loses_queue", t, kept
        yield "change_loses_queue", t, implies(loses, x.admitted(t) <= tokens + sent)

    def _after_lost_queue(self, x):
        """Yield laws of detection and of delay that are true even if waiting bytes may be lost.

        A lost byte counts as admitted until its loss. So more bytes may be admitted by a step before the change than
        ever arrive.
        """
        (flow,) = x.flows
        found, dupacks = x.own[dupack_losses(1, 1).name], x.constants.get("dupacks", 0)
        dupacks = dupacks if self.dupacks is None else self.dupacks * flow.alpha
        for t in range(flow.R, x.horizon):
            for then, (reached, lost) in enumerate(sent_before(flow, t, dupacks)):
                stays = some(x.P[then] > 0, equal(x.P[t - flow.R], 0))
                law = implies(every(no(reached), stays), found[t] <= lost)
                yield "not_detected_before_dupacks", t, law
        for t in range(1, x.horizon):
            served = x.S[t] > x.S[t - 1]
            for k in range(1, t + 1):
                late = x.Q.at_least(t, k)
                yield "delay_is_time_since_sent", t, implies(every(served, late), x.S[t] <= x.admitted(t - k))
                arrives = every(served, x.S[t] <= x.A[t - k] - x.L[t])
                yield "delay_is_time_since_sent", t, implies(arrives, late)


MODEL = ChangingWindows()
