"""The shapes of the lines that commands print with `--json` (docs/reference/formats.md)."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Literal

from ccmatic.records.codec import ABSENT, Absent, Record
from ccmatic.records.files import QueryRecord, Verdict


class ExplanationRecord(Record):
    """A trace in sentences: what it breaks, what the network did, and what the sender did."""

    broken: list[str]
    network: list[str]
    sender: list[str]


class ExclusionRecord(Record):
    """Executions that a question leaves out.

    Attributes:
        name: The name of the exclusion (docs/limits.md).
        reason: Which executions it leaves out.
    """

    name: str
    reason: str


def exclusions(left_out: Iterable[Any]) -> list[ExclusionRecord]:
    """Return the records of exclusions."""
    return [ExclusionRecord(each.name, each.reason) for each in left_out]


class ExpectationRecord(Record):
    """The verdict on an expectation of a run or a trace.

    Attributes:
        verdict: "not applicable" if the conditions hold nowhere, or if a share is of a total of 0.
        value: The worst value, exact, in `unit`. Null if there is none, or if it is infinite.
        at_least: The true value is larger than `value`; the trace does not show by how much.
        flow: The number of the flow, from 1; null if the value is about all flows.
        begin: Where the worst value begins, in `clock`.
        end: Where the worst value ends, in `clock`.
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
        """The expectation with the worst value."""
        return f"{self.expect}{f': {self.measured}' if self.measured else ''}"

    def __str__(self) -> str:
        return f"{self.verdict}: {self.sentence}"


class QuestionRecord(Record, kw_only=True):
    """The fields of a line that describe its question; see VerifyLine."""

    expect: str | Absent = ABSENT
    on: str | Absent = ABSENT
    start: str | Absent = ABSENT
    where: str | Absent = ABSENT
    notes: list[str] | Absent = ABSENT
    advice: list[str] | Absent = ABSENT


class VerifyLine(QuestionRecord):
    """The line of `verify` for one controller.

    Attributes:
        left_out: The executions that the question excludes.
        trace: The file of the trace; null if it could not be saved.
        unmodelled_counterexample: The file of an execution outside the published model; null if it could not be saved.
        expect: The expectation as written by the user.
        on: The network as written by the user.
        start: Where executions begin.
        where: The network that represents `on`, in words.
        notes: The differences between `on` and that network, in sentences.
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
    """The line of `worst`: an edge of a quantity x.

    Attributes:
        of: The quantity as written by the user.
        what: The condition that an execution is worse than x.
        worse: The side of x on which executions are worse.
        verdict: `found` if `none` and `some` are neighbouring values, or if the search range ends there.
        never: No execution satisfies the condition, for any x that was decided. Then `none` and `some` are null.
        none: An x that no execution reaches.
        some: An x that `trace` reaches; null if the range has none.
        index: The values of an index, such as Jain's, at `none` and at `some`.
        trace: The file of the trace.
        left_out: As in VerifyLine, as are expect, on, start, where, notes and advice.
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
        period: The number of steps after which the executions repeat; null for one window, without repetition.
        verdict: `found`: an edge; `none`: there is no such execution; `unknown`: part of the search timed out.
        none: As in WorstLine.
        some: As in WorstLine.
    """

    period: int | None
    horizon: int
    verdict: Literal["found", "none", "unknown"]
    none: Fraction | None
    some: Fraction | None
    seconds: float


class StarveLine(Record):
    """The line of `starve` for one controller. The fields from `flow` on are absent if there is no trace.

    Attributes:
        on: The network as written by the user.
        where: The network, in words.
        threshold: The share below which a flow starves.
        left_out: As in VerifyLine.
        suggestions: What to try if the search was undecided.
        flow: The number of the flow that is served least.
        share: That flow's share of the served bytes.
        ratio: The other flow's served bytes divided by that flow's; null if that flow is served nothing.
        period: The number of steps after which the trace repeats; null for one window, without repetition.
        why: Why the flow starves, in sentences.
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
    """The least and the largest possible value. Null stands for no bound."""

    least: Fraction | None
    most: Fraction | None


class EstimateLine(Record):
    """A step of `estimate`, in the trace's units.

    Attributes:
        t: The number of the step. Ranges and beliefs are those at its end.
        C: The possible rates of the link.
        queue: The possible bytes in the queue.
        delay: The possible waiting times, in steps, of bytes that arrive now.
        waited: The possible waiting times, in whole steps, of the last served byte.
        believed: The value of each belief; null if the belief is not yet bounded from above.
    """

    t: int
    C: RangeRecord
    queue: RangeRecord
    delay: RangeRecord
    waited: RangeRecord
    believed: dict[str, Fraction | None]


class SolutionLine(Record):
    """A solution of `synth`, by its number."""

    solution: int
    controller: str
    file: str
    source: str
    seconds: float


class SynthesisLine(Record):
    """The last line of `synth`.

    Attributes:
        whatever_the_rates: Whether one counterexample breaks the property for any rates.
        left_out: As in VerifyLine.
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
    """A maximal envelope of `widen`, by its number.

    Attributes:
        wider: For each end, as LINE.low or LINE.high of the controller, the file of a trace that breaks the next wider
            envelope. Null if the solver timed out.
    """

    envelope: int
    controller: str
    file: str
    source: str
    wider: dict[str, str | None]


class WideningLine(Record):
    """The last line of `widen`.

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
    """The line of `check-widening`.

    Attributes:
        uncovered: The source of an envelope that no file in the folder decides; null if there is none.
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
    """The line of `replay`.

    Attributes:
        laws: The number of checked laws.
        faults: The laws that the trace breaks.
        expectations: The verdicts on `--expect`.
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
    """The line of `runs`, with the number of events of each kind."""

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
    """The line of `check-cover`.

    Attributes:
        undecided: The numbers of undecided events.
        uncovered: The source of a candidate that no event decides; null if there is none.
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
    """A constant of `prove`.

    Attributes:
        limited_by: The lemma that the next better value breaks.
        dropped: Whether the constant bounds nothing.
    """

    constant: str
    value: Fraction
    paper: str
    front: list[tuple[Fraction, Fraction | None]]
    limited_by: str | None
    dropped: bool | Absent = ABSENT
    controller: str | Absent = ABSENT


class LemmaLine(Record):
    """A lemma of `prove`."""

    lemma: str
    verdict: Verdict
    seconds: float
    empty: bool | Absent = ABSENT
    controller: str | Absent = ABSENT


class CertifiedLine(Record):
    """A lemma of `prove` that has a certificate."""

    certified: str
    controller: str | Absent = ABSENT


class ProofLine(Record):
    """The last line of `prove`.

    Attributes:
        claim: The guarantees, in sentences.
        result: The result file; null if no bound is left, so that nothing is proved.
        left_out: As in VerifyLine.
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
        found: The names of the constants that have a value.
        missing: The names of the other constants.
        why: Why the first of them has no value.
    """

    shape: str
    verdict: Verdict
    found: list[str]
    missing: list[str]
    why: str | None
    controller: str | Absent = ABSENT


class ExpectedLine(Record):
    """Whether `prove` proved an expectation.

    Attributes:
        shape: The shape whose constants imply the expectation; null if none does.
    """

    controller: str
    verdict: Literal["proved", "unknown"]
    expect: str
    on: str
    shape: str | None


class FrontPointLine(Record):
    """A controller of `front`.

    Attributes:
        shape: The shape that proves the controller, or the last one that was tried; null if the search timed out.
        result: The result file of that shape; null if the search timed out.
        measures: The guaranteed measures, by name.
        dominated_by: The controllers that dominate this one. Null if no shape proves this one.
        why: How the proof fails.
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
    """The last line of `front`.

    Attributes:
        proved: The number of proved controllers.
        front: The controllers that no other one dominates.
    """

    summary: Literal[True]
    controllers: int
    proved: int
    front: list[str]
    figure: str | None


class FindingLine(Record):
    """A finding of `check`."""

    about: str
    fault: str | None
    how: str
    checked: bool
    unknown: bool


class CheckLine(Record):
    """The last line of `check`."""

    summary: Literal[True]
    proof: str
    accepted: bool
    verdict: Literal["accepted", "rejected", "unknown"]


class ExportLine(Record):
    """A file of `export`."""

    controller: str
    target: str
    file: str


class TraceExportLine(Record):
    """The line of `trace export`."""

    trace: str
    format: str
    file: str
    rate_bytes_per_s: Fraction
    rtt_s: Fraction
    packet_bytes: int
    notes: list[str]


class EntryLine(Record):
    """An entry of `list`.

    Attributes:
        says: The first sentence of its file.
    """

    kind: str
    name: str
    says: str


class FigureLine(Record):
    """A figure of `evaluate`."""

    figure: str


class Percentiles(Record):
    """The 5th, 50th and 95th percentile of measurements."""

    p5: float
    p50: float
    p95: float


class FitLine(Record):
    """A model of `fit`.

    Attributes:
        jitter: The smallest D that explains the whole log, in seconds.
        rate: C in bytes per second; null if no finite rate gives that jitter.
        rtt: R_m in seconds.
        window: The length of a window, in seconds.
        windows: The number of windows.
        jitter_of_windows: The jitter of each window.
        within: For each k, the share of windows whose jitter is at most k·R_m.
        rate_of_windows: The rate of each window.
        rate_change: The factor between the rates of consecutive windows.
        longest_queue: For cbr_delay only: the longest queue at a packet that was delivered, in bytes.
        queue_at_losses: For cbr_delay only: the queues ahead of lost packets, in bytes.
        clocks: 1 if one clock recorded when packets were sent and delivered; the propagation delay is then at least 0.
            2 if two clocks did; the offset between them is then free.
        clock_offset: How many seconds the receiver's clock is ahead, assuming that the least delay is R_m; null for one
            clock.
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


class FitWindowLine(Record):
    """A window of `fit`, for a model.

    Attributes:
        begin: The beginning of the window, in seconds from the first delivery.
        packets: The packets delivered in the window.
        jitter: As in FitLine, for this window only.
        rate: As in FitLine, for this window only.
    """

    model: str
    begin: float
    packets: int
    jitter: float
    rate: float | None


class GuaranteeLine(Record):
    """The meaning of a controller's proof for a path.

    All optional fields are null if the proof says nothing about the path.

    Attributes:
        proof: The proof; null if there is none.
        model: The proof's model; null if there is no proof.
        basis: The source of the path's jitter and rate.
        jitter: The path's jitter, in seconds.
        rate: The path's rate, in bytes per second.
        step: A step, in seconds.
        utilisation: The least share of C in each window, and so in the long run.
        inflight: The most bytes in flight.
        lost_in_step: The most packets lost in a step.
        lossless_buffer: The buffer in bytes from which no packet is lost.
        buffer: The buffer in bytes that the proof is about.
        says: The bounds, in words.
        conditions: The conditions of the bounds, in words.
        covered: The path meets every condition, so `missing` is empty.
        missing: The conditions that the path does not meet, in sentences.
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
