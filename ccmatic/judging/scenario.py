"""Scenarios: lawful courses of a network and of its applications, read, checked, and compiled for the path in C."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from ccmatic import records
from ccmatic.base import InputError, counted, parse_json, read_text
from ccmatic.judging.subjects import require_shipped
from ccmatic.judging.words import event_words as words
from ccmatic.judging.words import scenario_of, time_words

#: The name under which other modules use the record.
Scenario = records.ScenarioFile

SECOND, MS = 10**9, 10**6

#: The numbers of the events in the configuration of the path.
KINDS: tuple[type[records.EventRecord], ...] = (
    records.HoldEvent,
    records.RateEvent,
    records.RttEvent,
    records.LossEvent,
    records.IdleEvent,
    records.LimitEvent,
    records.AcksEvent,
    records.OutageEvent,
    records.BufferEvent,
)

#: The path of a scenario that names none.
PATH = "12 mbit, rtt 40 ms, buffer 1 bdp"

#: The largest number of events and of flows, and the length of the longest run in s.
MOST_EVENTS, MOST_FLOWS, LONGEST = 256, 8, 600

#: The largest number of packets that the link of a scenario can carry, so that each run ends within ten minutes.
MOST_PACKETS = 10_000_000


def beside_subject(scenario: Scenario) -> list[str]:
    """Return the names of the controllers beside the subject."""
    return [flow.beside for flow in scenario.flows if flow.beside is not None]


def most_packets(scenario: Scenario) -> int:
    """Return the number of packets that the link can carry at its highest rate."""
    rate = max([scenario.rate, *(event.bits for event in scenario.events if isinstance(event, records.RateEvent))])
    return rate * scenario.duration // (8 * SECOND * scenario.packet)


def make_scenario(
    on: str | None = None,
    events: Sequence[str] = (),
    *,
    scenario: str | Path | Scenario | None = None,
    seconds: float = 20,
    beside: Sequence[str] = (),
    flows: int = 1,
    seed: int = 0,
    allow_code: bool = False,
) -> Scenario:
    """Make a lawful scenario from words.

    Args:
        on: A path, such as `24 mbit, rtt 40 ms, buffer 1 bdp, jitter 10 ms`. The default is 12 Mbit/s, 40 ms and 1 BDP.
        events: Events, such as `idle 1 s at 5 s`, `rtt x4 at 10 s` or `hold 30 ms at 2 s`.
        scenario: A scenario, or the file of a scenario, instead of the words.
        seconds: The length of the run.
        beside: The controllers of further flows.
        flows: The number of flows of the subject.
        seed: The seed of the run.
        allow_code: Whether the file of a scenario may name controllers that are not part of ccmatic.

    Raises:
        InputError: If a word cannot be read, or the scenario breaks a law.
    """
    if scenario is not None:
        if on or events or beside:
            raise InputError("a scenario says what --on, --event and --beside would; expected one or the other")
        if isinstance(scenario, Scenario):
            return lawful(scenario)
        read = load(scenario)
        require_shipped(beside_subject(read), str(scenario), allow_code)
        return read
    return lawful(scenario_of(PATH if on is None else on, events, seconds, beside, seed, flows))


def load(path: str | Path) -> Scenario:
    """Read a scenario from a file, or from a witness."""
    text = read_text(path)
    value = parse_json(text, str(path))
    if records.has_format(value, records.WitnessFile):
        return lawful(records.read_record(text, records.WitnessFile, str(path)).scenario, str(path))
    return lawful(records.read_record(text, Scenario, str(path)), str(path))


def lawful(scenario: Scenario, file: str | None = None) -> Scenario:
    """Return a scenario that obeys the laws."""
    for fault in faults(scenario):
        raise InputError(fault, file)
    return scenario


def faults(scenario: Scenario) -> Iterator[str]:
    """Yield a sentence for each law that a scenario breaks."""
    s = scenario
    if not s.duration <= LONGEST * SECOND:
        yield f"the run lasts {s.duration / SECOND:g} s; expected at most {LONGEST} s"
    if (packets := most_packets(s)) > MOST_PACKETS:
        problem = f"the link carries up to {packets:,} packets in {s.duration / SECOND:g} s"
        yield f"{problem}; expected at most {MOST_PACKETS:,}: a lower rate, or a shorter run"
    if s.buffer < s.packet:
        yield f"a buffer of {s.buffer} bytes; expected at least a packet, {s.packet} bytes"
    if s.policer and s.policer.bucket < s.packet:
        yield f"a bucket of {s.policer.bucket} bytes; expected at least a packet, {s.packet} bytes"
    if s.threshold is not None and s.threshold >= s.buffer:
        yield f"the threshold of {s.threshold} bytes is not below the buffer of {s.buffer} bytes"
    if s.loss and not 0 <= s.loss.share < 1:
        yield f"a share of {s.loss.share} of the packets is lost; expected at least 0 and below 1"
    yield from _flow_faults(s)
    yield from _event_faults(s)


def _flow_faults(s: Scenario) -> Iterator[str]:
    if not 1 <= len(s.flows) <= MOST_FLOWS:
        yield f"the scenario has {len(s.flows)} flows; expected from 1 to {MOST_FLOWS}"
        return
    if s.flows[0].beside is not None:
        yield "the first flow is beside another; expected that the subject sends in the first flow"
    for number, flow in enumerate(s.flows):
        end = s.duration if flow.stop is None else flow.stop
        if not flow.start < end <= s.duration:
            span = f"{flow.start / SECOND:g} s to {end / SECOND:g} s"
            yield f"flow {number} sends from {span}; expected within the {s.duration / SECOND:g} s of the run"


def _event_faults(s: Scenario) -> Iterator[str]:
    if len(s.events) > MOST_EVENTS:
        yield f"the scenario has {len(s.events)} events; expected at most {MOST_EVENTS}"
    for before, event in pairwise(s.events):
        if event.at < before.at:
            yield f"{words(event)} comes after {words(before)}; expected events in order of time"
    for event in s.events:
        if event.at >= s.duration:
            yield f"{words(event)} comes after the end of the run at {s.duration / SECOND:g} s"
        if isinstance(event, records.HoldEvent) and event.length > s.jitter:
            yield f"'{words(event)}' is longer than the jitter, {time_words(s.jitter)}"
        if isinstance(event, records.AcksEvent) and event.aggregate > s.jitter:
            yield f"'{words(event)}' is longer than the jitter, {time_words(s.jitter)}"
        if isinstance(event, records.AcksEvent) and bool(event.aggregate) == bool(event.lose):
            yield f"the event 'acks' at {time_words(event.at)} needs either 'aggregate' or 'lose' above 0"
        if isinstance(event, records.IdleEvent | records.LimitEvent) and event.flow >= len(s.flows):
            has = f"the scenario has {counted(len(s.flows), 'flow')}, from 0 on"
            yield f"'{words(event)}' is about flow {event.flow}; {has}"
        if isinstance(event, records.BufferEvent) and event.bytes < s.packet:
            yield f"'{words(event)}'; expected at least a packet, {s.packet} bytes"
    for kind in (records.HoldEvent, records.OutageEvent, records.AcksEvent):
        for before, event in pairwise([each for each in s.events if isinstance(each, kind)]):
            if event.at < before.at + before.length:
                yield f"'{words(event)}' begins before '{words(before)}' ends; expected one after the other"
    least = min((flow.rtt or s.rtt for flow in s.flows), default=s.rtt)
    for event in s.events:
        if isinstance(event, records.RttEvent) and least + event.rtt <= s.rtt:
            yield f"'{words(event)}' leaves no R_m for a flow of {time_words(least)}; expected above 0 for each flow"


def configuration(scenario: Scenario, controller: str, hosted: Mapping[str, tuple[str, str]] | None = None) -> str:
    """Return the text by which the path in C reads a scenario."""
    s = scenario
    share = s.loss.share if s.loss else Fraction(0)
    lines: list[tuple[object, ...]] = [
        ("ccmatic-path-1", controller),
        (s.duration, s.rate, s.rtt, s.buffer, s.jitter, s.packet, s.spacing, s.seed),
        (-1 if s.threshold is None else s.threshold, *((s.policer.bits, s.policer.bucket) if s.policer else (0, 0)),
         share.numerator, share.denominator, s.loss.burst if s.loss else 0),
        (s.acknowledgements.packets, s.acknowledgements.delay),
        (len(s.flows),),
    ]  # fmt: skip
    for flow in s.flows:
        library = (hosted or {})[flow.beside] if flow.beside is not None else ("-", "-")
        stop = -1 if flow.stop is None else flow.stop
        lines.append((flow.start, stop, flow.rtt or s.rtt, int(flow.beside is not None), *library))
    lines.append((len(s.events),))
    lines += [_numbers(event) for event in s.events]
    return "".join(" ".join(map(str, line)) + "\n" for line in lines)


def _numbers(event: records.EventRecord) -> tuple[int, ...]:
    """Return the numbers of an event: its kind, its instant, and its values in the order of the record's fields."""
    values = [getattr(event, field) for field in event.__struct_fields__ if field != "at"]
    return KINDS.index(type(event)), event.at, *values, *[0] * (3 - len(values))
