"""The forms of measured runs, which `emulate` and `evaluate` print and write (docs/reference/formats.md).

Measurements are floats. A measurement is null if there was nothing to measure.
"""

from typing import Literal

from ccmatic.records.codec import ABSENT, Absent, Record
from ccmatic.records.fits import GuaranteeLine
from ccmatic.records.verdicts import ExpectationRecord


class Spread(Record):
    """The distribution of a quantity over packets: its mean, 95th percentile and maximum."""

    mean: float | None
    p95: float | None
    max: float | None


class Measures(Record, kw_only=True):
    """Measurements of packets.

    Attributes:
        utilisation: The throughput at the exit of the bottleneck, as a share of the link's rate.
        mbit_per_second: The throughput at the exit of the bottleneck, in Mbit/s.
        queueing_delay_ms: The time from a packet's arrival until its last byte leaves the bottleneck, in ms.
        queueing_delay_rm: The same queueing delay in units of R_m.
        rtt_ms: The time from a packet's arrival to its release, in ms.
        packets: The number of packets that arrived.
        lost: The number of these packets that were lost.
        lost_mean_in_rm: The mean number of lost packets per R_m.
        lost_max_in_rm: The largest number of lost packets in any period of one R_m.
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
        seconds: The time at the end of the step.
        value: The value of the belief, in the sender's units.
        C: The true rate of the link at that time, in the sender's units.
        queue_bytes: The true length of the queue at that time, in bytes.
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
        judged_until_seconds: The time until which beliefs are judged. Until this time, the sender had the link to
            itself at a constant rate.
        converged_seconds: The time by which all bounds on the link's rate had come within a tenth of their median over
            the rest of the run. The value is null if this had not happened after half of the steps.
        converged_windows: The same time, as a whole number of windows.
    """

    steps: int
    judged_until_seconds: float
    false: list[FalseBelief]
    converged_seconds: float | None
    converged_windows: int | None


class GuardRecord(Record):
    """A measure of how well a guarded flow stayed within its envelope.

    Attributes:
        above: The number of steps in which the flow exceeded the envelope's upper end by more than one packet.
        below: The number of steps in which the flow fell short of the envelope's lower end by more than one packet.
        most_above: The largest excess over the upper end, in packets.
        most_below: The largest shortfall below the lower end, in packets.
    """

    steps: int
    above: int
    below: int
    most_above: float
    most_below: float


class FlowMeasures(Measures, kw_only=True):
    """Measurements of the packets of one flow.

    Attributes:
        flow: The flow as the user named it.
        R_m_ms: The flow's own propagation delay R_m, in ms.
        ramp_seconds: The time from the flow's start until the flow first reached nine tenths of its measured rate over
            ten R_m. The value is null if the flow never reached this rate.
    """

    flow: str
    R_m_ms: float | Absent = ABSENT
    ramp_seconds: float | Absent | None = ABSENT
    beliefs: BeliefsRecord | Absent = ABSENT
    guard: GuardRecord | Absent = ABSENT


class SharesRecord(Record):
    """The rate of each flow in a period between two starts or stops of flows.

    Attributes:
        mbit_per_second: The rate of each flow in Mbit/s. The value is null if the flow was not scheduled to send in
            this period.
        jain: Jain's fairness index of the flows that were scheduled to send in this period.
    """

    from_seconds: float
    until_seconds: float
    mbit_per_second: list[float | None]
    jain: float | None


class RateRecord(Record):
    """The rate of the link from a given second of the run on."""

    from_seconds: float
    bits_per_second: int


class LinkRecord(Record):
    """The link that the user requested.

    Attributes:
        buffer_bytes: The buffer, or a policer's bucket, in bytes. The value is null if it is infinite.
        bdp_bytes: The product C·R_m at the first rate, in bytes.
        pattern: The pattern of the jitter. The pattern is `own` if each flow has its own jitter.
        scheduled: Whether the link follows a schedule.
        opportunities: The number of delivery opportunities in mahimahi's link trace. The rate of the link is their mean
            rate.
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
    """The lateness of released packets, in ms: percentiles and the maximum."""

    p50: float | None
    p99: float | None
    max: float | None


class Delivery(Record):
    """The bytes that a link delivers during a schedule.

    Attributes:
        utilisation: The share of the link's capacity that was delivered.
        delivered: The cumulative bytes delivered by each instant.
    """

    utilisation: float
    lost_bytes: int
    delivered: list[int]


class MeasuresFile(Measures, tag_field="format", tag="ccmatic measures 1", kw_only=True):
    """A run of `emulate`: measurements of all packets after the time `from_seconds`, and of each flow's packets.

    Old files have no field `format`.

    Attributes:
        faults: The reasons why the emulated link differs from the requested link.
        trace: The predicted delivery, if the link follows a schedule.
        emulated: The actual delivery, if the link follows a schedule.
        least_jitter_ms: The smallest jitter D that explains the run, in ms.
        shares: The rates of the flows, if there are several flows.
        guarantees: The proved guarantees of a single flow.
        expectations: The verdicts on the expectations of `--expect`.
        real_time: Whether the emulator ran with real-time priority.
        cpu: The share of a processor that the emulator used.
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
    """A run of `evaluate`. Old results have no field `format`.

    Attributes:
        scenario: The name of the scenario, which the following fields up to `jitter` describe.
        delivered_mbit: The Mbit delivered in each half second.
        lost_max_in_step: The largest number of packets lost in a step after the warm-up. Only simulated runs have this
            field and the next two fields.
        inflight_max_bdp: The largest number of bytes in flight at the end of a step after the warm-up, in BDP.
        at_start: Whether the sender still ran its start controller at the end of the run.
        faults: The reasons why a run on a real stack is invalid.
        from_seconds: The length of the warm-up on a real stack.
        outside: The measurements outside the proved bounds. The command prints them, but the file does not contain
            them.
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


class ExportLine(Record):
    """A file that `export` wrote."""

    controller: str
    target: str
    file: str


class FigureLine(Record):
    """A figure in the output of `evaluate`."""

    figure: str
