"""Rules: a sender uses the link again after the path changed."""

from ccmatic import records
from ccmatic.judging.rules.measures import seen_until, utilisation
from ccmatic.judging.rules.premises import (
    Premise,
    all_of,
    alone,
    bdp,
    climb,
    drain,
    last_end,
    lasts,
    least_buffer,
    lossless,
    only,
)
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_least
from ccmatic.judging.scenario import SECOND, Scenario

LEAST, REST, FILTERS = 0.5, 3 * SECOND, 10 * SECOND


def _begin(scenario: Scenario) -> int:
    """Return the instant in ns from which a sender uses the link again.

    A sender's filters of delay may last for 10 s. A full buffer drains at the new rate, and loses packets meanwhile.
    """
    return last_end(scenario) + climb(scenario) + FILTERS + 5 * drain(scenario)


def _measure(evidence: Evidence) -> Measured | None:
    begin = _begin(evidence.run.scenario)
    return at_least(utilisation(evidence.run, begin, seen_until(evidence.run)), LEAST, begin)


def _half(scenario: Scenario) -> str | None:
    return None if 2 * least_buffer(scenario) >= bdp(scenario) else "the buffer is below half of a BDP"


def _excludes(kind: type[records.EventRecord]) -> Premise:
    long = lasts(lambda scenario: _begin(scenario) + REST + 2 * scenario.rtt)
    return all_of(alone, lossless, _half, only(kind, some=True), long)


_THRESHOLD = "at least 50 % of the link from then on"

RATE = Rule(
    name="rate-change",
    definition="After the last change of the rate, a sender uses the link again. It has one round trip per packet of a "
    "BDP, 20 more, 11 s, and the time in which the buffer drains five times.",
    unit="of the link",
    threshold=_THRESHOLD,
    source="RFC 9743, 7.9 (sudden changes in the path); RFC 9438, 4.3",
    excludes=_excludes(records.RateEvent),
    measure=_measure,
)

RTT = Rule(
    name="rtt-change",
    definition="After the last change of R_m, a sender uses the link again. It has the same time as in rate-change.",
    unit="of the link",
    threshold=_THRESHOLD,
    source="RFC 9743, 7.9 (sudden changes in the path); draft-ietf-ccwg-bbr, 2.13 (MinRTTFilterLen, 10 s)",
    excludes=_excludes(records.RttEvent),
    measure=_measure,
)
