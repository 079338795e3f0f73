"""Rule: a window is not far above what the network can hold."""

from ccmatic import records
from ccmatic.judging.rules.measures import windows
from ccmatic.judging.rules.premises import INITIAL, bdp, buffers, largest_rate
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_most
from ccmatic.judging.scenario import SECOND, Scenario

K = 3


def _excludes(scenario: Scenario) -> str | None:
    limited = any(isinstance(e, records.IdleEvent | records.LimitEvent) for e in scenario.events)
    return "the application limits the sender; the rule 'app-limited' is about that" if limited else None


def _measure(evidence: Evidence) -> Measured | None:
    run, scenario = evidence.run, evidence.run.scenario
    held = largest_rate(scenario) * (scenario.jitter + _outage(scenario)) // (8 * SECOND)
    room = bdp(scenario) + max(buffers(scenario)) + held + INITIAL * scenario.packet
    measured = None
    for number, flow in enumerate(scenario.flows):
        times, values = windows(run, number)
        if flow.beside is None and len(values):
            place = int(values.argmax())
            this = at_most(int(values[place]) / room, K, int(times[place]))
            measured = this if measured is None or this.margin < measured.margin else measured
    return measured


def _outage(scenario: Scenario) -> int:
    return sum(event.length for event in scenario.events if isinstance(event, records.OutageEvent))


RULE = Rule(
    name="window",
    definition="The window of a sender that always has data stays near what the network can hold.",
    unit="times the room",
    threshold="at most 3 (BDP + buffer + C D + 10 packets)",
    source="RFC 9743, 5.1.2; RFC 5681, 3.1: slow start at most doubles the window until it detects a loss",
    excludes=_excludes,
    measure=_measure,
)
