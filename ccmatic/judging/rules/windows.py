"""Rules about the windows of senders."""

import numpy as np

from ccmatic import records
from ccmatic.judging.laws import PLANNED
from ccmatic.judging.rules.measures import (
    lost,
    most_in_flight,
    reduction,
    window_at,
    windows,
    windows_within,
)
from ccmatic.judging.rules.premises import (
    DATAGRAM,
    INITIAL,
    alone,
    bdp,
    buffers,
    drain,
    largest_rate,
    largest_rtt,
    lossless,
    only,
    outages,
    round_trip,
    start_up,
)
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_least, at_most
from ccmatic.judging.scenario import MS, SECOND, Scenario

# ---- the size of a window ----


def _no_limits(scenario: Scenario) -> str | None:
    limited = any(isinstance(e, records.IdleEvent | records.LimitEvent) for e in scenario.events)
    return "the application limits the sender; the rule 'app-limited' is about that" if limited else None


def _largest(evidence: Evidence) -> Measured | None:
    run, scenario = evidence.run, evidence.run.scenario
    held = largest_rate(scenario) * (scenario.jitter + outages(scenario)) // (8 * SECOND)
    room = bdp(scenario) + max(buffers(scenario)) + held + INITIAL * scenario.packet
    measured = None
    for number, flow in enumerate(scenario.flows):
        times, values = windows(run, number)
        if flow.beside is None and len(values):
            place = int(values.argmax())
            this = at_most(int(values[place]) / room, 3, int(times[place]))
            measured = this if measured is None or this.margin < measured.margin else measured
    return measured


WINDOW = Rule(
    name="window",
    definition="The window of a sender that always has data stays near what the network can hold.",
    unit="times the room",
    threshold="at most 3 (BDP + buffer + C D + 10 packets)",
    source="RFC 9743, 5.1.2; RFC 5681, 3.1: slow start at most doubles the window until it detects a loss",
    premises=(_no_limits,),
    measure=_largest,
)


def _smallest(evidence: Evidence) -> Measured | None:
    times, values = windows(evidence.run)
    if not len(values):
        return None
    place = int(values.argmin())
    return at_least(int(values[place]) / (2 * DATAGRAM), 1, int(times[place]))


MINIMUM = Rule(
    name="minimum",
    definition="The window always has room for two datagrams of the smallest size that QUIC allows.",
    unit="times 2 datagrams (at least 1)",
    threshold="at least 2 datagrams of 1200 bytes",
    source="RFC 9002, 7.2 and 7.6; RFC 9000, 14",
    premises=(),
    measure=_smallest,
)

# ---- timeouts ----

#: The round trips after a timeout by which the window has to be what it was.
ROUNDS = 10


def _late(scenario: Scenario) -> str | None:
    """The premise that one hold outlasts every timer: thrice R_m, and the 25 ms by which acknowledgements wait."""
    if len(scenario.events) != 1 or not isinstance(hold := scenario.events[0], records.HoldEvent):
        return "the rule is about one hold"
    least = 3 * scenario.rtt + 25 * 10**6
    after = hold.at + hold.length + (ROUNDS + 1) * round_trip(scenario)
    if after > scenario.duration:
        return "the run ends before a window recovers"
    return None if hold.length >= least else f"the hold is below 3 R_m + 25 ms, {least / SECOND:g} s"


def _after_timeout(evidence: Evidence) -> Measured | None:
    run, [hold] = evidence.run, evidence.run.scenario.events
    assert isinstance(hold, records.HoldEvent)
    end = hold.at + hold.length
    after = end + ROUNDS * round_trip(run.scenario)
    before = window_at(run, hold.at)
    found = windows_within(run, end + round_trip(run.scenario), after)
    if not before or not len(found) or lost(run, hold.at - 2 * round_trip(run.scenario), after):
        return None
    return at_least(int(found.max()) / before, 0.65, end)


TIMEOUT = Rule(
    name="timeout",
    definition="If the jitter box holds packets for so long that timers fire, and no packet is lost, the window is "
    "soon what it was. The sender has 10 round trips.",
    unit="of the window before",
    threshold="at least 65 % of the window before",
    source="RFC 9002, 6.2.1 (a probe timeout marks no packet as lost); RFC 9438, 4.9 (spurious events)",
    premises=(alone, lossless, only(records.HoldEvent, some=True), _late),
    measure=_after_timeout,
)

# ---- a loss ----

#: The tolerance of a factor, and the most packets in a row that an event loses. Together they are one congestion event.
TOLERANCE, ROW = 0.03, 3


def _one_loss(scenario: Scenario) -> str | None:
    [loss, *others] = scenario.events
    if others or not isinstance(loss, records.LossEvent) or loss.packets > ROW:
        return f"the rule is about at most {ROW} packets in a row"
    return None if SECOND <= loss.at < scenario.duration - SECOND else "the packet is lost at the edge of the run"


def _decrease(name: str, beta: float, source: str, *controllers: str) -> Rule:
    """Return the rule that after one loss, a window falls by the factor in the controller's specification."""

    def measure(evidence: Evidence) -> Measured | None:
        run, scenario = evidence.run, evidence.run.scenario
        gone = run.packets[(run.packets["flow"] == 0) & (run.packets["lost"] == PLANNED)]
        if not 1 <= len(gone) <= ROW:
            return None
        at, rtt = int(gone["arrival"][0]), round_trip(scenario) + drain(scenario)
        if lost(run, at - 4 * rtt, at + 4 * rtt) != len(gone):
            return None
        found = reduction(run, at, rtt)
        return found and Measured(found[0], 1 - abs(found[0] - beta) / TOLERANCE, found[1])

    return Rule(
        name=name,
        definition=f"After one to {ROW} packets lost in a row, and no other, the window falls to the share β that "
        f"{source} specifies.",
        unit="of the window before",
        threshold=f"{beta:g}, within {TOLERANCE:g}",
        source=source,
        premises=(alone, lossless, only(records.LossEvent, some=True), _one_loss),
        measure=measure,
        controllers=controllers,
    )


DECREASE_CUBIC = _decrease("decrease-cubic", 0.7, "RFC 9438, 4.6", "cubic")
DECREASE_RENO = _decrease("decrease-reno", 0.5, "RFC 9002, 7.3.2", "reno", "newreno", "new_reno")

# ---- marks ----

#: The largest share of the window that a reaction leaves, and the datagrams of the smallest window that has to react. A
#: window of two datagrams may stay.
LEFT, SMALLEST = 0.9, 4


def _visible_marks(scenario: Scenario) -> str | None:
    if scenario.threshold is None:
        return "the link marks nothing"
    if 4 * scenario.threshold < bdp(scenario):
        return "the threshold is below a quarter of a BDP"
    if 2 * (scenario.buffer - scenario.threshold) < bdp(scenario) + scenario.threshold:
        return "the buffer may fill before a sender sees a mark"
    if scenario.duration < start_up(scenario) + 5 * SECOND:
        return "the run ends within 5 s after start-up"
    return "events disturb the reaction" if scenario.events or scenario.loss or scenario.policer else None


def _after_mark(evidence: Evidence) -> Measured | None:
    run, scenario = evidence.run, evidence.run.scenario
    marked = run.packets[(run.packets["flow"] == 0) & (run.packets["marked"] == 1) & (run.packets["released"] >= 0)]
    if not len(marked):
        return None
    begin, end = start_up(scenario), scenario.duration
    if lost(run, begin, end):
        first = run.packets[(run.packets["lost"] != 0) & (run.packets["arrival"] >= begin)]["arrival"]
        return at_most(1, LEFT, int(first.min()))
    times = marked["released"][marked["released"] >= begin]
    if not len(times):
        return None
    long = round_trip(scenario) + drain(scenario)
    # A mark within two round trips of the reaction to an earlier one belongs to the same event.
    before = int(times.min()) - 2 * long
    if windows_within(run, before, before + 5 * long).max(initial=0) < SMALLEST * DATAGRAM:
        return None
    found = reduction(run, before, 5 * long // 3)
    return at_most(found[0], LEFT, found[1]) if found else None


MARKS = Rule(
    name="marks",
    definition="After the first packet with a mark after start-up, a sender that asked for marks lowers its window "
    "within three round trips. So the buffer never fills after start-up: it has room for 1.5 times the BDP and the "
    "threshold. A window below 4 datagrams may stay.",
    unit="of the window before",
    threshold="to at most 90 %, and no packet lost after start-up",
    source="RFC 9002, 7.1; RFC 3168, 5; RFC 8511 (0.8 to 0.85); RFC 9438, 4.2 (half more per round trip at most)",
    premises=(_visible_marks,),
    measure=_after_mark,
)

# ---- idle periods ----

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


def _long_idle(scenario: Scenario) -> str | None:
    return None if _idle(scenario) else "no idle period lasts for three round trips"


def _grown(evidence: Evidence) -> Measured | None:
    run, found = evidence.run, []
    long = 3 * (largest_rtt(run.scenario) + drain(run.scenario))  # no event of these runs makes use of the jitter
    for event in _idle(run.scenario):
        before, end = windows_within(run, event.at - long - PROBE, event.at), event.at + event.length
        after = windows_within(run, end, end + long)
        if len(before) and len(after) and lost(run, 0, event.at - long):
            most = GROWTH * int(before.max()) + INITIAL * run.scenario.packet
            found.append(at_most(int(after.max()) / most, 1, end))
    return min(found, key=lambda each: each.margin, default=None)


def _burst(evidence: Evidence) -> Measured | None:
    run, scenario, found = evidence.run, evidence.run.scenario, []
    packets = run.packets[run.packets["flow"] == 0]
    for event in _idle(scenario):
        end = event.at + event.length
        within = windows_within(run, end, end + round_trip(scenario))
        first, last = np.searchsorted(packets["arrival"], [end, end + round_trip(scenario)])
        times, sizes = packets["arrival"][first:last], packets["size"][first:last]
        if len(within) and len(times):
            sums = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
            bursts = sums[np.searchsorted(times, times + BURST)] - sums[: len(times)]
            place = int(bursts.argmax())
            most = 2 * INITIAL * scenario.packet + 2 * int(within.max()) * BURST / scenario.rtt
            found.append(at_most(int(bursts[place]) / most, 1, int(times[place])))
    return min(found, key=lambda each: each.margin, default=None)


IDLE = Rule(
    name="idle",
    definition="Within three R_m, and three drains of a full buffer, after an idle period, the window is not far above "
    "the largest in as long before, and 200 ms more, if a loss ended slow start before that. The idle period lasts for "
    "three R_m + D or more.",
    unit="times the limit (at most 1)",
    threshold="at most 1.5 times that window, and 10 packets",
    source="RFC 9438, 5.8 (the epoch excludes idle time); RFC 9002, 7.8; RFC 7661, 4.3",
    premises=(_long_idle, only(records.IdleEvent)),
    measure=_grown,
)

RESTART = Rule(
    name="restart",
    definition="After an idle period of three round trips, a sender does not send its window at once.",
    unit="times the limit (at most 1)",
    threshold="at most 20 packets and twice the window's share of R_m, in every 1 ms of the first round trip",
    source="RFC 9002, 7.7 (bursts up to the initial window of 10 packets, here twice) and 7.8",
    premises=(_long_idle, only(records.IdleEvent)),
    measure=_burst,
)

# ---- limits of the application ----


def _phases(scenario: Scenario) -> list[tuple[int, int]]:
    """Return the spans in ns in which the application limits the first flow."""
    kinds = records.LimitEvent | records.IdleEvent
    limits = [event for event in scenario.events if isinstance(event, kinds) and event.flow == 0]
    return [(event.at, event.at + event.length) for event in limits]


def _some_limit(scenario: Scenario) -> str | None:
    return None if _phases(scenario) else "the application never limits the sender"


def _paced(scenario: Scenario) -> int:
    """Return the bytes that the link can serve in the longest delay that events cause.

    After such a delay, a sender paces by a long round trip for as long. Its window, which pacing alone keeps from being
    used, may grow by the bytes that are acknowledged meanwhile (RFC 9002, 7.8).
    """
    held = [event.length for event in scenario.events if isinstance(event, records.HoldEvent)]
    held += [event.aggregate for event in scenario.events if isinstance(event, records.AcksEvent)]
    return largest_rate(scenario) * (max([0, *held]) + outages(scenario)) // (8 * SECOND)


def _unused(evidence: Evidence) -> Measured | None:
    times, values = windows(evidence.run)
    limited = np.zeros(len(times), bool)
    for begin, end in _phases(evidence.run.scenario):
        limited |= (begin <= times) & (times <= end)
    if not limited.any():
        return None
    instants, used = most_in_flight(evidence.run)
    initial = max(INITIAL * evidence.run.scenario.packet, int(values[0])) + _paced(evidence.run.scenario)
    times, values = times[limited], values[limited]
    ratios = values / (used[np.searchsorted(instants, times, side="right")] + initial)
    place = int(ratios.argmax())
    return at_most(float(ratios[place]), 2, int(times[place]))


APP_LIMITED = Rule(
    name="app-limited",
    definition="While the application limits a sender, its window stays near the most bytes that it had in flight so "
    "far. After a delay that events cause, the window may grow for as long.",
    unit="times the sum",
    threshold="at most 2 times the sum of the most bytes in flight, the first window (10 packets if that is more), and "
    "the bytes that the link serves in the longest delay by events",
    source="RFC 9002, 7.8; RFC 7661, 4.1",
    premises=(_some_limit,),
    measure=_unused,
)
