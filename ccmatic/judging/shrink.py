"""Shrink a scenario that breaks a rule: fewer events, rounder numbers, a shorter run, as long as the rule breaks."""

from collections.abc import Callable, Iterator
from itertools import combinations
from time import monotonic

from msgspec.structs import replace

from ccmatic import records
from ccmatic.judging.rules import Rule
from ccmatic.judging.scenario import MS, SECOND, Scenario, faults
from ccmatic.judging.space import LENGTHS

#: The values to which numbers are rounded, coarse first: times in ns, rates in bits per second.
TIMES = (SECOND, SECOND // 2, 100 * MS, 50 * MS, 10 * MS, 5 * MS, MS)
RATES = (10_000_000, 1_000_000, 500_000, 100_000)

#: The plainest path: 12 Mbit/s, 40 ms.
PLAIN_RATE, PLAIN_RTT = 12_000_000, 40 * MS


def shrink(
    scenario: Scenario,
    rule: Rule,
    controller: str,
    breaks: Callable[[Scenario], bool],
    seconds: float = 60,
    most: int = 400,
) -> Scenario:
    """Return a simpler scenario that still breaks a rule."""
    end, tried, runs = monotonic() + seconds, {scenario}, 0
    progress = True
    while progress:
        progress = False
        for simpler in _simpler(scenario):
            if simpler in tried:
                continue
            tried.add(simpler)
            if next(faults(simpler), None) is not None or rule.asked(simpler, controller) is not None:
                continue
            if monotonic() > end or runs >= most:
                return scenario
            runs += 1
            if breaks(simpler):
                scenario, progress = simpler, True
                break
    return scenario


def _simpler(scenario: Scenario) -> Iterator[Scenario]:
    """Yield simpler scenarios: with fewer events, then on a plainer path, then with rounder numbers."""
    events = scenario.events
    for size in range(1, len(events) + 1):
        if size > 2 and size < len(events):
            continue
        for gone in combinations(range(len(events)), size):
            yield replace(scenario, events=tuple(e for place, e in enumerate(events) if place not in gone))
    yield from _plainer(scenario)
    for place, event in enumerate(events):
        for simpler in _rounder(event):
            changed = [*events[:place], simpler, *events[place + 1 :]]
            yield replace(scenario, events=tuple(sorted(changed, key=lambda one: one.at)))
    for seconds in LENGTHS:
        if seconds * SECOND < scenario.duration:
            yield replace(scenario, duration=seconds * SECOND)


def _plainer(s: Scenario) -> Iterator[Scenario]:
    if s.seed:
        yield replace(s, seed=0)
    for jitter in sorted({0, _longest(s)}):
        if jitter < s.jitter:
            yield replace(s, jitter=jitter)
    bdp = s.rate * s.rtt // (8 * SECOND)
    if (s.rate, s.rtt) != (PLAIN_RATE, PLAIN_RTT):
        buffer = PLAIN_RATE * PLAIN_RTT // (8 * SECOND) * s.buffer // bdp
        yield replace(s, rate=PLAIN_RATE, rtt=PLAIN_RTT, buffer=buffer)
    yield from (replace(s, buffer=size) for size in (bdp, 2 * bdp, bdp // 2) if size != s.buffer and not _even(s, bdp))
    for number, flow in enumerate(s.flows):
        if flow.start:
            flows = [*s.flows[:number], replace(flow, start=0), *s.flows[number + 1 :]]
            yield replace(s, flows=tuple(flows))
            later = replace(flow, start=_round(flow.start, SECOND))
            if later != flow:
                yield replace(s, flows=(*s.flows[:number], later, *s.flows[number + 1 :]))


def _even(s: Scenario, bdp: int) -> bool:
    return s.buffer in (bdp, 2 * bdp, bdp // 2)


def _longest(scenario: Scenario) -> int:
    """Return the largest time for which the events hold packets, in ns."""
    held = [e.length for e in scenario.events if isinstance(e, records.HoldEvent)]
    return max([0, *held, *(e.aggregate for e in scenario.events if isinstance(e, records.AcksEvent))])


def _rounder(event: records.Event) -> Iterator[records.Event]:
    for field in event.__struct_fields__:
        value = getattr(event, field)
        grains = RATES if field == "bits" else () if field in ("flow", "packets", "lose", "bytes") else TIMES
        if field in ("packets", "lose") and value > 1:
            yield replace(event, **{field: 1 if field == "packets" else 2})
        for grain in grains:
            rounded = _round(value, grain)
            if rounded == value:
                break
            if rounded > 0 or field == "at":
                yield replace(event, **{field: rounded})


def _round(value: int, grain: int) -> int:
    return (value + grain // 2) // grain * grain
