"""Rules: after one loss, a window falls by the factor in the controller's specification."""

from collections.abc import Callable

from ccmatic import records
from ccmatic.judging.rules.measures import lost, reduction
from ccmatic.judging.rules.premises import all_of, alone, drain, lossless, only, round_trip
from ccmatic.judging.rules.rule import Evidence, Measured, Rule
from ccmatic.judging.scenario import SECOND, Scenario

#: The tolerance of a factor, and the fate of packets that an event loses.
TOLERANCE, FORCED = 0.03, 4

#: The most packets in a row that an event loses. Together they are one congestion event.
MOST = 3


def _one(scenario: Scenario) -> str | None:
    [loss, *others] = scenario.events
    if others or not isinstance(loss, records.LossEvent) or loss.packets > MOST:
        return f"the rule is about at most {MOST} packets in a row"
    return None if SECOND <= loss.at < scenario.duration - SECOND else "the packet is lost at the edge of the run"


def _measure(beta: float) -> Callable[[Evidence], Measured | None]:
    def measure(evidence: Evidence) -> Measured | None:
        run, scenario = evidence.run, evidence.run.scenario
        gone = run.packets[(run.packets["flow"] == 0) & (run.packets["lost"] == FORCED)]
        if not 1 <= len(gone) <= MOST:
            return None
        at, rtt = int(gone["arrival"][0]), round_trip(scenario) + drain(scenario)
        if lost(run, at - 4 * rtt, at + 4 * rtt) != len(gone):
            return None
        found = reduction(run, at, rtt)
        return found and Measured(found[0], 1 - abs(found[0] - beta) / TOLERANCE, found[1])

    return measure


def _rule(name: str, beta: float, source: str, *controllers: str) -> Rule:
    return Rule(
        name=name,
        definition=f"After one to {MOST} packets lost in a row, and no other, the window falls to the share β that "
        f"{source} specifies.",
        unit="of the window before",
        threshold=f"{beta:g}, within {TOLERANCE:g}",
        source=source,
        excludes=all_of(alone, lossless, only(records.LossEvent, some=True), _one),
        measure=_measure(beta),
        controllers=controllers,
    )


CUBIC = _rule("decrease-cubic", 0.7, "RFC 9438, 4.6", "cubic")
RENO = _rule("decrease-reno", 0.5, "RFC 9002, 7.3.2", "reno", "newreno", "new_reno")
