"""Rule: a timeout without a loss costs no window."""

from ccmatic import records
from ccmatic.judging.rules.measures import lost, window_at, windows_within
from ccmatic.judging.rules.premises import all_of, alone, lossless, only, round_trip
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_least
from ccmatic.judging.scenario import SECOND, Scenario

LEAST, ROUNDS = 0.65, 10


def _late(scenario: Scenario) -> str | None:
    """The premise that one hold outlasts every timer: thrice R_m, and the 25 ms by which acknowledgements wait."""
    if len(scenario.events) != 1 or not isinstance(hold := scenario.events[0], records.HoldEvent):
        return "the rule is about one hold"
    least = 3 * scenario.rtt + 25 * 10**6
    after = hold.at + hold.length + (ROUNDS + 1) * round_trip(scenario)
    if after > scenario.duration:
        return "the run ends before a window recovers"
    return None if hold.length >= least else f"the hold is below 3 R_m + 25 ms, {least / SECOND:g} s"


def _measure(evidence: Evidence) -> Measured | None:
    run, [hold] = evidence.run, evidence.run.scenario.events
    assert isinstance(hold, records.HoldEvent)
    end = hold.at + hold.length
    after = end + ROUNDS * round_trip(run.scenario)
    before = window_at(run, hold.at)
    windows = windows_within(run, end + round_trip(run.scenario), after)
    if not before or not len(windows) or lost(run, hold.at - 2 * round_trip(run.scenario), after):
        return None
    return at_least(int(windows.max()) / before, LEAST, end)


RULE = Rule(
    name="timeout",
    definition="If the jitter box holds packets for so long that timers fire, and no packet is lost, the window is "
    "soon what it was. The sender has 10 round trips.",
    unit="of the window before",
    threshold="at least 65 % of the window before",
    source="RFC 9002, 6.2.1 (a probe timeout marks no packet as lost); RFC 9438, 4.9 (spurious events)",
    excludes=all_of(alone, lossless, only(records.HoldEvent, some=True), _late),
    measure=_measure,
)
