"""Rule: a window that the application does not use does not grow."""

import numpy as np

from ccmatic import records
from ccmatic.judging.rules.measures import most_in_flight, windows
from ccmatic.judging.rules.premises import INITIAL
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_most
from ccmatic.judging.scenario import Scenario

FACTOR = 2


def _phases(scenario: Scenario) -> list[tuple[int, int]]:
    """Return the spans in ns in which the application limits the first flow."""
    kinds = records.LimitEvent | records.IdleEvent
    limits = [event for event in scenario.events if isinstance(event, kinds) and event.flow == 0]
    return [(event.at, event.at + event.length) for event in limits]


def _excludes(scenario: Scenario) -> str | None:
    return None if _phases(scenario) else "the application never limits the sender"


def _measure(evidence: Evidence) -> Measured | None:
    times, values = windows(evidence.run)
    limited = np.zeros(len(times), bool)
    for begin, end in _phases(evidence.run.scenario):
        limited |= (begin <= times) & (times <= end)
    if not limited.any():
        return None
    instants, used = most_in_flight(evidence.run)
    initial = max(INITIAL * evidence.run.scenario.packet, int(values[0]))
    times, values = times[limited], values[limited]
    ratios = values / (used[np.searchsorted(instants, times, side="right")] + initial)
    place = int(ratios.argmax())
    return at_most(float(ratios[place]), FACTOR, int(times[place]))


RULE = Rule(
    name="app-limited",
    definition="While the application limits a sender, its window stays near the most bytes that it had in flight so "
    "far.",
    unit="times the sum",
    threshold="at most 2 times the sum of the most bytes in flight and the first window (10 packets if that is more)",
    source="RFC 9002, 7.8; RFC 7661, 4.1",
    excludes=_excludes,
    measure=_measure,
)
