"""Traces whose values are in bytes and seconds, and the link that two formats need.

The link of the formats `schedule` and `mahimahi` is one FIFO queue for all flows, which drops excess bytes.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from math import ceil

from ccmatic import controllers
from ccmatic.base import InputError
from ccmatic.contracts import Model, load_definition


@dataclass(frozen=True)
class Scale:
    """The concrete units for a trace.

    Attributes:
        rate: The link's rate C in bytes per second.
        rtt: The propagation delay R_m in seconds.
        packet: The whole number of bytes in a packet.
    """

    rate: Fraction
    rtt: Fraction
    packet: int

    def __post_init__(self):
        if self.rate <= 0 or self.rtt <= 0 or self.packet < 1:
            raise InputError("rate, rtt and mss have to be more than 0")
        if self.bdp < self.packet:
            bits, us = ceil(self.packet / self.rtt * 8), ceil(self.packet / self.rate * 10**6)
            raise InputError(
                f"at this scale a step, rate·rtt, is {number(self.bdp)} bytes, less than a packet of {self.packet}; "
                f"expected a rate of {bits}bit or an rtt of {us}us, or more"
            )

    @property
    def bdp(self):
        return self.rate * self.rtt


class ScaledTrace:
    """A trace in concrete units: the common basis of all export formats. All numbers are Fractions.

    Attributes:
        step: The number of seconds in a step of the trace.
        byte: The number of bytes in the trace's unit, which is C times a step.
        columns: Cumulative bytes of all flows together at t = 0 … horizon-1: `A` (sent), `S` (served), `L` (lost), `K`
            (tokens) and, if the trace has it, `Ld` (detected losses). `A`, `S` and `K` count from the bytes served at t
            = 0. `K` omits tokens that are wasted later, so that `K` never falls.
        flows: The same columns for each flow, without `K`, if there are several flows; otherwise empty.
        through: A - L, the position of the last byte that was sent and not lost.
        packet_limit: The packet size MSS in bytes.
        jitter: The jitter D in seconds.
        buffer: The buffer β in bytes, or None if it is infinite.
        queue: The bytes that are sent and not yet served at t = 0.
        allow_code: Whether the trace's model may be a file, whose code then runs, as in `definitions.load`.
    """

    def __init__(self, trace, scale, allow_code=False):
        self.trace, self.scale, self.allow_code = trace, scale, allow_code
        constants = trace.constants
        for name in ("C", "MSS"):
            if constants[name] <= 0:
                raise InputError(f"the trace's {name} is {constants[name]}; expected a number > 0")
        if constants.get("beta", 0) < 0:
            raise InputError(f"the trace's beta is {constants['beta']}; expected a number of at least 0")
        if trace.horizon < 2:
            raise InputError(f"the trace has a horizon of {trace.horizon}, expected 2 or more")
        self.byte = scale.bdp / (constants["C"] * constants["R_m"])
        self.step = scale.rtt / constants["R_m"]
        self.packet_limit, self.jitter = constants["MSS"] * self.byte, constants["D"] * self.step
        self.buffer = constants["beta"] * self.byte if "beta" in constants else None
        self.flows, self.columns = self._columns()
        self.through = tuple(sent - lost for sent, lost in zip(self.columns["A"], self.columns["L"], strict=True))
        self.queue = self.through[0]
        for t in range(trace.horizon):
            self._check(t)

    @cached_property
    def model(self):
        return load_definition("models", "MODEL", self.trace.query.get("model"), self.allow_code)

    @property
    def suffixes(self):
        """The suffixes of the flows' columns: the number of each flow, from 1; a single flow has no suffix."""
        return list(map(str, range(1, self.model.flows + 1))) if self.model.flows > 1 else [""]

    @cached_property
    def state(self):
        """The unit of each column that holds a state of a sender."""
        if self.trace.controller is None:
            return {}
        observations = self.model.observations
        controller = controllers.parse(self.trace.controller, "controller", beliefs=(), observations=observations)
        numbers = enumerate(self.suffixes, 1)
        return {
            f"{memory.name}{suffix}": memory.unit
            for number, suffix in numbers
            for memory in controller.state
            if memory.flow in (None, number)
        }

    def column(self, name):
        if name not in self.trace.columns:
            raise InputError(f"the trace has no column {name}")
        return self.trace.columns[name]

    @property
    def steps(self):
        return self.trace.horizon - 1

    def instant(self, t):
        return t * self.step

    def inflight(self):
        """The bytes in flight beyond the propagation delay at each t: A - L - S (sent - lost - served)."""
        return tuple(sent - served for sent, served in zip(self.through, self.columns["S"], strict=True))

    def full(self, t):
        """Return the interval within step t during which the buffer is full. The step must have losses.

        The interval is a pair: its beginning and its end, as shares of the step.

        Within a step, all curves are straight, with one exception: in a step with a loss, the bytes sent arrive evenly
        until the end of this interval. If the buffer is full at the end of the step, the interval ends there.
        Otherwise, the buffer has free room at the end of the step. The interval then ends at the instant after which K
        grows by exactly this room. During the interval, A - L grows as fast as K.
        """
        K, lost = self.columns["K"], self.columns["L"][t] - self.columns["L"][t - 1]
        free = K[t] + self.buffer - self.through[t]
        until = 1 - free / (K[t] - K[t - 1]) if free else Fraction(1)
        room = K[t - 1] + self.buffer - self.through[t - 1]
        return until * room / (room + lost), until

    def inflight_when_full(self, t):
        """Return the bytes in flight beyond the propagation delay at both ends of the interval `full`."""
        K, S = self.columns["K"], self.columns["S"]
        return tuple(
            K[t - 1] + share * (K[t] - K[t - 1]) + self.buffer - S[t - 1] - share * (S[t] - S[t - 1])
            for share in self.full(t)
        )

    def largest(self):
        """Return the largest number of bytes in flight beyond the propagation delay at any instant."""
        return max(*self.inflight(), *(waiting for t in self.lossy() for waiting in self.inflight_when_full(t)))

    def fastest(self, column):
        return max(after - before for before, after in pairwise(column)) / self.step

    def lossy(self):
        """Return the numbers t of the steps (t-1, t] in which bytes are lost."""
        L = self.columns["L"]
        return [t for t in range(1, len(L)) if L[t] > L[t - 1]]

    def left_out(self):
        """Yield a note on each part of the trace's model that an emulated link lacks.

        An emulated link is a bottleneck with a buffer, and nothing else.
        """
        for column in self.model.own_columns:
            if column.name in self.trace.columns:
                yield f"{column.name}, {column.says}, is not in the file: csv, json and npz have it"

    def _columns(self):
        """Return the columns of each flow (if there are several flows), and the columns of all flows together."""
        flows = [{name: self.column(f"{name}{suffix}") for name in "ASL"} for suffix in self.suffixes]
        for flow, suffix in zip(flows, self.suffixes, strict=True):
            if f"Ld{suffix}" in self.trace.columns:
                flow["Ld"] = self.column(f"Ld{suffix}")
        total = {name: tuple(map(sum, zip(*(flow[name] for flow in flows), strict=True))) for name in flows[0]}
        total["K"] = _kept(self._tokens())
        return [self._counted(flow) for flow in flows] if len(flows) > 1 else [], self._counted(total)

    def _counted(self, columns):
        origin = dict.fromkeys("ASK", columns["S"][0])
        return {name: tuple((v - origin.get(name, 0)) * self.byte for v in column) for name, column in columns.items()}

    def _tokens(self):
        try:
            return self.trace.tokens(self.model)
        except KeyError as error:
            raise InputError(f"the trace has no column {error.args[0]}") from None

    def _check(self, t):
        """Check the common requirements: bytes are cumulative, and are served only after they are sent and admitted."""
        S, L, K, through = (*(self.columns[name] for name in "SLK"), self.through)
        if t and any(column[t] < column[t - 1] for column in (S, L, K, through)):
            raise InputError(f"not an execution of a link with a queue: S, K, L or A - L falls at t={t}")
        if S[t] > through[t] or S[t] > K[t]:
            fault = "more is served than was sent or admitted"
            raise InputError(f"not an execution of a link with a queue: {fault} at t={t}")


def _kept(tokens):
    """Return the cumulative tokens at each step, without those that are wasted later."""
    return tuple(reversed(list(accumulate(reversed(tokens), min))))


def packet_notes(limit, scale):
    """Yield a note if the trace's MSS, which is `limit` bytes at this scale, differs from the packet size."""
    if limit != scale.packet:
        yield (
            f"the trace's MSS is {number(limit)} bytes at this scale, a packet is {scale.packet}: a "
            "controller that reads MSS, or sends at its least rate, MSS/R_m, will act differently from the trace; "
            f"rate·rtt = {number(scale.packet / (limit / scale.bdp))} bytes makes them the same"
        )


def number(value):
    """Return a Fraction as text for readers: as a whole number, or with some decimals."""
    return str(value) if value.denominator == 1 else f"{Decimal(value.numerator) / value.denominator:.6g}"


def milliseconds(seconds):
    return f"{number(seconds * 1000)} ms"


def require_queue(scaled):
    """Raise InputError, with the reason, unless such a link can reproduce a ScaledTrace."""
    buffer, packet = scaled.buffer, scaled.scale.packet
    if scaled.model.store != Model.store:
        raise InputError(
            f"this format's link has a {Model.store}, and {scaled.model.name} has a {scaled.model.store}; expected a "
            "trace of another network, or the format csv, json or npz"
        )
    for t in range(scaled.trace.horizon) if buffer is not None else ():
        _require_buffer(scaled, t)
    for t in range(scaled.trace.horizon):
        _require_order(scaled, t)
    if buffer == 0:
        raise InputError("the trace's buffer is 0; expected room for a packet, as this format is of packets")
    if buffer is not None and buffer < packet:
        raise InputError(
            f"at this scale the buffer is {number(buffer)} bytes, less than a packet of {packet}; "
            f"expected rate·rtt to be {ceil(scaled.scale.bdp * packet / buffer)} bytes or more"
        )


def _require_buffer(scaled, t):
    K, L, through = scaled.columns["K"], scaled.columns["L"], scaled.through
    if through[t] > K[t] + scaled.buffer:
        raise InputError(
            f"this format's link drops bytes that its buffer cannot hold; more waits than the buffer holds at t={t}"
        )
    if t and L[t] > L[t - 1] and through[t] < K[t - 1] + scaled.buffer:
        raise InputError(
            "this format's link drops only bytes that its buffer cannot hold; bytes are lost though the buffer has "
            f"room at all times in the step that ends at t={t}"
        )


def _require_order(scaled, t):
    """Raise InputError unless the link serves the bytes of each flow in the order of their arrival."""
    left = scaled.columns["S"][t]
    for u, came in enumerate(scaled.through):
        for flow in scaled.flows:
            own_left, own_came = flow["S"][t], flow["A"][u] - flow["L"][u]
            if (left <= came and own_left > own_came) or (left >= came and own_left < own_came):
                raise InputError(
                    f"this format's link is first in, first out; the flows' bytes served by t={t} are not those that "
                    "came first; `--format holds` delays each flow by itself"
                )
