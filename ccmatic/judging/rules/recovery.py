"""Rule: a sender uses the link again after losses or an outage."""

from ccmatic import records
from ccmatic.judging.rules.measures import seen_until, utilisation
from ccmatic.judging.rules.premises import (
    all_of,
    alone,
    clear_outages,
    climb,
    drain,
    first_start,
    last_end,
    lasts,
    lossless,
    only,
    roomy,
    round_trip,
)
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_least
from ccmatic.judging.scenario import SECOND, Scenario

#: The least share of the link, the time in ns that shows it, the most packets that events lose, the packets that probe
#: after a timeout, and the instant before which no packet is lost.
LEAST, REST, LARGEST_BURST, PROBES, EARLIEST = 0.5, 3 * SECOND, 10, 2, SECOND


def _begin(scenario: Scenario) -> int:
    outages = sum(event.length for event in scenario.events if isinstance(event, records.OutageEvent))
    timeout = 2 * (round_trip(scenario) + drain(scenario))
    doubled = ((1 << (_lost(scenario) + 1) // PROBES) - 1) * timeout
    return last_end(scenario) + 2 * outages + 3 * SECOND + doubled + climb(scenario) + drain(scenario)


def _lost(scenario: Scenario) -> int:
    """Return the packets that the events lose. All of them may be probes, two per timeout, which doubles."""
    return sum(event.packets for event in scenario.events if isinstance(event, records.LossEvent))


def _few(scenario: Scenario) -> str | None:
    if _lost(scenario) > LARGEST_BURST:
        return f"the events lose more than {LARGEST_BURST} packets"
    return "packets are lost before a first window has grown" if first_start(scenario) < EARLIEST else None


def _measure(evidence: Evidence) -> Measured | None:
    begin = _begin(evidence.run.scenario)
    return at_least(utilisation(evidence.run, begin, seen_until(evidence.run)), LEAST, begin)


RULE = Rule(
    name="recovery",
    definition="After losses or outages, a sender uses the link again. It has one round trip per packet of a BDP, 20 "
    "more, 4 s, twice the outages, the timeouts that the losses may double, and the time in which the buffer drains.",
    unit="of the link",
    threshold="at least 50 % of the link from then on",
    source="RFC 9002, 6.2 and 7.6 (persistent congestion); RFC 5681, 3.1",
    excludes=all_of(
        alone,
        lossless,
        roomy,
        only(records.LossEvent, records.OutageEvent, some=True),
        _few,
        clear_outages,
        lasts(lambda scenario: _begin(scenario) + REST + scenario.rtt),
    ),
    measure=_measure,
)
