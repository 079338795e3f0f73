"""Rules about packets: when they arrive, how much of the link they use, and how many are lost."""

import numpy as np

from ccmatic import records
from ccmatic.judging.laws import PLANNED
from ccmatic.judging.recording import Recording
from ccmatic.judging.rules.measures import (
    STEP,
    arrivals,
    delivered,
    lost,
    seen_until,
    utilisation,
)
from ccmatic.judging.rules.premises import (
    DATAGRAM,
    Premise,
    alone,
    bdp,
    clear_outages,
    climb,
    drain,
    first_start,
    last_end,
    lasts,
    least_buffer,
    lossless,
    no_lost_acks,
    only,
    outages,
    roomy,
    round_trip,
    sawtooth,
    start_up,
)
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_least, at_most
from ccmatic.judging.scenario import SECOND, Scenario

# ---- alive ----

#: The number of consecutive losses that a probe may need (each doubles the next timeout), and the first timeout.
PROBES, FIRST = 3, SECOND


def _may_recover(scenario: Scenario) -> str | None:
    bursts = [event.packets for event in scenario.events if isinstance(event, records.LossEvent)]
    if any(packets > PROBES for packets in bursts) or scenario.policer:
        return "the link may lose every packet for a long time"
    if scenario.loss and (scenario.loss.share > 0.1 or scenario.loss.burst > PROBES):
        return "the link loses above 10 % of the packets"
    return clear_outages(scenario)


def _alive(evidence: Evidence) -> Measured | None:
    run = evidence.run
    if run.failure is not None:
        return Measured(run.scenario.duration / SECOND, -1)
    paused = sum(e.length for e in run.scenario.events if isinstance(e, records.IdleEvent | records.OutageEvent))
    acks = sum(e.length for e in run.scenario.events if isinstance(e, records.AcksEvent) and e.lose)
    most = 3 * SECOND + 10 * round_trip(run.scenario) + 2 * drain(run.scenario) + 3 * paused + 2 * acks
    most += (2**PROBES - 1) * FIRST * any(isinstance(e, records.LossEvent) for e in run.scenario.events)
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


ALIVE = Rule(
    name="alive",
    definition="The code does not fail, and data arrives again and again while the application offers some.",
    unit="s",
    threshold="no failure; at most 3 s + 10 (R_m + D) + 2 buffer/C without data, 3 times the pauses more, and the "
    "timeouts that losses may double",
    source="RFC 9002, 6.2 (probes); RFC 9743, 5.1.1",
    premises=(_may_recover,),
    measure=_alive,
)

# ---- start-up ----


def _one_hold(scenario: Scenario) -> str | None:
    early = [event for event in scenario.events if event.at < start_up(scenario)]
    return "two events disturb the start-up" if len(early) > 1 else None


def _filled(evidence: Evidence) -> Measured | None:
    scenario = evidence.run.scenario
    span, most = 5 * round_trip(scenario), start_up(scenario)
    step = max(span // 5, scenario.duration // 1000)
    for begin in range(0, scenario.duration - span - scenario.rtt, step):
        if utilisation(evidence.run, begin, begin + span) >= 0.8:
            return at_most((begin + span) / SECOND, most / SECOND, begin)
    return at_most(scenario.duration / SECOND, most / SECOND, scenario.duration)


START_UP = Rule(
    name="start-up",
    definition="A sender fills 80 % of the link for 5 (R_m + D) within the time of start-up, although the jitter box "
    "holds packets once.",
    unit="s",
    threshold="20 round trips, 2 more per doubling from 10 packets to BDP + buffer, and 1 s",
    source="RFC 9406, 4.2 (a false exit resumes slow start); RFC 6928",
    premises=(
        alone,
        lossless,
        roomy,
        only(records.HoldEvent),
        _one_hold,
        lasts(lambda scenario: 2 * start_up(scenario)),
    ),
    measure=_filled,
)

# ---- a constant link ----

#: The span in ns over which utilisation and losses are measured.
INTERVAL = 10 * SECOND


def _used_from(scenario: Scenario) -> int:
    """Return the end of start-up. If an event disturbs it, add the time for growth by congestion avoidance."""
    disturbed = first_start(scenario) < start_up(scenario)
    return start_up(scenario) + (climb(scenario) if disturbed else 0)


def _used(evidence: Evidence) -> Measured | None:
    begin, end = _used_from(evidence.run.scenario), seen_until(evidence.run)
    spans = range(begin, end - INTERVAL + 1, STEP)
    values = [(utilisation(evidence.run, t, t + INTERVAL), t) for t in spans]
    return at_least(min(values)[0], 0.5, min(values)[1]) if values else None


UTILISATION = Rule(
    name="utilisation",
    definition="After start-up, a sender uses the link over every 10 s, on a link whose losses come from its buffer.",
    unit="of the link",
    threshold="at least 50 % over every 10 s",
    source="RFC 9743, 5.1; RFC 9438, 5.2; AIMD of β with a buffer of a BDP leaves no share below β of the link unused",
    premises=(
        alone,
        lossless,
        roomy,
        no_lost_acks,
        only(records.HoldEvent, records.AcksEvent),
        lasts(lambda scenario: _used_from(scenario) + INTERVAL + scenario.rtt),
    ),
    measure=_used,
)


def _short_trips(scenario: Scenario) -> str | None:
    """A round trip with a full buffer takes at most 0.5 s.

    In a longer one, the window of CUBIC, a function of time, may grow by tens of packets before the sender detects a
    loss (RFC 9438, 4.2).
    """
    full = round_trip(scenario) + drain(scenario)
    if full <= SECOND // 2:
        return None
    return f"a round trip with a full buffer takes {full / SECOND:.2f} s, more than 0.5 s"


def _lossy_until(scenario: Scenario) -> int:
    """Return the instant in ns by which slow start has filled the buffer, and the buffer has lost its excess."""
    return start_up(scenario) + 5 * drain(scenario)


def _losses(evidence: Evidence) -> Measured | None:
    run = evidence.run
    worst = None
    for begin in range(_lossy_until(run.scenario), run.scenario.duration - INTERVAL + 1, STEP):
        inside = (run.packets["arrival"] >= begin) & (run.packets["arrival"] < begin + INTERVAL)
        sent = int((inside & (run.packets["flow"] == 0)).sum())
        measured = at_most(lost(run, begin, begin + INTERVAL), 20 + 0.02 * sent, begin)
        worst = measured if worst is None or measured.margin < worst.margin else worst
    return worst


LOSSES = Rule(
    name="losses",
    definition="On a constant link without jitter, few packets are lost over every 10 s after start-up, and the "
    "time in which the buffer drains five times. Round trips with a full buffer take at most 0.5 s.",
    unit="packets",
    threshold="at most 2 % of the packets sent, and 20 packets",
    source="RFC 9743, 5.1.3; draft-ietf-ccwg-bbr, 2.7 (BBRLossThresh, 2 %)",
    premises=(alone, lossless, only(), sawtooth, _short_trips, lasts(lambda s: _lossy_until(s) + INTERVAL)),
    measure=_losses,
)

# ---- the time after events ----


def _short_events(scenario: Scenario) -> str | None:
    span = last_end(scenario) - first_start(scenario)
    return None if span <= scenario.rtt else f"the disturbance lasts {span / SECOND:g} s, longer than R_m"


def _forgotten(evidence: Evidence) -> Measured | None:
    scenario, other = evidence.run.scenario, evidence.undisturbed
    begin, end = last_end(scenario) + climb(scenario), scenario.duration
    usual = delivered(other, begin, end) if other else 0
    return at_least(delivered(evidence.run, begin, end) / usual, 0.75, begin) if usual else None


FORGETTING = Rule(
    name="forgetting",
    definition="After jitter that disturbs the run for at most one R_m, a sender soon delivers as much as without it. "
    "It has one round trip per packet of a BDP, 20 more, and 1 s.",
    unit="of the undisturbed run",
    threshold="at least 75 % of the bytes of the undisturbed run, over 5 s or more",
    source="RFC 9743, 7.3 (paths with varying delay); Arun, Alizadeh, Balakrishnan, SIGCOMM 2022 (jitter within D)",
    premises=(
        alone,
        lossless,
        roomy,
        no_lost_acks,
        only(records.HoldEvent, records.AcksEvent, some=True),
        _short_events,
        lasts(lambda s: last_end(s) + climb(s) + 5 * SECOND),
    ),
    measure=_forgotten,
    needs=("undisturbed",),
)

#: The least share of the link that a sender uses again after losses, outages and changes, and the ns that show it.
LEAST, REST = 0.5, 3 * SECOND

#: The most packets that events lose, so that a sender recovers from them.
RECOVERED = 10


def _recovery_time(scenario: Scenario) -> int:
    """Return the time in ns after which a sender uses the link again."""
    return 2 * outages(scenario) + 3 * SECOND + climb(scenario) + drain(scenario)


def _few_losses(scenario: Scenario) -> str | None:
    if sum(event.packets for event in scenario.events if isinstance(event, records.LossEvent)) > RECOVERED:
        return f"the events lose more than {RECOVERED} packets"
    return "packets are lost before a first window has grown" if first_start(scenario) < SECOND else None


def _last_loss(run: Recording) -> int:
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


def _recovered(evidence: Evidence) -> Measured | None:
    run = evidence.run
    begin = max(last_end(run.scenario), _last_loss(run)) + _recovery_time(run.scenario)
    if seen_until(run) - begin < REST:
        return None
    return at_least(utilisation(run, begin, seen_until(run)), LEAST, begin)


RECOVERY = Rule(
    name="recovery",
    definition="After losses or outages, a sender uses the link again. It has one round trip per packet of a BDP, 20 "
    "more, 4 s, twice the outages, and the time in which the buffer drains. If the last lost packet leaves at a "
    "timeout, it also has twice the time since a packet arrived.",
    unit="of the link",
    threshold="at least 50 % of the link from then on",
    source="RFC 9002, 6.2 and 7.6 (persistent congestion); RFC 5681, 3.1",
    premises=(
        alone,
        lossless,
        roomy,
        only(records.LossEvent, records.OutageEvent, some=True),
        _few_losses,
        clear_outages,
        lasts(lambda scenario: last_end(scenario) + _recovery_time(scenario) + REST + scenario.rtt),
    ),
    measure=_recovered,
)


def _adapted_by(scenario: Scenario) -> int:
    """Return the instant in ns from which a sender uses a changed link again.

    A sender's filters of delay may last for 10 s. A full buffer drains at the new rate, and loses packets meanwhile.
    """
    return last_end(scenario) + climb(scenario) + 10 * SECOND + 5 * drain(scenario)


def _adapted(evidence: Evidence) -> Measured | None:
    begin = _adapted_by(evidence.run.scenario)
    return at_least(utilisation(evidence.run, begin, seen_until(evidence.run)), LEAST, begin)


def _half(scenario: Scenario) -> str | None:
    return None if 2 * least_buffer(scenario) >= bdp(scenario) else "the buffer is below half of a BDP"


def _changes(kind: type[records.EventRecord]) -> tuple[Premise, ...]:
    long = lasts(lambda scenario: _adapted_by(scenario) + REST + 2 * scenario.rtt)
    return alone, lossless, _half, only(kind, some=True), long


RATE_CHANGE = Rule(
    name="rate-change",
    definition="After the last change of the rate, a sender uses the link again. It has one round trip per packet of a "
    "BDP, 20 more, 11 s, and the time in which the buffer drains five times.",
    unit="of the link",
    threshold="at least 50 % of the link from then on",
    source="RFC 9743, 7.9 (sudden changes in the path); RFC 9438, 4.3",
    premises=_changes(records.RateEvent),
    measure=_adapted,
)

RTT_CHANGE = Rule(
    name="rtt-change",
    definition="After the last change of R_m, a sender uses the link again. It has the same time as in rate-change.",
    unit="of the link",
    threshold="at least 50 % of the link from then on",
    source="RFC 9743, 7.9 (sudden changes in the path); draft-ietf-ccwg-bbr, 2.13 (MinRTTFilterLen, 10 s)",
    premises=_changes(records.RttEvent),
    measure=_adapted,
)

# ---- shares ----


def _shared_from(scenario: Scenario) -> int:
    settle = (20 + (bdp(scenario) + scenario.buffer) // DATAGRAM) * (round_trip(scenario) + drain(scenario))
    return max(flow.start for flow in scenario.flows) + start_up(scenario) + settle + SECOND


def _least_share(evidence: Evidence) -> Measured | None:
    scenario = evidence.run.scenario
    begin, end = _shared_from(scenario), seen_until(evidence.run)
    got = [delivered(evidence.run, begin, end, number) for number in range(len(scenario.flows))]
    return at_least(min(got) * len(got) / sum(got), 0.2, begin) if sum(got) else None


def _among(beside: str | None) -> tuple[Premise, ...]:
    """Return the premises that a second flow, of a controller or of the subject, joins the first, and stays."""

    def premise(scenario: Scenario) -> str | None:
        if len(scenario.flows) < 2 or {flow.beside for flow in scenario.flows[1:]} != {beside}:
            return f"no flow of {beside or 'the same controller'} shares the link"
        if any(flow.stop is not None or (flow.rtt or scenario.rtt) != scenario.rtt for flow in scenario.flows):
            return "a flow stops, or has another R_m"
        return "the jitter may favour a flow" if scenario.jitter else None

    return premise, lossless, only(), sawtooth, lasts(lambda s: _shared_from(s) + 10 * SECOND + s.rtt)


SHARE_ITSELF = Rule(
    name="share-itself",
    definition="Flows of one controller and one R_m share a link without jitter. They have the time of start-up, one "
    "round trip with a full buffer per packet of a BDP and the buffer, 20 more, and 1 s.",
    unit="of the fair share",
    threshold="each flow at least 20 % of its fair share, over 10 s or more",
    source="RFC 9743, 5.1.4; RFC 5166, 2.3",
    premises=_among(None),
    measure=_least_share,
)

SHARE_CUBIC = Rule(
    name="share-cubic",
    definition="A flow and a CUBIC flow of one R_m share a link without jitter. They have the same time.",
    unit="of the fair share",
    threshold="each flow at least 20 % of its fair share, over 10 s or more",
    source="RFC 9743, 5.2.1; RFC 9438",
    premises=_among("cubic"),
    measure=_least_share,
)

# ---- determinism ----


def _other_packets(evidence: Evidence) -> Measured | None:
    if evidence.again is None or getattr(evidence.run, "real_time", False):
        return None
    one, two = evidence.run.packets, evidence.again.packets
    length = min(len(one), len(two))
    differ = np.nonzero(one[:length] != two[:length])[0]
    if not len(differ) and len(one) == len(two):
        return Measured(0, 1)
    place = int(differ[0]) if len(differ) else length
    longer = one if len(one) > place else two
    return Measured(len(differ) + abs(len(one) - len(two)), -1, int(longer["arrival"][place]))


DETERMINISM = Rule(
    name="determinism",
    definition="Two runs of one scenario, with one seed, have the same packets at the same instants.",
    unit="packets",
    threshold="no packet differs",
    source="the reproduction of every finding depends on it",
    premises=(),
    measure=_other_packets,
    needs=("again",),
)
