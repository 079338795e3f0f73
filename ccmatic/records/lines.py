"""The forms of the lines that commands print with `--json` (docs/reference/formats.md)."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Literal

from ccmatic.records.codec import ABSENT, Absent, Record
from ccmatic.records.files import QueryRecord, Verdict


class ExplanationRecord(Record):
    """A trace in sentences: the violated conditions, the network's behaviour, and the sender's behaviour."""

    broken: list[str]
    network: list[str]
    sender: list[str]


class ExclusionRecord(Record):
    """A set of executions that a question leaves out.

    Attributes:
        name: The name of the exclusion (docs/limits.md).
        reason: A description of the excluded executions.
    """

    name: str
    reason: str


def exclusions(left_out: Iterable[Any]) -> list[ExclusionRecord]:
    """Return the records of the given exclusions."""
    return [ExclusionRecord(each.name, each.reason) for each in left_out]


class ExpectationRecord(Record):
    """The verdict on an expectation of a run or a trace.

    Attributes:
        verdict: The verdict. It is "not applicable" if the expectation's conditions hold at no step, or if a share is
            relative to a total of 0.
        value: The worst value, exact, in `unit`. Null if there is no worst value, or if it is infinite.
        at_least: Whether `value` is only a lower bound. The trace then does not show the true value.
        flow: The number of the flow, which starts at 1. Null if the value concerns all flows.
        begin: The time at which the worst value begins, in the unit `clock`.
        end: The time at which the worst value ends, in the unit `clock`.
        measured: The worst value in words.
    """

    expect: str
    verdict: Literal["met", "not met", "not applicable"]
    value: Fraction | None
    unit: str
    at_least: bool
    flow: int | None
    begin: float | None
    end: float | None
    clock: Literal["s", "R_m"]
    measured: str

    @property
    def sentence(self) -> str:
        """The expectation together with the worst value, as a sentence."""
        return f"{self.expect}{f': {self.measured}' if self.measured else ''}"

    def __str__(self) -> str:
        return f"{self.verdict}: {self.sentence}"


class QuestionRecord(Record, kw_only=True):
    """The fields that describe the question of a line; VerifyLine explains them."""

    expect: str | Absent = ABSENT
    on: str | Absent = ABSENT
    start: str | Absent = ABSENT
    where: str | Absent = ABSENT
    notes: list[str] | Absent = ABSENT
    advice: list[str] | Absent = ABSENT


class VerifyLine(QuestionRecord):
    """The line that `verify` prints for one controller.

    Attributes:
        left_out: The executions that the question excludes.
        trace: The path of the trace's file. The value is null if the file could not be saved.
        unmodelled_counterexample: The file of an execution that the published model excludes. The value is null if the
            file could not be saved.
        expect: The expectation as the user wrote it.
        on: The network as the user wrote it.
        start: The condition under which executions begin.
        where: The network that represents `on`, in words.
        notes: The differences between `on` and `where`, in sentences.
        measured: The worst value in the trace, in words.
        advice: Sentences that suggest what to ask next.
    """

    controller: str
    verdict: Verdict
    seconds: float
    left_out: list[ExclusionRecord]
    broken: list[str] | Absent = ABSENT
    way: str | Absent | None = ABSENT
    trace: str | Absent | None = ABSENT
    relies_on: Literal["published delay", "unknown"] | Absent = ABSENT
    broken_otherwise: list[str] | Absent = ABSENT
    unmodelled_counterexample: str | Absent | None = ABSENT
    explanation: ExplanationRecord | Absent = ABSENT
    measured: str | Absent = ABSENT


class WorstLine(QuestionRecord):
    """The line that `worst` prints: the edge of a quantity x.

    Attributes:
        of: The quantity as the user wrote it.
        what: The condition that an execution is worse than x, as text.
        worse: Whether executions are worse above or below x.
        verdict: The verdict. It is `found` if `none` and `some` are neighbouring values, or if the searched range ends
            between them.
        never: Whether no execution satisfies the condition, for every decided value of x. If so, `none` and `some` are
            null.
        none: A value of x that no execution reaches.
        some: A value of x that the execution in `trace` reaches. Null if the searched range has no such value.
        index: The values of an index, such as Jain's, at `none` and at `some`.
        trace: The file of the trace.
        left_out: The excluded executions, as in VerifyLine. VerifyLine also explains expect, on, start, where, notes
            and advice.
        met: The verdict on the expectation.
    """

    controller: str
    of: str
    what: str
    worse: Literal["below", "above"] | None
    verdict: Literal["found", "unknown"]
    never: bool
    none: Fraction | None
    some: Fraction | None
    seconds: float
    left_out: list[ExclusionRecord]
    index: list[Fraction | None] | Absent = ABSENT
    trace: str | Absent | None = ABSENT
    explanation: ExplanationRecord | Absent = ABSENT
    met: Verdict | Absent = ABSENT


class AttemptRecord(Record):
    """One search of `starve`.

    Attributes:
        period: The number of steps after which the executions repeat. Null if the search is about one window without
            repetition.
        verdict: The verdict: `found` for an edge, `none` if no execution repeats after this period, `unknown` if a
            query timed out.
        none: A value that no execution reaches, as in WorstLine.
        some: A value that an execution reaches, as in WorstLine.
    """

    period: int | None
    horizon: int
    verdict: Literal["found", "none", "unknown"]
    none: Fraction | None
    some: Fraction | None
    seconds: float


class StarveLine(Record):
    """The line that `starve` prints for one controller. The fields from `flow` on are absent if there is no trace.

    Attributes:
        on: The network as the user wrote it.
        where: The network, in words.
        threshold: The share of the bytes below which a flow starves.
        left_out: The excluded executions, as in VerifyLine.
        suggestions: Sentences that suggest the next attempts, if the search was undecided.
        flow: The number of the flow with the fewest served bytes.
        share: The share of this flow in the served bytes.
        ratio: The served bytes of the other flow divided by the served bytes of this flow. Null if this flow has no
            served bytes.
        period: The number of steps after which the trace repeats. Null if the trace is one window without repetition.
        why: Sentences that explain why the flow starves.
    """

    controller: str
    verdict: Literal["starves", "does not starve", "unknown"]
    on: str
    where: str
    notes: list[str]
    threshold: Fraction
    attempts: list[AttemptRecord]
    seconds: float
    left_out: list[ExclusionRecord]
    suggestions: list[str]
    flow: int | Absent = ABSENT
    share: Fraction | Absent = ABSENT
    ratio: Fraction | Absent | None = ABSENT
    period: int | Absent | None = ABSENT
    why: list[str] | Absent = ABSENT
    trace: str | Absent | None = ABSENT


class RangeRecord(Record):
    """A range with a smallest and a largest possible value. Null stands for no bound."""

    least: Fraction | None
    most: Fraction | None


class EstimateLine(Record):
    """A line that `estimate` prints: a step of the trace, in the trace's units.

    Attributes:
        t: The number of the step. The ranges and beliefs are valid at the end of this step.
        C: The possible rates of the link.
        queue: The possible bytes in the queue.
        delay: The possible waiting times, in steps, of bytes that arrive at the end of this step.
        waited: The possible waiting times, in whole steps, of the last served byte.
        believed: The value of each belief, by name. The value is null if the belief has no upper bound yet.
    """

    t: int
    C: RangeRecord
    queue: RangeRecord
    delay: RangeRecord
    waited: RangeRecord
    believed: dict[str, Fraction | None]


class SolutionLine(Record):
    """A line that `synth` prints: a solution, with its number."""

    solution: int
    controller: str
    file: str
    source: str
    seconds: float


class SynthesisLine(Record):
    """The last line that `synth` prints.

    Attributes:
        whatever_the_rates: Whether some counterexample breaks the property, whatever rates a sender chooses.
        left_out: The excluded executions, as in VerifyLine.
    """

    summary: Literal[True]
    solutions: int
    iterations: int
    seconds: float
    candidates: int
    counterexamples: int
    undecided: int
    whatever_the_rates: bool
    left_out: list[ExclusionRecord]


class EnvelopeLine(Record):
    """A maximal envelope of `widen`, with its number.

    Attributes:
        wider: The file of a trace that breaks the next wider envelope, for each end. The name of an end is LINE.low or
            LINE.high, after its line in the controller. The file is null if the solver timed out.
    """

    envelope: int
    controller: str
    file: str
    source: str
    wider: dict[str, str | None]


class WideningLine(Record):
    """The last line that `widen` prints.

    Attributes:
        grid: The number of all envelopes on the grid.
        questions: The number of envelopes that a solver checked.
    """

    summary: Literal[True]
    verdict: Verdict
    envelopes: int
    grid: int
    questions: int
    undecided: int
    seconds: float


class WideningCheckLine(Record):
    """The line that `check-widening` prints.

    Attributes:
        uncovered: The source of an envelope about which no file in the folder decides. Null if the files decide about
            all envelopes.
    """

    folder: str
    complete: bool
    envelopes: int
    traces: int
    grid: int
    faults: list[str]
    uncovered: str | None
    envelopes_verified: bool
    undecided: list[str]


class ReplayLine(Record):
    """The line that `replay` prints for one trace.

    Attributes:
        laws: The number of checked laws.
        faults: The laws that the trace violates.
        expectations: The verdicts on the expectations of `--expect`.
    """

    trace: str
    passes: bool
    laws: int
    faults: list[str]
    outcome: Literal["breaks", "keeps", "cannot be judged"]
    reason: str | None
    broken: list[str]
    query: QueryRecord
    controller: str | None
    explanation: ExplanationRecord
    expectations: list[ExpectationRecord] | Absent = ABSENT


class RunLine(Record):
    """The line that `runs` prints: the number of events of each sort."""

    run: str
    name: str
    finished: bool
    version: str
    solution: int
    counterexample: int
    undecided: int
    proved: int
    solver_seconds: float
    query: QueryRecord


class CoverLine(Record):
    """The line that `check-cover` prints.

    Attributes:
        undecided: The numbers of undecided events.
        uncovered: The source of a candidate about which no event decides. Null if the events decide about all
            candidates.
    """

    run: str
    covered: bool
    solutions: int
    counterexamples: int
    candidates: int
    method: Literal["enumeration", "refutation"]
    steps: int
    faults: list[str]
    solutions_verified: bool
    undecided: list[int]
    uncovered: str | None


class ConstantLine(Record):
    """A constant in the output of `prove`.

    Attributes:
        limited_by: The lemma that the next better value breaks.
        dropped: Whether this value of the constant stands for no bound.
    """

    constant: str
    value: Fraction
    paper: str
    front: list[tuple[Fraction, Fraction | None]]
    limited_by: str | None
    dropped: bool | Absent = ABSENT
    controller: str | Absent = ABSENT


class LemmaLine(Record):
    """A lemma in the output of `prove`."""

    lemma: str
    verdict: Verdict
    seconds: float
    empty: bool | Absent = ABSENT
    controller: str | Absent = ABSENT


class CertifiedLine(Record):
    """A lemma in the output of `prove` that has a certificate."""

    certified: str
    controller: str | Absent = ABSENT


class ProofLine(Record):
    """The last line that `prove` prints.

    Attributes:
        claim: The guarantees, as sentences.
        result: The path of the result file. Null if every constant bounds nothing, so that the proof is empty.
        left_out: The excluded executions, as in VerifyLine.
    """

    summary: Literal[True]
    proved: bool
    faults: list[str]
    claim: list[str]
    result: str | None
    left_out: list[ExclusionRecord]
    controller: str | Absent = ABSENT


class ShapeLine(Record):
    """The outcome of one proof attempt by a shape.

    Attributes:
        found: The names of the constants for which some value works.
        missing: The names of the constants for which no value works.
        why: The reason why no value of the first missing constant works.
    """

    shape: str
    verdict: Verdict
    found: list[str]
    missing: list[str]
    why: str | None
    controller: str | Absent = ABSENT


class ExpectedLine(Record):
    """A line that states whether `prove` proved an expectation.

    Attributes:
        shape: The shape whose constants imply the expectation. Null if no shape does.
    """

    controller: str
    verdict: Literal["proved", "unknown"]
    expect: str
    on: str
    shape: str | None


class FrontPointLine(Record):
    """A controller in the output of `front`.

    Attributes:
        shape: The shape that proves the controller, or the last shape that was tried. Null if the search timed out.
        result: The path of the result file for `shape`. Null if the search timed out.
        measures: The guaranteed measures, by name.
        dominated_by: The controllers that dominate this controller. Null if no shape proves this controller.
        why: The reason why the proof fails.
    """

    controller: str
    source: str
    shape: str | None
    verdict: Verdict
    result: str | None
    measures: dict[str, Fraction]
    dominated_by: list[str] | None
    why: str | None


class FrontLine(Record):
    """The last line that `front` prints.

    Attributes:
        proved: The number of proved controllers.
        front: The controllers that no other controller dominates.
    """

    summary: Literal[True]
    controllers: int
    proved: int
    front: list[str]
    figure: str | None


class FindingLine(Record):
    """A finding in the output of `check`."""

    about: str
    fault: str | None
    how: str
    checked: bool
    unknown: bool


class CheckLine(Record):
    """The last line that `check` prints."""

    summary: Literal[True]
    proof: str
    accepted: bool
    verdict: Literal["accepted", "rejected", "unknown"]


class ExportLine(Record):
    """A file that `export` wrote."""

    controller: str
    target: str
    file: str


class TraceExportLine(Record):
    """The line that `trace export` prints."""

    trace: str
    format: str
    file: str
    rate_bytes_per_s: Fraction
    rtt_s: Fraction
    packet_bytes: int
    notes: list[str]


class EntryLine(Record):
    """An entry in the output of `list`.

    Attributes:
        says: The first sentence of the entry's file.
    """

    kind: str
    name: str
    says: str


class FigureLine(Record):
    """A figure in the output of `evaluate`."""

    figure: str


class Percentiles(Record):
    """The 5th, 50th and 95th percentiles of measurements."""

    p5: float
    p50: float
    p95: float


class FitLine(Record):
    """A fitted model in the output of `fit`.

    Attributes:
        jitter: The smallest jitter D that explains the whole log, in seconds.
        rate: The link's rate C in bytes per second. Null if no finite rate gives this jitter.
        rtt: The propagation delay R_m in seconds.
        window: The length of a window, in seconds.
        windows: The number of windows.
        jitter_of_windows: The smallest jitter D of each window, in seconds.
        within: The share of windows whose jitter is at most k·R_m, by k.
        rate_of_windows: The rate of each window, in bytes per second.
        rate_change: The percentiles of the factor between the rates of consecutive windows.
        longest_queue: The longest queue that a delivered packet met, in bytes. Only cbr_delay has this field.
        queue_at_losses: The queues ahead of lost packets, in bytes. Only cbr_delay has this field.
        clocks: The number of clocks. With 1, the same clock recorded the sending and the delivery of packets, and the
            propagation delay is at least 0. With 2, different clocks recorded them, and the offset between the clocks
            is unknown.
        clock_offset: The number of seconds by which the receiver's clock is ahead, on the assumption that the least
            delay is R_m. Null if the log has only one clock.
    """

    model: str
    jitter: float
    rate: float | None
    log: str
    packets: int
    lost: int
    rtt: float
    window: float
    windows: int
    jitter_of_windows: Percentiles | None
    within: dict[str, float | None]
    rate_of_windows: Percentiles | None
    rate_change: Percentiles | None
    longest_queue: float | None
    queue_at_losses: Percentiles | None
    clocks: int
    clock_offset: float | None
    notes: list[str]


class ExplanationLine(Record):
    """A network of `fit --explain`.

    Attributes:
        rtt: R_m in seconds.
        most_jitter: The largest jitter, in seconds, that an explanation may have.
        network: The name of the network.
        explains: Whether the network explains every packet. Null if the search did not decide.
        on: The network as a text for `--on`. Null if the network does not explain the log, or if `--on` cannot express
            it.
        parameters: The parameters of the explanation. Each name ends in the unit: bytes, bits_per_second or seconds.
        share_by_burst: For random loss: the smallest share that explains the losses, by the burst in bytes.
        packet: The number, in order of sending, of the first packet that the network does not explain. Null if the
            network explains the log, or if the search did not find this packet.
        line: The place of this packet in the log.
        law: The behaviour of this packet, in words, that the network does not allow.
        note: A sentence about the answer, or an empty text.
    """

    log: str
    packets: int
    lost: int
    rtt: float
    most_jitter: float
    network: str
    explains: bool | None
    on: str | None
    parameters: dict[str, float]
    share_by_burst: list[tuple[int, float]]
    packet: int | None
    line: int | None
    law: str | None
    note: str


class FitWindowLine(Record):
    """A window of a model in the output of `fit`.

    Attributes:
        begin: The start of the window, in seconds from the first delivery.
        packets: The number of packets delivered in the window.
        jitter: The smallest jitter D that explains this window, as in FitLine.
        rate: The rate of the link in this window, as in FitLine.
    """

    model: str
    begin: float
    packets: int
    jitter: float
    rate: float | None


class GuaranteeLine(Record):
    """The guarantees that a controller's proof implies for a path.

    All optional fields are null if the proof implies nothing for the path.

    Attributes:
        proof: The name of the proof. Null if there is no proof.
        model: The model of the proof. Null if there is no proof.
        basis: A description of the source of the path's jitter and rate.
        jitter: The path's jitter, in seconds.
        rate: The path's rate, in bytes per second.
        step: The length of a step in seconds.
        utilisation: The least used share of C in each window, and so in the long run.
        inflight: The largest number of bytes in flight.
        lost_in_step: The largest number of packets lost in a step.
        lossless_buffer: The least buffer, in bytes, with which no packet is lost.
        buffer: The buffer of the proof, in bytes.
        says: The bounds, in words.
        conditions: The conditions of the bounds, in words.
        covered: Whether the path meets every condition. If it does, `missing` is empty.
        missing: The conditions that the path does not meet, as sentences.
    """

    controller: str
    proof: str | None
    model: str | None
    basis: str | None
    jitter: float | None
    rate: float | None
    step: float | None
    utilisation: float | None
    inflight: float | None
    lost_in_step: int | None
    lossless_buffer: float | None
    buffer: float | None
    says: str | None
    conditions: str | None
    covered: bool
    missing: list[str]
