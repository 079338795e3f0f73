"""Rule: a sender reacts to congestion marks."""

from ccmatic.judging.rules.measures import lost, reduction, windows_within
from ccmatic.judging.rules.premises import DATAGRAM, bdp, drain, round_trip, start_up
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_most
from ccmatic.judging.scenario import SECOND, Scenario

#: The largest share of the window that a reaction leaves, and the datagrams of the smallest window that has to react. A
#: window of two datagrams may stay.
MOST, SMALLEST = 0.9, 4


def _excludes(scenario: Scenario) -> str | None:
    if scenario.threshold is None:
        return "the link marks nothing"
    if 4 * scenario.threshold < bdp(scenario):
        return "the threshold is below a quarter of a BDP"
    if 2 * (scenario.buffer - scenario.threshold) < bdp(scenario) + scenario.threshold:
        return "the buffer may fill before a sender sees a mark"
    if scenario.duration < start_up(scenario) + 5 * SECOND:
        return "the run ends within 5 s after start-up"
    return "events disturb the reaction" if scenario.events or scenario.loss or scenario.policer else None


def _measure(evidence: Evidence) -> Measured | None:
    run, scenario = evidence.run, evidence.run.scenario
    marked = run.packets[(run.packets["flow"] == 0) & (run.packets["marked"] == 1) & (run.packets["released"] >= 0)]
    if not len(marked):
        return None
    begin, end = start_up(scenario), scenario.duration
    if lost(run, begin, end):
        first = run.packets[(run.packets["lost"] != 0) & (run.packets["arrival"] >= begin)]["arrival"]
        return at_most(1, MOST, int(first.min()))
    times = marked["released"][marked["released"] >= begin]
    if not len(times):
        return None
    long = round_trip(scenario) + drain(scenario)
    # A mark within two round trips of the reaction to an earlier one belongs to the same event.
    before = int(times.min()) - 2 * long
    if windows_within(run, before, before + 5 * long).max(initial=0) < SMALLEST * DATAGRAM:
        return None
    found = reduction(run, before, 5 * long // 3)
    return at_most(found[0], MOST, found[1]) if found else None


RULE = Rule(
    name="marks",
    definition="After the first packet with a mark after start-up, a sender that asked for marks lowers its window "
    "within three round trips. So the buffer never fills after start-up: it has room for 1.5 times the BDP and the "
    "threshold. A window below 4 datagrams may stay.",
    unit="of the window before",
    threshold="to at most 90 %, and no packet lost after start-up",
    source="RFC 9002, 7.1; RFC 3168, 5; RFC 8511 (0.8 to 0.85); RFC 9438, 4.2 (half more per round trip at most)",
    excludes=_excludes,
    measure=_measure,
)
