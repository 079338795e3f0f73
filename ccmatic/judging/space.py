"""The lawful scenarios of a search: drawn for a rule, changed a little, or made from the trace of a model."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import MappingProxyType

from msgspec.structs import replace

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.judging.rules import RULES, Rule
from ccmatic.judging.scenario import MS, SECOND, Scenario, faults

#: The paths of a search: rates in kbit per second, R_m and D in ms, and buffers as shares of a BDP in percent. A BDP is
#: from LEAST to MOST bytes, so that a congestion-avoiding sender fills it within seconds.
RATES = (1000, 2000, 3000, 4000, 6000, 8000, 10_000, 12_000, 16_000, 20_000, 24_000, 32_000, 48_000)
RTTS = (5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 120)
JITTERS = (0, 2, 5, 10, 20, 30, 40, 60, 80, 100, 150, 200)
BUFFERS = (25, 50, 100, 150, 200, 300, 400)
LEAST, MOST = 5_000, 90_000

#: The lengths of a run in s (the search takes the first that a rule accepts), and the end of the drawn events in ms.
LENGTHS, EVENTS_END = (10, 15, 20, 30, 40, 60), 9000

#: The longest idle times in ns, of which a draw takes half or more.
IDLE = (100 * MS, 300 * MS, SECOND, 3 * SECOND, 10 * SECOND, 20 * SECOND)

#: The largest number of scenarios that the search draws until one meets the premises of a rule.
ATTEMPTS = 400


@dataclass(frozen=True)
class Family:
    """The scenarios that are drawn for a rule."""

    #: The kinds of events, by their tag. The kind `losses` stands for a loss in each of several round trips.
    kinds: tuple[str, ...] = ()
    least: int = 0  #: The least number of events.
    most: int = 0  #: The largest number.
    flows: int = 1  #: The number of flows of the subject.
    beside: str | None = None  #: The controller beside the subject, or None.
    marks: bool = False  #: Whether the link marks packets.
    early: bool = False  #: Whether all events begin in the first 3 s.
    also: str | None = None  #: The name of a rule that also applies to these scenarios; or None.


_ALL = ("hold", "rate", "rtt", "loss", "idle", "limit", "acks", "outage", "buffer")

#: The family of each rule. A rule without an entry has the family EVERYTHING.
EVERYTHING = Family(_ALL, 1, 5)
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "start-up": Family(("hold",), 0, 1, early=True),
        "utilisation": Family(("hold", "hold", "acks"), 0, 5),
        "losses": Family(),
        "window": Family(("hold", "rate", "rtt", "loss", "acks", "outage", "buffer"), 0, 4),
        "minimum": Family(("losses", "loss", "outage"), 1, 4, early=True, also="recovery"),
        "forgetting": Family(("hold", "hold", "acks"), 1, 2, early=True),
        "timeout": Family(("hold",), 1, 1),
        "recovery": Family(("losses", "loss", "outage"), 1, 4, early=True),
        "rate-change": Family(("rate",), 1, 2, early=True),
        "rtt-change": Family(("rtt",), 1, 1, early=True),
        "decrease-cubic": Family(("loss",), 1, 1),
        "decrease-reno": Family(("loss",), 1, 1),
        "idle": Family(("idle",), 1, 2),
        "restart": Family(("idle",), 1, 2),
        "app-limited": Family(("limit", "limit", "idle", "hold", "loss"), 1, 3, early=True),
        "share-itself": Family(flows=2),
        "share-cubic": Family(beside="cubic"),
        "marks": Family(marks=True),
    }
)


def draw(random: Random, rule: Rule, controller: str) -> Scenario | None:
    """Draw a scenario to which a rule applies; return None if many attempts fail."""
    family = FAMILIES.get(rule.name, EVERYTHING)
    for _ in range(ATTEMPTS):
        path = _path(random, family)
        number = random.randint(family.least, family.most)
        for _ in range(number):
            path = _add(random, path, family)
        made = fitting(path, rule, controller)
        if made is not None:
            return made
    return None


def change(random: Random, scenario: Scenario, rule: Rule, controller: str) -> Scenario | None:
    """Change a scenario a little, so that the rule still applies; return None if many attempts fail."""
    family = FAMILIES.get(rule.name, EVERYTHING)
    for _ in range(ATTEMPTS):
        made = scenario
        for _ in range(random.choice((1, 1, 2, 3))):
            made = random.choice(_CHANGES)(random, made, family)
        fitted = fitting(made, rule, controller)
        if fitted is not None and fitted != scenario:
            return fitted
    return None


def fitting(scenario: Scenario, rule: Rule, controller: str) -> Scenario | None:
    """Return a scenario with the first of LENGTHS for which the scenario is lawful and the rule applies, or None."""
    also = FAMILIES.get(rule.name, EVERYTHING).also
    rules = (rule, RULES[also]) if also else (rule,)
    for seconds in LENGTHS:
        made = replace(scenario, duration=seconds * SECOND)
        if next(faults(made), None) is None and all(one.asked(made, controller) is None for one in rules):
            return made
    return None


def _path(random: Random, family: Family) -> Scenario:
    while True:
        rate, rtt = random.choice(RATES) * 1000, random.choice(RTTS) * MS
        bdp = rate * rtt // (8 * SECOND)
        if LEAST <= bdp <= MOST:
            break
    buffer = max(8 * 1500, bdp * random.choice(BUFFERS) // 100)
    jitter = random.choice(JITTERS) * MS if random.random() < 0.8 else 0
    starts = [0, *(random.randrange(0, 3000) * MS for _ in range(family.flows - 1))]
    flows = [records.FlowRecord(start=start) for start in sorted(starts)]
    if family.beside:
        flows.append(records.FlowRecord(start=random.randrange(0, 2000) * MS, beside=family.beside))
        if random.random() < 0.5:
            flows = [replace(flows[0], start=random.randrange(0, 2000) * MS), replace(flows[1], start=0)]
    threshold = max(bdp, 6000) * random.choice((25, 50, 100)) // 100 if family.marks else None
    return Scenario(
        duration=SECOND,
        rate=rate,
        rtt=rtt,
        buffer=buffer,
        jitter=jitter,
        threshold=threshold,
        flows=tuple(flows),
        seed=random.randrange(1000),
    )


def _event(random: Random, kind: str, path: Scenario, early: bool) -> records.Event:
    at = random.randrange(0, 3000 if early else EVENTS_END) * MS
    if early and kind == "limit" and random.random() < 0.5:
        at = 0
    length = random.choice((1, 2, 5, 10, 20, 50)) * random.randrange(10, 100) * MS
    draws: dict[str, Callable[[], records.Event]] = {
        "hold": lambda: records.HoldEvent(at, max(MS, path.jitter * random.choice((25, 50, 75, 100, 100)) // 100)),
        "rate": lambda: records.RateEvent(at, max(250_000, path.rate * random.choice((1, 2, 4, 12, 16, 32)) // 8)),
        "rtt": lambda: records.RttEvent(at, path.rtt * random.choice((2, 5, 12, 15, 20, 30, 40)) // 10),
        "loss": lambda: records.LossEvent(at, random.choice((1, 1, 1, 2, 3, 5, 10))),
        "idle": lambda: records.IdleEvent(at, random.choice(IDLE) * random.randrange(50, 101) // 100),
        "limit": lambda: records.LimitEvent(at, 2 * length, max(10_000, path.rate * random.randrange(1, 60) // 100)),
        "acks": lambda: _acks(random, at, length, path),
        "outage": lambda: records.OutageEvent(at, min(length, 3 * SECOND)),
        "buffer": lambda: records.BufferEvent(at, max(8 * 1500, path.buffer * random.choice((1, 2, 8, 16)) // 4)),
    }
    return draws[kind]()


def _acks(random: Random, at: int, length: int, path: Scenario) -> records.AcksEvent:
    if path.jitter and random.random() < 0.7:
        return records.AcksEvent(at, length, aggregate=max(MS, path.jitter * random.choice((25, 50, 100)) // 100))
    return records.AcksEvent(at, length, lose=random.choice((2, 3, 5, 10)))


def _ordered(events: list[records.Event]) -> tuple[records.Event, ...]:
    return tuple(sorted(events, key=lambda event: event.at))


def _add(random: Random, scenario: Scenario, family: Family) -> Scenario:
    if not family.kinds or len(scenario.events) >= 2 * family.most:
        return scenario
    kind = random.choice(family.kinds)
    if kind != "losses":
        new = [_event(random, kind, scenario, family.early)]
    else:
        at, gap = _event(random, "loss", scenario, family.early).at, scenario.rtt * random.choice((2, 3, 5, 8))
        new = [records.LossEvent(at + number * gap, 1) for number in range(random.randint(4, 8))]
    return replace(scenario, events=_ordered([*scenario.events, *new]))


def _remove(random: Random, scenario: Scenario, family: Family) -> Scenario:
    if not scenario.events:
        return scenario
    out = random.randrange(len(scenario.events))
    return replace(scenario, events=scenario.events[:out] + scenario.events[out + 1 :])


def _move(random: Random, scenario: Scenario, family: Family) -> Scenario:
    """Move an event in time by a large or a small amount, or scale its length or amount."""
    if not scenario.events:
        return scenario
    place = random.randrange(len(scenario.events))
    event = scenario.events[place]
    field = random.choice(["at", "at", *(f for f in event.__struct_fields__ if f not in ("at", "flow"))])
    value = getattr(event, field)
    if field == "at":
        value = max(
            0, value + random.choice((-1, 1)) * random.choice((1, 10, 100, 1000)) * random.randrange(1, 10) * MS
        )
    else:
        value = max(1, value * random.choice((50, 80, 90, 110, 125, 200)) // 100) if value else 0
    events = [*scenario.events]
    events[place] = replace(event, **{field: value})
    return replace(scenario, events=_ordered(events))


def _repath(random: Random, scenario: Scenario, family: Family) -> Scenario:
    """Change one number of the path, or the start of flows."""
    bdp = scenario.rate * scenario.rtt // (8 * SECOND)
    other = _path(random, family)
    field = random.choice(("rate", "rtt", "buffer", "jitter", "flows", "threshold"))
    if field == "buffer":
        return replace(scenario, buffer=max(8 * 1500, bdp * random.choice(BUFFERS) // 100))
    made: Scenario = replace(scenario, **{field: getattr(other, field)})
    return made if LEAST <= made.rate * made.rtt // (8 * SECOND) <= MOST else scenario


_CHANGES: tuple[Callable[[Random, Scenario, Family], Scenario], ...] = (_add, _remove, _move, _move, _move, _repath)

#: The paths on which a trace's jitter is tried: bits per second, and R_m in ns.
TRACE_PATHS = ((12_000_000, 40 * MS), (8_000_000, 60 * MS), (24_000_000, 20 * MS))

#: The time in ns before a trace begins, in which a sender can grow its window, and the length of the rest of the run.
LEADS, TRACE_REST = (0, 3 * SECOND), 15 * SECOND


def of_trace(path: str | Path) -> Iterator[Scenario]:
    """Yield scenarios with the jitter of a trace. In some, the jitter begins at once, and in others after start-up.

    In each step in which the trace's network serves less than its rate although bytes wait, the jitter box holds
    packets until the end of the step.
    """
    from ccmatic.networks.traces import Trace  # imported here: slow to import, and few searches begin with traces

    trace = Trace.load(path)
    columns, constants = trace.columns, trace.constants
    if not {"A", "S", "L"} <= columns.keys():
        raise InputError("the trace has no columns A, S and L; expected the trace of one link", str(path))
    sent, served, lost = columns["A"], columns["S"], columns["L"]
    late = [
        step
        for step in range(1, trace.horizon)
        if served[step] - served[step - 1] < constants["C"] and sent[step - 1] - lost[step - 1] > served[step]
    ]
    room = constants.get("beta")
    for rate, rtt in TRACE_PATHS:
        bdp, step_length = rate * rtt // (8 * SECOND), int(rtt / constants["R_m"])
        size = 4 * bdp if room is None else max(12_000, int(room / (constants["C"] * constants["R_m"]) * bdp))
        for lead in LEADS:
            yield Scenario(
                duration=lead + trace.horizon * step_length + TRACE_REST,
                rate=rate,
                rtt=rtt,
                buffer=size,
                jitter=max(step_length, int(constants["D"] * step_length)),
                events=tuple(records.HoldEvent(lead + (step - 1) * step_length, step_length) for step in late),
            )
