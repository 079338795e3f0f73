"""Rule: a sender forgets a short disturbance."""

from ccmatic import records
from ccmatic.judging.rules.measures import delivered
from ccmatic.judging.rules.premises import (
    all_of,
    alone,
    climb,
    first_start,
    last_end,
    lasts,
    lossless,
    no_lost_acks,
    only,
    roomy,
)
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_least
from ccmatic.judging.scenario import SECOND, Scenario

EPSILON, REST = 0.25, 5 * SECOND


def _short(scenario: Scenario) -> str | None:
    span = last_end(scenario) - first_start(scenario)
    return None if span <= scenario.rtt else f"the disturbance lasts {span / SECOND:g} s, longer than R_m"


def _measure(evidence: Evidence) -> Measured | None:
    scenario, other = evidence.run.scenario, evidence.undisturbed
    begin, end = last_end(scenario) + climb(scenario), scenario.duration
    usual = delivered(other, begin, end) if other else 0
    return at_least(delivered(evidence.run, begin, end) / usual, 1 - EPSILON, begin) if usual else None


RULE = Rule(
    name="forgetting",
    definition="After jitter that disturbs the run for at most one R_m, a sender soon delivers as much as without it. "
    "It has one round trip per packet of a BDP, 20 more, and 1 s.",
    unit="of the undisturbed run",
    threshold="at least 75 % of the bytes of the undisturbed run, over 5 s or more",
    source="RFC 9743, 7.3 (paths with varying delay); Arun, Alizadeh, Balakrishnan, SIGCOMM 2022 (jitter within D)",
    excludes=all_of(
        alone,
        lossless,
        roomy,
        no_lost_acks,
        only(records.HoldEvent, records.AcksEvent, some=True),
        _short,
        lasts(lambda s: last_end(s) + climb(s) + REST),
    ),
    measure=_measure,
    needs=("undisturbed",),
)
