"""Rule: the same scenario and seed give the same run."""

import numpy as np

from ccmatic.judging.rules.rule import Evidence, Measured, Rule
from ccmatic.judging.scenario import Scenario


def _excludes(scenario: Scenario) -> str | None:
    return None


def _measure(evidence: Evidence) -> Measured | None:
    if evidence.again is None or getattr(evidence.run, "real_time", False):
        return None
    one, two = evidence.run.packets, evidence.again.packets
    length = min(len(one), len(two))
    differ = np.nonzero(one[:length] != two[:length])[0]
    if not len(differ) and len(one) == len(two):
        return Measured(0, 1)
    place = int(differ[0]) if len(differ) else length
    longer = one if len(one) > place else two
    return Measured(len(differ) + abs(len(one) - len(two)), -1, int(longer["arrival"][place]))


RULE = Rule(
    name="determinism",
    definition="Two runs of one scenario, with one seed, have the same packets at the same instants.",
    unit="packets",
    threshold="no packet differs",
    source="the reproduction of every finding depends on it",
    excludes=_excludes,
    measure=_measure,
    needs=("again",),
)
