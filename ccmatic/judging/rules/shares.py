"""Rules: flows share a link."""

from ccmatic.judging.rules.measures import delivered, seen_until
from ccmatic.judging.rules.premises import (
    DATAGRAM,
    Premise,
    all_of,
    bdp,
    drain,
    lasts,
    lossless,
    only,
    round_trip,
    sawtooth,
    start_up,
)
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_least
from ccmatic.judging.scenario import SECOND, Scenario

LEAST, REST, NEIGHBOUR = 0.2, 10 * SECOND, "cubic"


def _begin(scenario: Scenario) -> int:
    settle = (20 + (bdp(scenario) + scenario.buffer) // DATAGRAM) * (round_trip(scenario) + drain(scenario))
    return max(flow.start for flow in scenario.flows) + start_up(scenario) + settle + SECOND


def _measure(evidence: Evidence) -> Measured | None:
    scenario = evidence.run.scenario
    begin, end = _begin(scenario), seen_until(evidence.run)
    got = [delivered(evidence.run, begin, end, number) for number in range(len(scenario.flows))]
    return at_least(min(got) * len(got) / sum(got), LEAST, begin) if sum(got) else None


def _among(beside: str | None) -> Premise:
    """Return the premise that a second flow, of a controller or of the subject, joins the first, and stays."""

    def premise(scenario: Scenario) -> str | None:
        if len(scenario.flows) < 2 or {flow.beside for flow in scenario.flows[1:]} != {beside}:
            return f"no flow of {beside or 'the same controller'} shares the link"
        if any(flow.stop is not None or (flow.rtt or scenario.rtt) != scenario.rtt for flow in scenario.flows):
            return "a flow stops, or has another R_m"
        return "the jitter may favour a flow" if scenario.jitter else None

    return all_of(premise, lossless, only(), sawtooth, lasts(lambda s: _begin(s) + REST + s.rtt))


_THRESHOLD = "each flow at least 20 % of its fair share, over 10 s or more"

ITSELF = Rule(
    name="share-itself",
    definition="Flows of one controller and one R_m share a link without jitter. They have the time of start-up, one "
    "round trip with a full buffer per packet of a BDP and the buffer, 20 more, and 1 s.",
    unit="of the fair share",
    threshold=_THRESHOLD,
    source="RFC 9743, 5.1.4; RFC 5166, 2.3",
    excludes=_among(None),
    measure=_measure,
)

CUBIC = Rule(
    name="share-cubic",
    definition="A flow and a CUBIC flow of one R_m share a link without jitter. They have the same time.",
    unit="of the fair share",
    threshold=_THRESHOLD,
    source="RFC 9743, 5.2.1; RFC 9438",
    excludes=_among(NEIGHBOUR),
    measure=_measure,
)
