"""A trace in bytes and seconds."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil

from ccmatic.base import InputError
from ccmatic.contracts import load_definition


@dataclass(frozen=True)
class Scale:
    """What a trace's units are. rate: C, bytes per second; rtt: R_m, seconds; packet: whole bytes in a packet.
    Raises InputError unless a packet fits into a step, C·R_m."""

    rate: Fraction
    rtt: Fraction
    packet: int

    def __post_init__(self):
        if self.rate <= 0 or self.rtt <= 0 or self.packet < 1:
            raise InputError("rate, rtt and mss have to be more than 0")
        if self.bdp < self.packet:
            enough = f"a rate of {ceil(self.packet / self.rtt * 8)}bit or an rtt of {_us(self.packet / self.rate)}us"
            raise InputError(
                f"at this scale a step, rate·rtt, is {number(self.bdp)} bytes, less than a packet of {self.packet}; "
                f"expected {enough}, or more"
            )

    @property
    def bdp(self):
        """C·R_m, bytes."""
        return self.rate * self.rtt


class Scaled:
    """A trace at a scale: what the formats share. All numbers are Fractions.

    columns: cumulative bytes at t = 0 … horizon-1, counted so that service, S, is 0 at t = 0: `A`, `S`, `L`, `K` and,
             if the trace has it, `Ld`.
    through: A - L, the position of the last byte sent and not lost.
    packet_limit, jitter, buffer, queue: MSS in bytes, D in seconds, β in bytes or None, the bytes sent and not
             served at t = 0.

    allow_code: as in `definitions.load`, for the trace's model.

    Raises InputError where the columns are not those of an execution, or the buffer does not hold a packet.
    """

    def __init__(self, trace, scale, allow_code=False):
        self.trace, self.scale, self.allow_code = trace, scale, allow_code
        constants = trace.constants
        for name in ("C", "MSS", "beta"):
            if constants.get(name, 1) <= 0:
                raise InputError(f"the trace's {name} is {constants[name]}; expected a number > 0")
        if trace.horizon < 2:
            raise InputError(f"the trace has a horizon of {trace.horizon}, expected 2 or more")
        self.byte = scale.bdp / (constants["C"] * constants["R_m"])
        self.second = scale.rtt / constants["R_m"]
        self.packet_limit, self.jitter = constants["MSS"] * self.byte, constants["D"] * self.second
        self.buffer = constants["beta"] * self.byte if "beta" in constants else None
        self.columns = self._columns()
        self.through = tuple(sent - lost for sent, lost in zip(self.columns["A"], self.columns["L"], strict=True))
        self.queue = self.through[0]
        for t in range(trace.horizon):
            self._check(t)
        if self.buffer is not None and self.buffer < scale.packet:
            raise InputError(
                f"at this scale the buffer is {number(self.buffer)} bytes, less than a packet of {scale.packet}; "
                f"expected rate·rtt to be {ceil(scale.bdp * scale.packet / self.buffer)} bytes or more"
            )

    @cached_property
    def model(self):
        """The trace's Model. Raises InputError if there is none of that name, or its code may not be run."""
        return load_definition("models", "MODEL", self.trace.query.get("model"), self.allow_code)

    @property
    def steps(self):
        """How many steps there are between the trace's instants."""
        return self.trace.horizon - 1

    def instant(self, t):
        """When step t ends, seconds."""
        return t * self.scale.rtt

    def inflight(self):
        """Bytes beyond propagation at each t: A - L - S."""
        return tuple(sent - served for sent, served in zip(self.through, self.columns["S"], strict=True))

    def largest(self):
        """The most bytes beyond propagation at any instant. Within steps everything grows evenly; where bytes are lost,
        A - L does until the buffer is full, and then as K does."""
        A, S, K = (self.columns[name] for name in "ASK")
        found = list(self.inflight())
        for t in self.lossy():
            before = self.through[t - 1]
            share = (K[t - 1] + self.buffer - before) / (A[t] - A[t - 1] - K[t] + K[t - 1])
            found.append(before - S[t - 1] + share * (A[t] - A[t - 1] - S[t] + S[t - 1]))
        return max(found)

    def fastest(self, column):
        """How much a cumulative column grows in the step in which it grows most, bytes per second."""
        return max(after - before for before, after in pairwise(column)) / self.scale.rtt

    def lossy(self):
        """The numbers t of the steps in which bytes are lost, those over (t-1, t]."""
        L = self.columns["L"]
        return [t for t in range(1, len(L)) if L[t] > L[t - 1]]

    def left_out(self):
        """Yield notes, a sentence each, on what the model has beyond a link with a buffer: a link that is emulated
        knows nothing of it."""
        for column in self.model.own_columns:
            if column.name in self.trace.columns:
                yield f"{column.name}, {column.says}, is not in the file: csv, json and npz have it"

    def _columns(self):
        given = dict(self.trace.columns)
        if "K" not in given:
            given["K"] = self._tokens()
        for name in "ASLK":
            if name not in given:
                raise InputError(f"the trace has no column {name}")
        origin = dict.fromkeys("ASK", given["S"][0])
        columns = {name: given[name] for name in ("A", "S", "L", "Ld", "K") if name in given}
        return {name: tuple((v - origin.get(name, 0)) * self.byte for v in column) for name, column in columns.items()}

    def _tokens(self):
        try:
            return self.trace.tokens(self.model)
        except KeyError as error:
            raise InputError(f"the trace has no column {error.args[0]}") from None

    def _check(self, t):
        """What every format relies on: bytes are cumulative; they are served once sent, not lost, and admitted; the
        buffer holds what waits, and is full when bytes are lost."""
        S, L, K, through = (*(self.columns[name] for name in "SLK"), self.through)
        fault = None
        if t and any(column[t] < column[t - 1] for column in (S, L, K, through)):
            fault = "S, K, L or A - L falls"
        elif S[t] > through[t] or S[t] > K[t]:
            fault = "more is served than was sent or admitted"
        elif self.buffer is not None and through[t] > K[t] + self.buffer:
            fault = "more waits than the buffer holds"
        elif t and L[t] > L[t - 1] and (self.buffer is None or through[t] < K[t] + self.buffer):
            fault = "bytes are lost though the buffer has room"
        if fault:
            raise InputError(f"not an execution: {fault} at t={t}")


def packet_notes(limit, scale):
    """Yield a note where the trace's MSS, `limit` bytes at this scale, is not a packet."""
    if limit != scale.packet:
        yield (
            f"the trace's MSS is {number(limit)} bytes at this scale, a packet is {scale.packet}: a "
            "controller that reads MSS, or sends at MSS/R_m, its least, will do otherwise than in the trace; "
            f"rate·rtt = {number(scale.packet / (limit / scale.bdp))} bytes makes them the same"
        )


def number(value):
    """A Fraction for people: whole, or with some decimals."""
    return str(value) if value.denominator == 1 else f"{Decimal(value.numerator) / value.denominator:.6g}"


def milliseconds(seconds):
    """Seconds as milliseconds for people."""
    return f"{number(seconds * 1000)} ms"


def _us(seconds):
    return ceil(seconds * 10**6)
