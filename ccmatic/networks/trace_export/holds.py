"""Holds: a file format of the emulator for periodic delays. A box behind the link holds the bytes of each flow.

A file also contains the initial state of the senders. This module makes files from a periodic trace at a scale, and
reads them.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor

from ccmatic import controllers
from ccmatic.base import CONDITION, InputError, exact, located, read_text
from ccmatic.contracts import load_definition
from ccmatic.networks.trace_export import head
from ccmatic.networks.trace_export.scaled import packet_notes

FORMAT = "# ccmatic holds 1"
COLUMNS = ["flow", "let_through_ns", "released_ns"]

_NS = Fraction(1, 10**9)


@dataclass(frozen=True)
class Holds:
    """A FIFO link of constant rate, followed by a box for each flow that holds bytes.

    Attributes:
        rate: The link's rate C in bytes per second.
        step: The propagation delay R_m in ns.
        jitter: The jitter D in ns, the longest time for which a box holds a byte.
        packet: The number of bytes in a packet.
        buffer: The buffer in bytes, or None if it is infinite.
        period: The time in ns after which the behaviour of the boxes repeats.
        boxes: For each flow, points (instant at the link's exit, instant at the box's exit) in ns. The points go from 0
            to the period, with straight lines in between. If two points have the same first instant, the first point
            applies to bytes that left the link until then, and the second point to later bytes.
        state: For each flow, the initial state of the sender by name, in bytes, bytes per step, steps, or plain
            numbers.
    """

    rate: Fraction
    step: int
    jitter: int
    packet: int
    buffer: int | None
    period: int
    boxes: tuple
    state: tuple

    def __post_init__(self):
        for flow, box in enumerate(self.boxes, 1):
            if fault := self._fault(box):
                raise InputError(f"the box of flow {flow} {fault}")

    def _fault(self, box):
        if len(box) < 2 or box[0][0] != 0 or box[-1][0] != self.period:
            return f"does not cover the time from 0 to the period, {self.period} ns"
        if any(later < now for pair in pairwise(box) for now, later in zip(*pair, strict=True)):
            return "lets bytes overtake earlier ones; expected each number at least as large as the one above"
        if box[-1][1] > box[0][1] + self.period:
            return "lets bytes overtake those of the period before"
        if any(not 0 <= gone - let <= self.jitter for let, gone in box):
            return f"holds bytes for less than 0 ns, or more than the jitter, {self.jitter} ns"
        return None

    def text(self):
        lines = {
            "rate": self.rate,
            "step": self.step,
            "jitter": self.jitter,
            "packet": self.packet,
            "buffer": "infinite" if self.buffer is None else self.buffer,
            "period": self.period,
        }
        for flow, state in enumerate(self.state, 1):
            lines[f"flow{flow}"] = ",".join(f"{name}={value}" for name, value in state.items()) or "none"
        rows = [f"{flow},{let},{gone}" for flow, box in enumerate(self.boxes, 1) for let, gone in box]
        return head.text(FORMAT, lines, COLUMNS, rows)

    @staticmethod
    def begins(path):
        return read_text(path).startswith(FORMAT.rpartition(" ")[0])

    @staticmethod
    def load(path):
        """InputError names the place of the mistake."""
        with located(str(path)):
            return _parse(read_text(path).splitlines())


def _parse(lines):
    given, rows, start = head.read_head(lines, "holds", FORMAT, COLUMNS)
    flows = [key for key in given if key.startswith("flow")]
    if not flows or flows != [f"flow{number}" for number in range(1, len(flows) + 1)]:
        raise InputError("the header does not say what senders remember; expected flow1, flow2, …, a line each")
    boxes = [[] for _ in flows]
    for count, line in enumerate(rows, start):
        flow, *point = head.numbers(line, count, len(COLUMNS))
        if not 1 <= flow <= len(flows):
            raise InputError(f"flow {flow}; expected one of the {len(flows)} of the header", line=count)
        boxes[flow - 1].append(tuple(point))
    return Holds(
        rate=head.exactly(given, "rate"),
        step=head.number(given, "step", 1),
        jitter=head.number(given, "jitter", 0),
        packet=head.number(given, "packet", *head.PACKETS),
        buffer=head.buffer(given),
        period=head.number(given, "period", 1),
        boxes=tuple(map(tuple, boxes)),
        state=tuple(head.pairs(given, key, exact, "numbers from 0 on") for key in flows),
    )


def content(trace, scale, allow_code):
    return of_trace(trace, scale, allow_code).text(), [
        *packet_notes(trace.constants["MSS"] * _byte(trace, scale), scale),
        "the file repeats the last period of the trace",
        "bytes in flight at the beginning are not in the file: senders begin with their state, and fill their windows "
        "themselves",
    ]


def of_trace(trace, scale, allow_code=False):
    """Return the Holds of a periodic trace at a Scale. Each flow of the trace must have its own jitter.

    Instants are rounded down to whole ns.
    """
    model = load_definition("models", "MODEL", trace.query.get("model"), allow_code)
    if {*(model.R if isinstance(model.R, tuple) else (model.R,))} != {1}:
        raise InputError(f"R_m is {model.R} steps in the trace's model; expected one")
    period, step, constants = _period(trace), scale.rtt / _NS, trace.constants
    begin, jitter = trace.horizon - 1 - period, floor(constants["D"] * step)
    boxes = []
    for let, served in _curves(trace, model.flows, period):
        points = [[floor((at - begin) * step) for at in point] for point in _box(let, served, begin, period)]
        boxes.append(tuple(dict.fromkeys((now, min(gone, now + jitter)) for now, gone in points)))
    return Holds(
        rate=scale.rate,
        step=floor(step),
        jitter=jitter,
        packet=scale.packet,
        buffer=floor(constants["beta"] * _byte(trace, scale)) if "beta" in constants else None,
        period=floor(period * step),
        boxes=tuple(boxes),
        state=tuple(_state(trace, scale, model, begin, period)),
    )


def _byte(trace, scale):
    return scale.bdp / (trace.constants["C"] * trace.constants["R_m"])


def _period(trace):
    period = exact(trace.query.get("property", {}).get("repeats", 0))
    if period.denominator != 1 or not 1 <= period < trace.horizon:
        raise InputError("the trace does not repeat itself; expected one of `ccmatic worst --period`")
    return int(period)


def _curves(trace, flows, period):
    """Yield two curves of each flow up to the release of all bytes: bytes through the link, and bytes served."""
    longest = int(trace.constants["D"])
    for number in range(1, flows + 1):
        for name in (f"K{number}", f"S{number}"):
            if name not in trace.columns:
                raise InputError(f"the trace has no column {name}; expected one of flows with jitter of their own")
        let, served = (_unrolled(trace.columns[f"{name}{number}"], period, longest) for name in "KS")
        grows = all(now <= later for column in (let, served) for now, later in pairwise(column))
        held = all(now <= before for now, before in zip(served, let, strict=True))
        gone = all(now >= before for now, before in zip(served[longest:], let, strict=False))
        if not (grows and held and gone):
            raise InputError(
                f"not an execution: flow {number} is not served within D the bytes that the link let through"
            )
        yield let, served


def _unrolled(column, period, more):
    """Repeat the last period of a column."""
    longer, grown = list(column), column[-1] - column[-1 - period]
    for _ in range(more):
        longer.append(longer[-period] + grown)
    return longer


def _box(let, served, begin, period):
    """Yield points (let through, released), in steps, of the period that starts at `begin`.

    The byte at a level of the curve `let` leaves the box when the curve `served` reaches that level. Both curves are
    straight within steps. While no byte leaves the link, no byte can overtake another byte.
    """
    for t in range(begin, begin + period):
        now, after = let[t], let[t + 1]
        if now == after:
            gone = _reaches(served, now)
            yield from ((at, max(at, gone)) for at in dict.fromkeys((t, max(t, min(gone, t + 1)), t + 1)))
            continue
        levels = [now, *sorted({level for level in served if now < level < after}), after]
        for low, high in pairwise(levels):
            yield t + (low - now) / (after - now), _passes(served, low)
            yield t + (high - now) / (after - now), _reaches(served, high)


def _reaches(curve, level):
    t = next(t for t, height in enumerate(curve) if height >= level)
    return t - (curve[t] - level) / (curve[t] - curve[t - 1]) if t else Fraction(0)


def _passes(curve, level):
    """Return the last instant at which a curve is at or below the level."""
    t = next(t for t, height in enumerate(curve) if height > level)
    return t - (curve[t] - level) / (curve[t] - curve[t - 1])


def _state(trace, scale, model, step, period):
    """Yield the state of each flow's controller at a step, by name, in bytes, bytes per step, steps or numbers.

    Raise InputError for state that grows in each period, such as a position in the byte stream.
    """
    several = controllers.each_of(_controller(trace, model))
    for number in range(1, model.flows + 1):
        controller = several[number - 1 if len(several) > 1 else 0]
        state = {memory.name: _kept(trace, scale, memory, number, step) for memory in controller.state}
        later = {memory.name: _kept(trace, scale, memory, number, step + period) for memory in controller.state}
        if grows := next((name for name in state if state[name] != later[name]), None):
            message = f"flow {number} remembers `{grows}`, which grows in each period"
            raise InputError(f"{message}; expected a trace in which it stays, as a sender that begins has sent nothing")
        if below := next((name for name, value in state.items() if value < 0), None):
            raise InputError(f"flow {number} remembers a {below} below 0; senders begin with numbers from 0 on")
        yield state


def _controller(trace, model):
    if trace.controller is None:
        raise InputError("the trace has no controller; expected one, as senders begin with its state")
    return controllers.parse(trace.controller, "controller", beliefs=(), observations=model.observations)


def _kept(trace, scale, memory, number, step):
    name = f"{memory.name}{number}"
    if name not in trace.columns:
        raise InputError(f"the trace has no column {name}, which flow {number} remembers")
    value = trace.columns[name][step]
    if memory.unit == CONDITION:
        return value
    return value * _byte(trace, scale) ** memory.unit.bytes_power / trace.constants["R_m"] ** memory.unit.seconds_power
