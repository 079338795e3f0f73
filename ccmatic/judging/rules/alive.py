"""Rule: the code does not fail, and goes on sending."""

import numpy as np

from ccmatic import records
from ccmatic.judging.rules.measures import arrivals
from ccmatic.judging.rules.premises import clear_outages, drain, round_trip
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_most
from ccmatic.judging.scenario import SECOND, Scenario

#: The number of consecutive losses that a probe may need (each doubles the next timeout), and the first timeout.
LARGEST_BURST, FIRST = 3, SECOND


def _excludes(scenario: Scenario) -> str | None:
    bursts = [event.packets for event in scenario.events if isinstance(event, records.LossEvent)]
    if any(packets > LARGEST_BURST for packets in bursts) or scenario.policer:
        return "the link may lose every packet for a long time"
    if scenario.loss and (scenario.loss.share > 0.1 or scenario.loss.burst > LARGEST_BURST):
        return "the link loses above 10 % of the packets"
    return clear_outages(scenario)


def _measure(evidence: Evidence) -> Measured | None:
    run = evidence.run
    if run.failure is not None:
        return Measured(run.scenario.duration / SECOND, -1)
    paused = sum(e.length for e in run.scenario.events if isinstance(e, records.IdleEvent | records.OutageEvent))
    acks = sum(e.length for e in run.scenario.events if isinstance(e, records.AcksEvent) and e.lose)
    most = 3 * SECOND + 10 * round_trip(run.scenario) + 2 * drain(run.scenario) + 3 * paused + 2 * acks
    most += (2**LARGEST_BURST - 1) * FIRST * any(isinstance(e, records.LossEvent) for e in run.scenario.events)
    slow = [e for e in run.scenario.events if isinstance(e, records.LimitEvent)]
    most += max([0, *(run.scenario.packet * 8 * 2 * SECOND // e.bits for e in slow)])
    worst, at = 0, 0
    for number, flow in enumerate(run.scenario.flows):
        if flow.beside is None:
            end = run.scenario.duration if flow.stop is None else flow.stop
            times, _ = arrivals(run, number)
            edges = np.concatenate(([flow.start], times[(times > flow.start) & (times < end)], [end]))
            gaps = np.diff(edges)
            place = int(gaps.argmax())
            if gaps[place] > worst:
                worst, at = int(gaps[place]), int(edges[place])
    return at_most(worst / SECOND, most / SECOND, at)


RULE = Rule(
    name="alive",
    definition="The code does not fail, and data arrives again and again while the application offers some.",
    unit="s",
    threshold="no failure; at most 3 s + 10 (R_m + D) + 2 buffer/C without data, 3 times the pauses more, and the "
    "timeouts that losses may double",
    source="RFC 9002, 6.2 (probes); RFC 9743, 5.1.1",
    excludes=_excludes,
    measure=_measure,
)
