"""The shapes of what is measured of runs, which `emulate` and `evaluate` print and keep (docs/formats.md). Measurements
are floats, null where there is nothing to measure."""

from typing import Literal

from ccmatic.records.codec import ABSENT, Absent, Record
from ccmatic.records.lines import ExpectationRecord, GuaranteeLine


class Spread(Record):
    """How a quantity is spread over packets: its mean, the 95th percentile and the largest."""

    mean: float | None
    p95: float | None
    max: float | None


class Measures(Record, kw_only=True):
    """What packets measured. Rates count bytes that left the bottleneck: utilisation is their share of the link.
    Queueing delay: from arrival until the last byte leaves it, in ms and in R_m. RTT: from arrival to release. Losses
    are packets, of those that arrived; in R_m: on average, and the most in any window as long as R_m."""

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
    """A belief that was false: at the end of which step of the sender's, and when; its value, and what was true of the
    link then, in the sender's units: C and, in bytes, what waited."""

    step: int
    seconds: float
    belief: str
    value: int
    C: float
    queue_bytes: float


class BeliefsRecord(Record):
    """What a sender believed at the end of each of its steps. They are judged until `judged_until_seconds`, while the
    link was its alone and had one rate. converged_seconds, converged_windows: when all its bounds on the link's rate
    had come within a tenth of what they were half of the time from then on, a whole number of windows; null if they
    had not by half of the steps."""

    steps: int
    judged_until_seconds: float
    false: list[FalseBelief]
    converged_seconds: float | None
    converged_windows: int | None


class GuardRecord(Record):
    """How a guarded flow kept to its envelope in its steps: in how many of them it sent over a packet more than the
    envelope's most, or less than its least (packets are whole), and by how many packets at most."""

    steps: int
    above: int
    below: int
    most_above: float
    most_below: float


class FlowMeasures(Measures, kw_only=True):
    """Of the packets of one flow, as it was named; R_m_ms is its own. ramp_seconds: from its start until it first had
    nine tenths of its measured rate over ten R_m; null if it never had. beliefs: of a sender that logs them. guard: of
    one in an envelope."""

    flow: str
    R_m_ms: float | Absent = ABSENT
    ramp_seconds: float | Absent | None = ABSENT
    beliefs: BeliefsRecord | Absent = ABSENT
    guard: GuardRecord | Absent = ABSENT


class SharesRecord(Record):
    """What each flow got of the link, between two times when one began or ended: in Mbit/s, null if it was not to send
    then, and Jain's index of those that were."""

    from_seconds: float
    until_seconds: float
    mbit_per_second: list[float | None]
    jain: float | None


class RateRecord(Record):
    """A rate of the link, from a second of the run on."""

    from_seconds: float
    bits_per_second: int


class LinkRecord(Record):
    """The link that was asked for. buffer_bytes: null if infinite. bdp_bytes: C·R_m at the first rate.
    pattern: of jitter; `own` of each flow's own. scheduled: it is a schedule's. opportunities: how many the link trace
    of mahimahi has whose mean the rate is."""

    rates: list[RateRecord]
    rtt_ms: float
    buffer_bytes: int | None
    bdp_bytes: float
    jitter_ms: float
    pattern: str
    seed: int
    scheduled: bool
    opportunities: int | Absent = ABSENT


class Lateness(Record):
    """How late packets were released, in ms: percentiles, and the most."""

    p50: float | None
    p99: float | None
    max: float | None


class Delivery(Record):
    """Over a schedule: the share of the link that is delivered, bytes lost, and bytes delivered by each instant."""

    utilisation: float
    lost_bytes: int
    delivered: list[int]


class MeasuresFile(Measures, tag_field="format", tag="ccmatic measures 1", kw_only=True):
    """One run of `emulate`: measures of all packets from `from_seconds` on, and of each flow's. faults: why the run is
    not one of the link asked for. trace, emulated: of a schedule, what it foretells and what happened. real_time:
    whether the emulator had priority. cpu: its share of a processor. least_jitter_ms: the least D of what happened.
    shares: of several flows. guarantees: what is proved of a flow that is alone. expectations: of `--expect`. The first
    files do not say their format."""

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
    """A run of `evaluate`. scenario: its name, of what follows it here. delivered_mbit: in each half second. Of a
    simulated one, after the warm-up: the most packets lost in a step, the most inflight at a step's end, and whether
    the sender never left its start. faults: of one on a real stack. from_seconds: how long its
    warm-up was. outside: what is outside the proved bounds; printed, not kept. The first results do not say their
    format."""

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
