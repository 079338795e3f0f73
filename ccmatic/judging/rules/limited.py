"""Rule: a window that the application does not use does not grow."""

import numpy as np

from ccmatic import records
from ccmatic.judging.rules.premises import INITIAL
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_most
from ccmatic.judging.scenario import Scenario

FACTOR = 2


def _excludes(scenario: Scenario) -> str | None:
    kinds = records.LimitEvent | records.IdleEvent
    limited = any(isinstance(event, kinds) and event.flow == 0 for event in scenario.events)
    return None if limited else "the application never limits the sender"


def _measure(evidence: Evidence) -> Measured | None:
    samples = evidence.run.samples[evidence.run.samples["flow"] == 0]
    samples = samples[(samples["window"] >= 0) & (samples["in_flight"] >= 0)]
    if not len(samples):
        return None
    used = FACTOR * np.maximum.accumulate(samples["in_flight"]) + INITIAL * evidence.run.scenario.packet
    ratios = samples["window"] / used
    place = int(ratios.argmax())
    return at_most(float(ratios[place]), 1, int(samples["time"][place]))


RULE = Rule(
    name="app-limited",
    definition="If the application limits a sender, its window stays near the most bytes that it had in flight so far.",
    threshold="at most 2 times the most bytes in flight, and 10 packets",
    source="RFC 9002, 7.8; RFC 7661, 4.1",
    excludes=_excludes,
    measure=_measure,
)
