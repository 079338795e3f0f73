"""Expectations in the question language as rules, such as `utilisation >= 80% over every 10 s`."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ccmatic import records
from ccmatic.base import InputError, blamed
from ccmatic.judging.rules import Evidence, Measured, Rule, chosen
from ccmatic.judging.rules.premises import spans, start_up
from ccmatic.judging.scenario import MS, SECOND, Scenario

#: A scenario that serves to parse an expectation.
PLAIN = Scenario(duration=SECOND, rate=12_000_000, rtt=40 * MS, buffer=60_000)


def every_rule(names: Sequence[str], expect: Sequence[str] = ()) -> tuple[Rule, ...]:
    """Return the rules with the given names, and a rule for each expectation.

    Without names and expectations, return all default rules.
    """
    rules = chosen(tuple(names)) if names or not expect else ()
    return (*rules, *map(expected, expect))


def expected(text: str) -> Rule:
    """Return the rule that a run meets an expectation after its start-up."""
    monitor = _monitor(PLAIN, text)

    def shown(scenario: Scenario) -> str | None:
        if start_up(scenario) + scenario.rtt >= scenario.duration:
            return "the run ends in its start-up"
        try:
            _monitor(scenario, text).require(scenario.flows, (scenario.duration - start_up(scenario)) / SECOND)
        except InputError as error:
            return error.message
        return None

    def measure(evidence: Evidence) -> Measured | None:
        scenario = evidence.run.scenario
        monitor, packets = _monitor(scenario, text), evidence.run.packets
        packets = packets[packets["arrival"].argsort(kind="stable")]
        with blamed():
            [judged] = monitor.judge(packets, len(scenario.flows), scenario.duration, start_up(scenario) / SECOND)
        return _measured(judged, monitor.amounts[0])

    return Rule(
        name=" ".join(text.split()),
        definition="The expectation of the question language, after start-up.",
        unit=monitor.units[0],
        threshold=" ".join(text.split()),
        source="the question",
        premises=(shown,),
        measure=measure,
    )


def _measured(judged: records.ExpectationRecord, amount: Fraction) -> Measured | None:
    if judged.verdict == "not applicable":
        return None
    at = None if judged.begin is None else round(judged.begin * SECOND)
    if judged.value is None:
        return Measured(float("inf"), -1 if judged.verdict == "not met" else 1, at)
    distance = abs(float(judged.value - amount)) / max(float(amount), 1e-9)
    return Measured(float(judged.value), -max(distance, 1e-9) if judged.verdict == "not met" else distance, at)


def _monitor(scenario: Scenario, text: str) -> Any:
    """Return a Monitor that judges runs of a scenario by an expectation."""
    from ccmatic.deployment.emulation import (  # imported here, because it takes a third of a second
        Link,
        LinkChange,
        Monitor,
    )

    rates, now = [], 0
    for begin, end, bits in spans(scenario):
        rates += [(now, 0)] * (begin > now) + [(begin, bits)]
        now = end
    grown = [event for event in scenario.events if isinstance(event, records.RttEvent)]
    if len(grown) > 1:
        raise InputError("R_m changes twice; an expectation can follow one change")
    change = LinkChange(grown[0].at, grown[0].rtt - scenario.rtt, scenario.buffer, False) if grown else None
    link = Link(
        tuple(rates),
        scenario.rtt,
        scenario.buffer,
        scenario.jitter,
        rtts=tuple(flow.rtt or scenario.rtt for flow in scenario.flows),
        change=change,
        threshold=scenario.threshold,
    )
    return Monitor(link, [text])
