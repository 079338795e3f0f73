"""Rule: a window that the application does not use does not grow."""

import numpy as np

from ccmatic import records
from ccmatic.judging.rules.measures import most_in_flight, windows
from ccmatic.judging.rules.premises import INITIAL, largest_rate
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_most
from ccmatic.judging.scenario import SECOND, Scenario

FACTOR = 2


def _phases(scenario: Scenario) -> list[tuple[int, int]]:
    """Return the spans in ns in which the application limits the first flow."""
    kinds = records.LimitEvent | records.IdleEvent
    limits = [event for event in scenario.events if isinstance(event, kinds) and event.flow == 0]
    return [(event.at, event.at + event.length) for event in limits]


def _excludes(scenario: Scenario) -> str | None:
    return None if _phases(scenario) else "the application never limits the sender"


def _paced(scenario: Scenario) -> int:
    """Return the bytes that the link can serve in the longest delay that events cause.

    After such a delay, a sender paces by a long round trip for as long. Its window, which pacing alone keeps from being
    used, may grow by the bytes that are acknowledged meanwhile (RFC 9002, 7.8).
    """
    held = [event.length for event in scenario.events if isinstance(event, records.HoldEvent)]
    held += [event.aggregate for event in scenario.events if isinstance(event, records.AcksEvent)]
    out = sum(event.length for event in scenario.events if isinstance(event, records.OutageEvent))
    return largest_rate(scenario) * (max([0, *held]) + out) // (8 * SECOND)


def _measure(evidence: Evidence) -> Measured | None:
    times, values = windows(evidence.run)
    limited = np.zeros(len(times), bool)
    for begin, end in _phases(evidence.run.scenario):
        limited |= (begin <= times) & (times <= end)
    if not limited.any():
        return None
    instants, used = most_in_flight(evidence.run)
    initial = max(INITIAL * evidence.run.scenario.packet, int(values[0])) + _paced(evidence.run.scenario)
    times, values = times[limited], values[limited]
    ratios = values / (used[np.searchsorted(instants, times, side="right")] + initial)
    place = int(ratios.argmax())
    return at_most(float(ratios[place]), FACTOR, int(times[place]))


RULE = Rule(
    name="app-limited",
    definition="While the application limits a sender, its window stays near the most bytes that it had in flight so "
    "far. After a delay that events cause, the window may grow for as long.",
    unit="times the sum",
    threshold="at most 2 times the sum of the most bytes in flight, the first window (10 packets if that is more), and "
    "the bytes that the link serves in the longest delay by events",
    source="RFC 9002, 7.8; RFC 7661, 4.1",
    excludes=_excludes,
    measure=_measure,
)
