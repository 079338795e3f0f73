"""Rule: after start-up, a sender uses the link."""

from ccmatic import records
from ccmatic.judging.rules.measures import STEP, seen_until, utilisation
from ccmatic.judging.rules.premises import (
    all_of,
    alone,
    climb,
    first_start,
    lasts,
    lossless,
    no_lost_acks,
    only,
    roomy,
    start_up,
)
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_least
from ccmatic.judging.scenario import SECOND, Scenario

LEAST, INTERVAL = 0.5, 10 * SECOND


def _begin(scenario: Scenario) -> int:
    """Return the end of start-up.

    If an event disturbs the start-up, add the time for growth by congestion avoidance.
    """
    disturbed = first_start(scenario) < start_up(scenario)
    return start_up(scenario) + (climb(scenario) if disturbed else 0)


def _measure(evidence: Evidence) -> Measured | None:
    begin, end = _begin(evidence.run.scenario), seen_until(evidence.run)
    spans = range(begin, end - INTERVAL + 1, STEP)
    values = [(utilisation(evidence.run, t, t + INTERVAL), t) for t in spans]
    return at_least(min(values)[0], LEAST, min(values)[1]) if values else None


RULE = Rule(
    name="utilisation",
    definition="After start-up, a sender uses the link over every 10 s, on a link whose losses come from its buffer.",
    unit="of the link",
    threshold="at least 50 % over every 10 s",
    source="RFC 9743, 5.1; RFC 9438, 5.2; AIMD of β with a buffer of a BDP leaves no share below β of the link unused",
    excludes=all_of(
        alone,
        lossless,
        roomy,
        no_lost_acks,
        only(records.HoldEvent, records.AcksEvent),
        lasts(lambda scenario: _begin(scenario) + INTERVAL + scenario.rtt),
    ),
    measure=_measure,
)
