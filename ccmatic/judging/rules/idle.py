"""Rules: a sender that was idle neither bursts nor has grown its window."""

import numpy as np

from ccmatic import records
from ccmatic.judging.rules.measures import lost, windows_within
from ccmatic.judging.rules.premises import INITIAL, all_of, drain, largest_rtt, only, round_trip
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_most
from ccmatic.judging.scenario import MS, Scenario

#: The largest growth across an idle period after a loss, the least idle period in round trips, the time for which BBR
#: lowers its window (ProbeRTT), and the span of a burst.
GROWTH, LEAST_ROUNDS, PROBE, BURST = 1.5, 3, 200 * MS, MS


def _idle(scenario: Scenario) -> list[records.IdleEvent]:
    """Return the idle periods of the first flow that last long enough and do not end the run."""
    least = LEAST_ROUNDS * round_trip(scenario)
    return [
        event
        for event in scenario.events
        if isinstance(event, records.IdleEvent)
        and event.flow == 0
        and event.length >= least
        and event.at + event.length + least < scenario.duration
    ]


def _long(scenario: Scenario) -> str | None:
    return None if _idle(scenario) else "no idle period lasts for three round trips"


def _worst(measured: list[Measured]) -> Measured | None:
    return min(measured, key=lambda each: each.margin) if measured else None


def _measure_growth(evidence: Evidence) -> Measured | None:
    run, found = evidence.run, []
    long = 3 * (largest_rtt(run.scenario) + drain(run.scenario))  # no event of these runs makes use of the jitter
    for event in _idle(run.scenario):
        before, end = windows_within(run, event.at - long - PROBE, event.at), event.at + event.length
        after = windows_within(run, end, end + long)
        if len(before) and len(after) and lost(run, 0, event.at - long):
            most = GROWTH * int(before.max()) + INITIAL * run.scenario.packet
            found.append(at_most(int(after.max()) / most, 1, end))
    return _worst(found)


def _measure_burst(evidence: Evidence) -> Measured | None:
    run, scenario, found = evidence.run, evidence.run.scenario, []
    packets = run.packets[run.packets["flow"] == 0]
    for event in _idle(scenario):
        end = event.at + event.length
        windows = windows_within(run, end, end + round_trip(scenario))
        first, last = np.searchsorted(packets["arrival"], [end, end + round_trip(scenario)])
        times, sizes = packets["arrival"][first:last], packets["size"][first:last]
        if len(windows) and len(times):
            sums = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
            bursts = sums[np.searchsorted(times, times + BURST)] - sums[: len(times)]
            place = int(bursts.argmax())
            most = 2 * INITIAL * scenario.packet + 2 * int(windows.max()) * BURST / scenario.rtt
            found.append(at_most(int(bursts[place]) / most, 1, int(times[place])))
    return _worst(found)


GROWN = Rule(
    name="idle",
    definition="Within three R_m, and three drains of a full buffer, after an idle period, the window is not far above "
    "the largest in as long before, and 200 ms more, if a loss ended slow start before that. The idle period lasts for "
    "three R_m + D or more.",
    unit="times the limit (at most 1)",
    threshold="at most 1.5 times that window, and 10 packets",
    source="RFC 9438, 5.8 (the epoch excludes idle time); RFC 9002, 7.8; RFC 7661, 4.3",
    excludes=all_of(_long, only(records.IdleEvent)),
    measure=_measure_growth,
)

BURSTS = Rule(
    name="restart",
    definition="After an idle period of three round trips, a sender does not send its window at once.",
    unit="times the limit (at most 1)",
    threshold="at most 20 packets and twice the window's share of R_m, in every 1 ms of the first round trip",
    source="RFC 9002, 7.7 (bursts up to the initial window of 10 packets, here twice) and 7.8",
    excludes=all_of(_long, only(records.IdleEvent)),
    measure=_measure_burst,
)
