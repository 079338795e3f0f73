"""Rule: a sender fills the link in time."""

from ccmatic import records
from ccmatic.judging.rules.measures import utilisation
from ccmatic.judging.rules.premises import (
    all_of,
    alone,
    lasts,
    lossless,
    only,
    roomy,
    round_trip,
    start_up,
)
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_most
from ccmatic.judging.scenario import SECOND, Scenario

SHARE = 0.8


def _one_hold(scenario: Scenario) -> str | None:
    early = [event for event in scenario.events if event.at < start_up(scenario)]
    return "two events disturb the start-up" if len(early) > 1 else None


def _measure(evidence: Evidence) -> Measured | None:
    scenario = evidence.run.scenario
    span, most = 5 * round_trip(scenario), start_up(scenario)
    step = max(span // 5, scenario.duration // 1000)
    for begin in range(0, scenario.duration - span - scenario.rtt, step):
        if utilisation(evidence.run, begin, begin + span) >= SHARE:
            return at_most((begin + span) / SECOND, most / SECOND, begin)
    return at_most(scenario.duration / SECOND, most / SECOND, scenario.duration)


RULE = Rule(
    name="start-up",
    definition="A sender fills 80 % of the link for 5 (R_m + D) within the time of start-up, although the jitter box "
    "holds packets once.",
    unit="s",
    threshold="20 round trips, 2 more per doubling from 10 packets to BDP + buffer, and 1 s",
    source="RFC 9406, 4.2 (a false exit resumes slow start); RFC 6928",
    excludes=all_of(
        alone,
        lossless,
        roomy,
        only(records.HoldEvent),
        _one_hold,
        lasts(lambda scenario: 2 * start_up(scenario)),
    ),
    measure=_measure,
)
