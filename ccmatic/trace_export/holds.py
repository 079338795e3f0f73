"""Holds: how long a box of each flow, behind a link, holds what the link lets through, over and over, and what senders
remember at first; for the emulator. Made of a trace that repeats itself, at a scale, written and read here."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor

from ccmatic import controllers
from ccmatic.base import CONDITION, InputError, exact, located, read_text
from ccmatic.contracts import load_definition
from ccmatic.trace_export import head
from ccmatic.trace_export.scaled import packet_notes

FORMAT = "# ccmatic holds 1"
COLUMNS = ["flow", "let_through_ns", "released_ns"]

_NS = Fraction(1, 10**9)


@dataclass(frozen=True)
class Holds:
    """A link of constant rate, first in, first out, and a box for each flow behind it.

    rate:   C, bytes per second. step: R_m in ns. packet: bytes in a packet. buffer: bytes, or None if infinite.
    jitter: D in ns: no box holds anything for longer.
    period: ns after which the boxes begin again.
    boxes:  of each flow points (let through, released) in ns, from 0 to the period, straight in between; of two at one
            instant the first is for what is let through by then, the second for what is later.
    state:  of each flow what its sender remembers at first, by name: in bytes, bytes per step, steps and numbers.
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
        """Why no box does that; None if one does."""
        if len(box) < 2 or box[0][0] != 0 or box[-1][0] != self.period:
            return f"is not told from 0 to the period, {self.period} ns"
        if any(later < now for pair in pairwise(box) for now, later in zip(*pair, strict=True)):
            return "lets something overtake what came before it; expected each number no less than the one above"
        if box[-1][1] > box[0][1] + self.period:
            return "lets something overtake what came a period before it"
        if any(not 0 <= gone - let <= self.jitter for let, gone in box):
            return f"holds something for less than 0 ns, or more than the jitter, {self.jitter} ns"
        return None

    def text(self):
        """As a file's text, which `load` reads."""
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
        """Whether a file begins as one does, of whatever version. Raises InputError if it cannot be read."""
        return read_text(path).startswith(FORMAT.rpartition(" ")[0])

    @staticmethod
    def load(path):
        """Read a file. Raises InputError that says where it is none."""
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
    """The text of a trace's holds at a Scale, and notes, a list of sentences, on what they leave out. Raises InputError
    as `of_trace`."""
    return of_trace(trace, scale, allow_code).text(), [
        *packet_notes(trace.constants["MSS"] * _byte(trace, scale), scale),
        "the last period of the trace is in the file, over and over",
        "what is sent and not acknowledged at first is not in the file: senders begin with what they remember, and "
        "fill their windows themselves",
    ]


def of_trace(trace, scale, allow_code=False):
    """The Holds of a trace of flows with jitter of their own that repeats itself, at a Scale; instants are rounded down
    to whole ns. allow_code: as in `definitions.load`, for the trace's model. Raises InputError for any other trace."""
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
    """After how many steps the trace repeats itself, as its query says. Raises InputError if it does not."""
    period = exact(trace.query.get("property", {}).get("repeats", 0))
    if period.denominator != 1 or not 1 <= period < trace.horizon:
        raise InputError("the trace does not repeat itself; expected one of `ccmatic worst --period`")
    return int(period)


def _curves(trace, flows, period):
    """Yield what the link lets through of each flow and what is served of it, at each step, going on for as long as
    anything is held. Raises InputError where they are no such curves."""
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
            raise InputError(f"not an execution: flow {number} is not served what is let through, within D")
        yield let, served


def _unrolled(column, period, more):
    """It, and as many steps more, that are as its last period."""
    longer, grown = list(column), column[-1] - column[-1 - period]
    for _ in range(more):
        longer.append(longer[-period] + grown)
    return longer


def _box(let, served, begin, period):
    """Points (let through, released), in steps, of the period from `begin` on: the byte at a level of the curve `let`
    leaves when `served` reaches that. Both are straight within steps. Where nothing is let through nothing would be
    overtaken."""
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
    """The first instant at which a curve is so high."""
    t = next(t for t, height in enumerate(curve) if height >= level)
    return t - (curve[t] - level) / (curve[t] - curve[t - 1]) if t else Fraction(0)


def _passes(curve, level):
    """The last instant at which it is no higher."""
    t = next(t for t, height in enumerate(curve) if height > level)
    return t - (curve[t] - level) / (curve[t] - curve[t - 1])


def _state(trace, scale, model, step, period):
    """Yield what each flow's controller remembers at a step, by name, in bytes, bytes per step, steps and numbers.
    Raises InputError for what grows in each period, such as a place among the bytes."""
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
    """What the flows run. Raises InputError for a trace whose senders nobody decides for."""
    if trace.controller is None:
        raise InputError("the trace has no controller; expected one, as senders begin with what it remembers")
    return controllers.parse(trace.controller, "controller", beliefs=(), observations=model.observations)


def _kept(trace, scale, memory, number, step):
    name = f"{memory.name}{number}"
    if name not in trace.columns:
        raise InputError(f"the trace has no column {name}, which flow {number} remembers")
    value = trace.columns[name][step]
    if memory.unit == CONDITION:
        return value
    return value * _byte(trace, scale) ** memory.unit.bytes_power / trace.constants["R_m"] ** memory.unit.seconds_power
