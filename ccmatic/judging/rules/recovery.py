"""Rule: a sender uses the link again after losses or an outage."""

import numpy as np

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
)
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, Run, at_least
from ccmatic.judging.scenario import SECOND, Scenario

#: The least share of the link, the time in ns that shows it, the most packets that events lose, and the instant before
#: which no packet is lost.
LEAST, REST, LARGEST_BURST, EARLIEST = 0.5, 3 * SECOND, 10, SECOND

#: The fate of a packet that an event loses (`lost` in the log).
PLANNED = 4


def _time(scenario: Scenario) -> int:
    """Return the time in ns after which a sender uses the link again."""
    outages = sum(event.length for event in scenario.events if isinstance(event, records.OutageEvent))
    return 2 * outages + 3 * SECOND + climb(scenario) + drain(scenario)


def _few(scenario: Scenario) -> str | None:
    if sum(event.packets for event in scenario.events if isinstance(event, records.LossEvent)) > LARGEST_BURST:
        return f"the events lose more than {LARGEST_BURST} packets"
    return "packets are lost before a first window has grown" if first_start(scenario) < EARLIEST else None


def _last_loss(run: Run) -> int:
    """Return the instant in ns by which a sender may notice the last packet that an event loses.

    All of these packets may be probes. Then the last one leaves at a timeout, and the next timeout takes at most twice
    the time since a packet arrived.
    """
    planned = np.nonzero(run.packets["lost"] == PLANNED)[0]
    if not len(planned):
        return 0
    times, last = run.packets["arrival"], int(planned[-1])
    arrived = np.nonzero(run.packets["lost"][:last] == 0)[0]
    return int(3 * times[last] - 2 * times[arrived[-1]]) if len(arrived) else int(3 * times[last])


def _measure(evidence: Evidence) -> Measured | None:
    run = evidence.run
    begin = max(last_end(run.scenario), _last_loss(run)) + _time(run.scenario)
    if seen_until(run) - begin < REST:
        return None
    return at_least(utilisation(run, begin, seen_until(run)), LEAST, begin)


RULE = Rule(
    name="recovery",
    definition="After losses or outages, a sender uses the link again. It has one round trip per packet of a BDP, 20 "
    "more, 4 s, twice the outages, and the time in which the buffer drains. If the last lost packet leaves at a "
    "timeout, it also has twice the time since a packet arrived.",
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
        lasts(lambda scenario: last_end(scenario) + _time(scenario) + REST + scenario.rtt),
    ),
    measure=_measure,
)
