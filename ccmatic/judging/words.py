"""Scenarios and their events in words: `24 mbit, rtt 40 ms, buffer 1 bdp`, `hold 30 ms at 2 s`, `rtt x4 at 10 s`."""

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ccmatic import records
from ccmatic.base import InputError, counted, definitions, exact, quantities, shown, suggest

if TYPE_CHECKING:
    from ccmatic.questions import NetworkDescription

SECOND, MS = 10**9, 10**6

#: The forms of events, by their first word.
EXAMPLES = {
    "hold": "hold 30 ms at 2 s",
    "rate": "rate x1/2 at 10 s",
    "rtt": "rtt x4 at 10 s",
    "lose": "lose 3 packets at 5 s",
    "idle": "idle 1 s at 5 s",
    "limit": "limit 1 mbit for 4 s at 5 s",
    "acks": "acks aggregate 10 ms for 2 s at 5 s",
    "outage": "outage 500 ms at 5 s",
    "buffer": "buffer x1/2 at 5 s",
}

_TIME = r"[\d./]+\s*(?:ns|us|ms|s|rtt)"
_SIZE = r"x\s*[\d./]+|[\d./]+\s*[a-z]*"
_PATTERNS = {
    "hold": rf"hold (?P<length>{_TIME})",
    "rate": r"rate (?P<value>x\s*[\d./]+|[\d./]+\s*[a-z]+)",
    "rtt": rf"rtt (?P<value>x\s*[\d./]+|{_TIME})",
    "lose": r"lose (?P<packets>\d+) packets?",
    "idle": rf"idle (?P<length>{_TIME})",
    "limit": rf"limit (?P<value>[\d./]+\s*[a-z]+) for (?P<length>{_TIME})",
    "acks": rf"acks (?:aggregate (?P<aggregate>{_TIME})|lose 1 of (?P<lose>\d+)) for (?P<length>{_TIME})",
    "outage": rf"outage (?P<length>{_TIME})",
    "buffer": rf"buffer (?P<value>{_SIZE})",
}
_END = rf" at (?P<at>{_TIME})(?: of flow (?P<flow>\d+))?"


def scenario_of(
    on: str,
    events: Sequence[str] = (),
    seconds: float | Fraction = 20,
    beside: Sequence[str] = (),
    seed: int = 0,
    flows: int = 1,
) -> records.ScenarioFile:
    """Return the scenario that words describe. Its numbers have the ranges of the record. It may still break a law."""
    from ccmatic import questions  # imported here: slow to import, and files of scenarios need no words

    described = questions.describe(on)
    path = _path(described)
    own = described.flows or flows
    several = tuple(records.FlowRecord(start=number * path.rtt) for number in range(own))
    others = tuple(records.FlowRecord(beside=name) for name in beside)
    read = [read_event(text, path.rate, path.rtt, path.buffer) for text in events]
    scenario = replace(
        path,
        duration=round(seconds * SECOND),
        seed=seed,
        events=tuple(sorted(read, key=lambda event: event.at)),
        flows=(*several, *others),
    )
    return records.convert(records.data(scenario), records.ScenarioFile, what=f"the path '{shown(on)}'")


def _path(described: "NetworkDescription") -> records.ScenarioFile:
    """Return a scenario on a path, of one flow, without events."""
    from ccmatic import contracts, questions  # imported here, as above

    text = shown(described.text)
    example = "24 mbit, rtt 40 ms, buffer 1 bdp, jitter 10 ms"
    if described.rate is None or described.rtt is None:
        raise InputError(f"'{text}' is no path; code needs one, such as '{example}'")
    if described.change:
        raise InputError(f"the path changes in '{text}'; expected changes as --event '{EXAMPLES['rtt']}'")
    if described.pauses:
        raise InputError(f"the application pauses in '{text}'; expected pauses as --event '{EXAMPLES['idle']}'")
    model = contracts.load_definition("models", "MODEL", described.model) if described.model else None
    questions.require_store(described, model or contracts.Model())
    rate, rtt = _whole(described.rate * 8, "rate", "bit/s"), _whole(described.rtt * SECOND, "rtt", "ns")
    bdp = described.rate * described.rtt
    if described.buffer.startswith(">=") or described.buffer in ("infinite", "any"):
        raise InputError(f"the {described.store} is '{shown(described.buffer)}'; expected a single size, such as 1 bdp")
    size = floor(quantities.size(described.buffer, bdp))
    bucket, share = (model and model.policer) or (Fraction(0), Fraction(1))
    return records.ScenarioFile(
        duration=SECOND,
        rate=rate,
        rtt=rtt,
        buffer=size,
        jitter=_whole((described.jitter_seconds or 0) * SECOND, "jitter", "ns"),
        packet=described.packet,
        threshold=floor(quantities.size(described.threshold, bdp)) if described.threshold else None,
        policer=records.PolicerRecord(floor(rate * share), floor(bucket * bdp)) if bucket else None,
        loss=_chance(described.settings),
    )


def _chance(settings: Mapping[str, str]) -> records.ChanceRecord | None:
    """Return the losses by chance that a description sets. Its first setting is their share, its second the burst."""
    share, *burst = [exact(value) for value in settings.values()] or [Fraction(0)]
    return records.ChanceRecord(share, *map(int, burst)) if share else None


def read_event(text: str, rate: int, rtt: int, buffer: int) -> records.Event:
    """Return the event that words describe."""
    plain = " ".join(text.lower().split())
    first = plain.partition(" ")[0]
    if first not in _PATTERNS:
        raise InputError(f"cannot read the event '{shown(text)}'; {suggest(first, EXAMPLES)}")
    match = re.fullmatch(_PATTERNS[first] + _END, plain, re.ASCII)
    if not match or (match["flow"] and first not in ("idle", "limit")):
        raise InputError(f"cannot read the event '{shown(text)}'; expected such as '{EXAMPLES[first]}'")
    parts = match.groupdict()

    def time(name: str) -> int:
        return _instant(parts[name], rtt) if parts.get(name) else 0

    make: dict[str, Callable[[], dict[str, object]]] = {
        "hold": lambda: {"length": time("length")},
        "rate": lambda: {"bits": _scaled(parts["value"], rate, lambda value: quantities.rate(value) * 8)},
        "rtt": lambda: {"rtt": _scaled(parts["value"], rtt, lambda value: Fraction(_instant(value, rtt)))},
        "lose": lambda: {"packets": int(parts["packets"])},
        "idle": lambda: {"length": time("length"), "flow": int(parts["flow"] or 0)},
        "limit": lambda: {
            "length": time("length"),
            "bits": _whole(quantities.rate(parts["value"]) * 8, "rate", "bit/s"),
            "flow": int(parts["flow"] or 0),
        },
        "acks": lambda: {
            "length": time("length"),
            "aggregate": time("aggregate"),
            "lose": int(parts["lose"] or 0),
        },
        "outage": lambda: {"length": time("length")},
        "buffer": lambda: {
            "bytes": _scaled(parts["value"], buffer, lambda v: quantities.size(v, Fraction(rate * rtt, 8 * SECOND)))
        },
    }
    kind: Any = records.Event
    fields = {"event": "loss" if first == "lose" else first, "at": time("at"), **make[first]()}
    event: records.Event = records.convert(fields, kind, what=f"the event '{shown(text)}'")
    return event


def _instant(text: str, rtt: int) -> int:
    rounds = quantities.in_unit(text, "rtt")
    return _whole(rounds * rtt if rounds is not None else quantities.duration(text) * SECOND, "time", "ns")


def _scaled(text: str, before: int, read: Callable[[str], Fraction]) -> int:
    """Return a value, or the previous value times a factor such as `x1/2`, rounded down."""
    return floor(exact(text[1:].strip()) * before if text.startswith("x") else read(text))


def _whole(value: Fraction | int, what: str, unit: str) -> int:
    if Fraction(value).denominator != 1:
        raise InputError(f"the {what} is {float(value):g} {unit}; expected a whole number")
    return int(value)


def event_words(event: records.EventRecord) -> str:
    """Return the words for an event, as `read_event` reads them."""
    at = f"at {time_words(event.at)}"
    match event:
        case records.HoldEvent():
            return f"hold {time_words(event.length)} {at}"
        case records.RateEvent():
            return f"rate {rate_words(event.bits)} {at}"
        case records.RttEvent():
            return f"rtt {time_words(event.rtt)} {at}"
        case records.LossEvent():
            return f"lose {counted(event.packets, 'packet')} {at}"
        case records.IdleEvent():
            return f"idle {time_words(event.length)} {at}{_of(event.flow)}"
        case records.LimitEvent():
            return f"limit {rate_words(event.bits)} for {time_words(event.length)} {at}{_of(event.flow)}"
        case records.AcksEvent():
            how = f"aggregate {time_words(event.aggregate)}" if event.aggregate else f"lose 1 of {event.lose}"
            return f"acks {how} for {time_words(event.length)} {at}"
        case records.OutageEvent():
            return f"outage {time_words(event.length)} {at}"
        case records.BufferEvent():
            return f"buffer {event.bytes} b {at}"
    raise TypeError(event)


def path_words(scenario: records.ScenarioFile) -> str:
    """Return the words for the path of a scenario, as `scenario_of` reads them."""
    s = scenario
    named = f"{definitions.chosen('models', 'POLICED')} " if s.policer else ""
    parts = [f"{named}{rate_words(s.rate)}", f"rtt {time_words(s.rtt)}", f"buffer {s.buffer} b"]
    parts += [f"jitter {time_words(s.jitter)}"] * bool(s.jitter)
    parts += [f"packet {s.packet}"] * (s.packet != 1500)
    parts += [f"threshold {s.threshold} b"] * (s.threshold is not None)
    if s.loss:
        parts += [f"loss {s.loss.share}", f"burst {counted(s.loss.burst, 'packet')}"]
    if s.policer:
        bdp = Fraction(s.rate * s.rtt, 8 * SECOND)
        parts += [f"tokens={Fraction(s.policer.bits, s.rate)}", f"bucket={Fraction(s.policer.bucket) / bdp}"]
    return ", ".join(parts)


def _of(flow: int) -> str:
    return f" of flow {flow}" if flow else ""


def time_words(ns: int) -> str:
    return _in_units(ns, {"s": SECOND, "ms": MS, "us": 1000}, "ns")


def rate_words(bits: int) -> str:
    return _in_units(bits, {"gbit": 10**9, "mbit": 10**6, "kbit": 1000}, "bit")


def _in_units(value: int, units: Mapping[str, int], smallest: str) -> str:
    """Return a value in the largest unit in which it is a short decimal number."""
    for unit, scale in units.items():
        text = f"{value / scale:.6f}".rstrip("0").rstrip(".")
        if value >= scale and round(float(text) * scale) == value and len(text) <= 7:
            return f"{text} {unit}"
    return f"{value} {smallest}"
