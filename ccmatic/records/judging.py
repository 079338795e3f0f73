"""The forms of scenarios, witnesses and verdicts of `judge` (docs/reference/judge.md)."""

from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from ccmatic.records.codec import ABSENT, Absent, Record

#: An instant or a length of time in ns, at most an hour.
Time = Annotated[int, Meta(ge=0, le=3600 * 10**9)]

#: A length of time in ns above 0, at most an hour.
Length = Annotated[int, Meta(gt=0, le=3600 * 10**9)]

#: A rate in bits per second.
Bits = Annotated[int, Meta(gt=0, le=10**12)]

#: A number of bytes above 0, at most 10^15.
Size = Annotated[int, Meta(gt=0, le=10**15)]

#: A number of packets above 0.
Packets = Annotated[int, Meta(gt=0, le=10**6)]

#: The number of a flow. The first flow has the number 0.
Flow = Annotated[int, Meta(ge=0, le=63)]


class EventRecord(Record, tag_field="event"):
    """An event of a scenario.

    Attributes:
        at: The instant in ns at which the event begins.
    """

    at: Time


class HoldEvent(EventRecord, tag="hold"):
    """The jitter box holds packets: those that leave the bottleneck in [at, at+length) leave the box at at+length.

    Attributes:
        length: The length of the hold in ns, at most D.
    """

    length: Length


class RateEvent(EventRecord, tag="rate"):
    """From this instant on, the link has another rate, in bits per second."""

    bits: Bits


class RttEvent(EventRecord, tag="rtt"):
    """R_m changes to another value, in ns, for packets that leave the bottleneck later. Flows stay in order."""

    rtt: Length


class LossEvent(EventRecord, tag="loss"):
    """The next packets that arrive at the link are lost."""

    packets: Packets


class IdleEvent(EventRecord, tag="idle"):
    """The application of a flow offers no bytes for some time, in ns."""

    length: Length
    flow: Flow = 0


class LimitEvent(EventRecord, tag="limit"):
    """The application of a flow offers bytes only at a given rate, in bits per second, for some time, in ns."""

    length: Length
    bits: Bits
    flow: Flow = 0


class AcksEvent(EventRecord, tag="acks"):
    """For some time, acknowledgements arrive in bursts, or some of them are lost.

    Attributes:
        length: The length of this time in ns.
        aggregate: The time in ns between bursts of acknowledgements, at most D; 0 if they arrive one by one.
        lose: The number n, if every n-th acknowledgement is lost; 0 if no acknowledgement is lost.
    """

    length: Length
    aggregate: Time = 0
    lose: Annotated[int, Meta(ge=0, le=10**6)] = 0


class OutageEvent(EventRecord, tag="outage"):
    """The link serves no bytes for some time, in ns. The queue remains."""

    length: Length


class BufferEvent(EventRecord, tag="buffer"):
    """From this instant on, the buffer has another size, in bytes. Packets that already wait remain."""

    bytes: Size


Event = HoldEvent | RateEvent | RttEvent | LossEvent | IdleEvent | LimitEvent | AcksEvent | OutageEvent | BufferEvent


class PolicerRecord(Record):
    """A policer in front of the bottleneck.

    Attributes:
        bits: The rate of its tokens in bits per second.
        bucket: The size of its bucket in bytes.
    """

    bits: Bits
    bucket: Size


class ChanceRecord(Record):
    """Losses by chance.

    Attributes:
        share: The share of the packets that are lost, at least 0 and below 1.
        burst: The largest number of packets that are lost in a row.
    """

    share: Fraction
    burst: Packets = 1


class FlowRecord(Record):
    """A flow over the link of a scenario.

    Attributes:
        start: The instant in ns at which the flow starts.
        stop: The instant in ns at which the flow stops; null if it sends until the end.
        rtt: The flow's R_m in ns; null for that of the scenario.
        beside: The controller that sends in this flow; null for the subject of the run.
    """

    start: Time = 0
    stop: Time | None = None
    rtt: Length | None = None
    beside: str | None = None


class AcknowledgementsRecord(Record):
    """The receiver's policy, for controllers that run alone. A whole stack has its own policy.

    Attributes:
        packets: An acknowledgement leaves after this number of packets …
        delay: … or after this time, in ns.
    """

    packets: Packets = 2
    delay: Time = 25 * 10**6


class ScenarioFile(Record, tag_field="format", tag="ccmatic scenario 1", kw_only=True):
    """A lawful course of a network and of the applications on it.

    Attributes:
        duration: The length of the run in ns.
        rate: C in bits per second.
        rtt: R_m in ns.
        buffer: The buffer of the bottleneck in bytes.
        jitter: D in ns, the longest time for which the jitter box may hold a packet.
        packet: The largest IP packet in bytes.
        spacing: The least time in ns between two deliveries of a flow.
        threshold: The queue in bytes above which the link marks packets; null if it marks nothing.
        loss: The losses by chance; null if there are none.
        events: The events, in order of time.
        flows: The flows. The first one is the subject's.
    """

    duration: Length
    rate: Bits
    rtt: Length
    buffer: Size
    jitter: Time = 0
    packet: Annotated[int, Meta(ge=576, le=65535)] = 1500
    spacing: Annotated[int, Meta(ge=1, le=10**9)] = 10_000
    seed: Annotated[int, Meta(ge=0, lt=2**62)] = 0
    threshold: Size | None = None
    policer: PolicerRecord | None = None
    loss: ChanceRecord | None = None
    events: tuple[Event, ...] = ()
    flows: tuple[FlowRecord, ...] = (FlowRecord(),)
    acknowledgements: AcknowledgementsRecord = AcknowledgementsRecord()


class WitnessFile(Record, tag_field="format", tag="ccmatic witness 1", kw_only=True):
    """A run that breaks a rule, with everything that is necessary to repeat the run.

    Attributes:
        subject: The name of the subject, such as `quinn:cubic`.
        value: The measured value, in the unit of the threshold.
        margin: The distance to the threshold, as a share of it; below 0 if the run breaks the rule.
        seed: The seed of the search that found the scenario.
    """

    subject: str
    version: str
    rule: str
    threshold: str
    value: float
    margin: float
    seed: int
    scenario: ScenarioFile


class SearchHead(Record, tag_field="format", tag="ccmatic search 1", kw_only=True):
    """The first line of the file of a search.

    Attributes:
        rules: The names of the default rules.
    """

    subject: str
    version: str
    seed: int
    rules: list[str]
    expect: list[str]


class SearchRun(Record, kw_only=True):
    """A further line of the file of a search: one run.

    Attributes:
        number: The number of the run, from 0 on.
        target: The rule for which the search chose the scenario.
        failure: The failure of the code, or null.
        margins: The margin, the value and the instant in ns (or null) for each rule that measures the run.
    """

    number: int
    target: str
    scenario: ScenarioFile
    failure: str | None
    margins: dict[str, tuple[float, float, int | None]]


class JudgedLine(Record, kw_only=True):
    """The verdict of a rule on a run.

    Attributes:
        value: The measured value; null if the rule does not apply.
        margin: The distance to the threshold, as a share of it; below 0 if the run breaks the rule.
        at: The instant in s at which the run shows the value; null if no instant stands out.
        reason: The reason why the rule does not apply.
    """

    subject: str
    version: str
    rule: str
    verdict: Literal["kept", "broken", "not applicable"]
    threshold: str
    value: float | None = None
    unit: str
    margin: float | None = None
    at: float | None = None
    reason: str | Absent = ABSENT


class DifferenceLine(Record, kw_only=True):
    """The difference between the windows of two subjects on one scenario.

    Attributes:
        verdict: `same` or `different`.
        at: The instant in s from which the windows differ for a round trip; null if they do not.
        windows: The two windows in bytes at the instant `at`; null if there is no such instant.
        mean: The mean difference of the windows, as a share of the larger one.
        delivered: The bytes that the receivers got in each of the two runs.
    """

    one: str
    other: str
    verdict: Literal["same", "different"]
    at: float | None
    windows: tuple[int, int] | None
    mean: float
    delivered: tuple[int, int]


class SearchedLine(Record, kw_only=True):
    """The result of a search for one rule.

    Attributes:
        verdict: The verdict: `broken`; `kept` if all runs of the search keep the rule; or `not asked` if no run's
            scenario meets the premises of the rule.
        runs: The number of runs that the rule judged.
        margin: The least margin of these runs; `value` is that of the same run.
        events: The number of events of the shortest scenario that breaks the rule.
        witness: The file of the shortest scenario that breaks the rule.
    """

    subject: str
    version: str
    rule: str
    verdict: Literal["kept", "broken", "not asked"]
    runs: int
    threshold: str
    value: float | None = None
    unit: str
    margin: float | None = None
    events: int | None = None
    witness: str | None = None


class ExaminedLine(Record, kw_only=True):
    """A fact about a subject, in the order of RFC 9743.

    Attributes:
        part: The part of RFC 9743, such as `Single Algorithm Behavior`.
        kind: A proof; a worst value that a solver found for a model; a scenario that was played; a search of judge; or
            `not examined`, if there is no fact.
        source: The name of the file with the result.
    """

    subject: str
    part: str
    section: str
    kind: Literal["proof", "model", "scenario", "search", "not examined"]
    what: str
    result: str
    source: str


class JudgedTotalLine(Record, kw_only=True):
    """The last line of a run: the number of rules with each verdict."""

    subject: str
    version: str
    kept: int
    broken: int
    not_applicable: int


class SearchedTotalLine(Record, kw_only=True):
    """The last line of a search.

    Attributes:
        seconds: The length of the search, with shrinking.
        kept: The number of rules that all runs keep.
        broken: The number of rules that a run breaks.
        not_asked: The number of other rules.
    """

    subject: str
    version: str
    runs: int
    seconds: float
    seed: int
    kept: int
    broken: int
    not_asked: int


class WitnessLine(Record, kw_only=True):
    """The replay of a witness.

    Attributes:
        passes: Whether the scenario and the run obey every law, and the run is as the file states.
        faults: The laws that the run breaks.
        differs: The differences between the file's value, margin and threshold and those of the run.
        measured: The value of this run; null if the rule measures nothing.
    """

    witness: str
    subject: str
    version: str
    rule: str
    passes: bool
    faults: list[str]
    differs: list[str]
    value: float
    measured: float | None
