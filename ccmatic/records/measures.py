"""The shapes of measured runs, which `emulate` and `evaluate` print and write (docs/reference/formats.md).

Measurements are floats. A measurement is null if there is nothing to measure.
"""

from typing import Literal

from ccmatic.records.codec import ABSENT, Absent, Record
from ccmatic.records.lines import ExpectationRecord, GuaranteeLine


class Spread(Record):
    """How a quantity is spread over packets: its mean, 95th percentile and maximum."""

    mean: float | None
    p95: float | None
    max: float | None


class Measures(Record, kw_only=True):
    """Measurements of packets.

    Attributes:
        utilisation: The rate at which bytes left the bottleneck, as a share of the link's rate.
        mbit_per_second: The rate at which bytes left the bottleneck.
        queueing_delay_ms: The time from a packet's arrival until its last byte leaves the bottleneck, in ms.
        queueing_delay_rm: The same time in R_m.
        rtt_ms: The time from a packet's arrival to its release, in ms.
        packets: The packets that arrived.
        lost: How many of them were lost.
        lost_mean_in_rm: The mean number of lost packets per R_m.
        lost_max_in_rm: The largest number of lost packets in any window of one R_m.
    """

    utilisation: float
    mbit_per_second: float
    queueing_delay_ms: Spread
    queueing_delay_rm: Spread
    rtt_ms: Spread
    packets: int
    lost: int
    lost_mean_in_rm: float
    lost_max_in_rm: int


class FalseBelief(Record):
    """A belief that was false at the end of one of the sender's steps.

    Attributes:
        step: The number of the step.
        seconds: The time at the end of the step.
        value: The value of the belief, in the sender's units.
        C: The true rate of the link at that time, in the sender's units.
        queue_bytes: The true queue at that time, in bytes.
    """

    step: int
    seconds: float
    belief: str
    value: int
    C: float
    queue_bytes: float


class BeliefsRecord(Record):
    """A sender's beliefs at the end of each of its steps.

    Attributes:
        judged_until_seconds: The time until which beliefs are judged. Until then the sender had the link to itself, at
            a constant rate.
        false: The beliefs that were false.
        converged_seconds: The time at which all bounds on the link's rate had come within a tenth of their median over
            the remaining run. Null if this had not happened after half of the steps.
        converged_windows: The same time, in a whole number of windows.
    """

    steps: int
    judged_until_seconds: float
    false: list[FalseBelief]
    converged_seconds: float | None
    converged_windows: int | None


class GuardRecord(Record):
    """How well a guarded flow stayed within its envelope.

    Attributes:
        above: The number of steps in which it exceeded the envelope's upper end by more than a (whole) packet.
        below: The number of steps in which it fell short of the envelope's lower end by more than a packet.
        most_above: The largest excess, in packets.
        most_below: The largest shortfall, in packets.
    """

    steps: int
    above: int
    below: int
    most_above: float
    most_below: float


class FlowMeasures(Measures, kw_only=True):
    """Measurements of the packets of one flow.

    Attributes:
        flow: The flow as named by the user.
        R_m_ms: The flow's own R_m.
        ramp_seconds: The time from the flow's start until it first reached nine tenths of its measured rate over ten
            R_m. Null if it never did.
        beliefs: The beliefs, if the sender logs them.
        guard: How well the flow stayed within its envelope, if it has one.
    """

    flow: str
    R_m_ms: float | Absent = ABSENT
    ramp_seconds: float | Absent | None = ABSENT
    beliefs: BeliefsRecord | Absent = ABSENT
    guard: GuardRecord | Absent = ABSENT


class SharesRecord(Record):
    """The rate of each flow between two times at which a flow began or ended.

    Attributes:
        mbit_per_second: The rate of each flow; null if the flow was not scheduled to send then.
        jain: Jain's index of the flows that were scheduled to send then.
    """

    from_seconds: float
    until_seconds: float
    mbit_per_second: list[float | None]
    jain: float | None


class RateRecord(Record):
    """The rate of the link from a given second of the run onwards."""

    from_seconds: float
    bits_per_second: int


class LinkRecord(Record):
    """The requested link.

    Attributes:
        buffer_bytes: The buffer, or a policer's bucket; null if it is infinite.
        bdp_bytes: C·R_m at the first rate.
        pattern: The pattern of the jitter; `own` if each flow has its own jitter.
        scheduled: The link follows a schedule.
        opportunities: The number of delivery opportunities in mahimahi's link trace. The rate is their mean.
        model: The model of the bottleneck, if the user named one.
        store: The noun for the model's buffer, such as `bucket`; present only together with `model`.
    """

    rates: list[RateRecord]
    rtt_ms: float
    buffer_bytes: int | None
    bdp_bytes: float
    jitter_ms: float
    pattern: str
    seed: int
    scheduled: bool
    opportunities: int | Absent = ABSENT
    model: str | Absent = ABSENT
    store: str | Absent = ABSENT


class Lateness(Record):
    """How late packets were released, in ms: percentiles and the maximum."""

    p50: float | None
    p99: float | None
    max: float | None


class Delivery(Record):
    """The bytes that a link delivers during a schedule.

    Attributes:
        utilisation: The share of the link that is delivered.
        delivered: The bytes delivered by each instant.
    """

    utilisation: float
    lost_bytes: int
    delivered: list[int]


class MeasuresFile(Measures, tag_field="format", tag="ccmatic measures 1", kw_only=True):
    """One run of `emulate`: measurements of all packets from `from_seconds` on, and of each flow's packets.

    The first files have no field `format`.

    Attributes:
        faults: Why the emulated link differs from the requested one.
        trace: For a schedule, the predicted delivery.
        emulated: For a schedule, the actual delivery.
        least_jitter_ms: The least D that explains the run.
        shares: The flows' rates, if there are several flows.
        guarantees: The proved guarantees of a single flow.
        expectations: The verdicts on `--expect`.
        real_time: Whether the emulator ran with real-time priority.
        cpu: The emulator's share of a processor.
    """

    valid: bool
    faults: list[str]
    seconds: float
    from_seconds: float
    link: LinkRecord
    flows: list[FlowMeasures]
    trace: Delivery | Absent = ABSENT
    emulated: Delivery | Absent = ABSENT
    least_jitter_ms: float | Absent | None = ABSENT
    shares: list[SharesRecord] | Absent = ABSENT
    guarantees: list[GuaranteeLine] | Absent = ABSENT
    expectations: list[ExpectationRecord] | Absent = ABSENT
    lateness_ms: Lateness
    real_time: bool
    cpu: float


class ResultRecord(Measures, tag_field="format", tag="ccmatic result 1", kw_only=True):
    """A run of `evaluate`. The first results have no field `format`.

    Attributes:
        scenario: The name of the scenario, which the following fields up to `jitter` describe.
        delivered_mbit: The data delivered in each half second.
        lost_max_in_step: The most packets lost in a step after the warm-up. Only simulated runs have this field and the
            next two.
        inflight_max_bdp: The most bytes in flight at a step's end after the warm-up, in BDP.
        at_start: Whether the sender still ran its start controller at the end of the run.
        faults: Why a run on a real stack is invalid.
        from_seconds: The length of the warm-up on a real stack.
        outside: The measurements outside the proved bounds. They are printed, but not kept in the file.
    """

    sender: str
    scenario: str
    stack: Literal["simulated", "real"]
    rates_mbit: list[int]
    R_m_ms: int
    buffer_bdp: float
    jitter: str
    delivered_mbit: list[float]
    lost_max_in_step: int | Absent = ABSENT
    inflight_max_bdp: float | Absent = ABSENT
    at_start: bool | Absent = ABSENT
    faults: list[str] | Absent = ABSENT
    from_seconds: float | Absent = ABSENT
    outside: list[str] | Absent = ABSENT
