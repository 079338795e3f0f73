"""The shapes of the lines that commands print with `--json` (docs/formats.md)."""

from fractions import Fraction
from typing import Literal

from ccmatic.records.codec import ABSENT, Absent, Record
from ccmatic.records.files import QueryRecord, Verdict


class ExplanationRecord(Record):
    """A trace in sentences: what it breaks, what the network did and what the sender did."""

    broken: list[str]
    network: list[str]
    sender: list[str]


class ExclusionRecord(Record):
    """Executions that a question leaves out: an exclusion's name (docs/limits.md), and which these are."""

    name: str
    reason: str


def exclusions(left_out) -> list[ExclusionRecord]:
    """The records of exclusions."""
    return [ExclusionRecord(each.name, each.reason) for each in left_out]


class ExpectationRecord(Record):
    """An expectation of a run or a trace.

    verdict: "not applicable" if the conditions hold nowhere, or there is nothing of which it could be a part.
    value: the worst value, exact, in `unit`; null if there is none, or if it is infinite. at_least: the value is
    larger, by how much is not shown. flow: the number of the flow, from 1; null: of all. begin, end: where, in `clock`.
    measured: the worst value in words.
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
    def sentence(self):
        """The expectation, with the worst value."""
        return f"{self.expect}{f': {self.measured}' if self.measured else ''}"

    def __str__(self):
        return f"{self.verdict}: {self.sentence}"


class VerifyLine(Record):
    """A controller of `verify`.

    left_out: what the question excludes. trace, unmodelled_counterexample: a file, null if it could not be saved.
    expect, on, start, where, notes: the question in the question language, and the network that stands for it.
    measured: the worst value in the trace, in words. advice: sentences that say what to ask next.
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
    expect: str | Absent = ABSENT
    on: str | Absent = ABSENT
    start: str | Absent = ABSENT
    where: str | Absent = ABSENT
    notes: list[str] | Absent = ABSENT
    measured: str | Absent = ABSENT
    advice: list[str] | Absent = ABSENT


class WorstLine(Record):
    """The line of `worst`. of: as it was asked; what: the condition that it is worse than x; worse: on which side of x
    that is. never: no execution is so, with any x that was asked; then `none` and `some` are null. none: an x at which
    no execution is so bad; some: one at which `trace`, a file, is; null if the range has none. index: of what has one,
    as of `jain`, at `none` and at `some`. verdict: whether these are neighbours, or the range ends there. left_out:
    as of VerifyLine, as are expect, on, start, where, notes, advice. met: the verdict on what is expected."""

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
    expect: str | Absent = ABSENT
    on: str | Absent = ABSENT
    start: str | Absent = ABSENT
    where: str | Absent = ABSENT
    notes: list[str] | Absent = ABSENT
    met: Verdict | Absent = ABSENT
    advice: list[str] | Absent = ABSENT


class AttemptRecord(Record):
    """A search of `starve`. period: of executions that repeat themselves after so many steps, or null for one window.
    verdict: `found`, an edge; `none`, no such execution; `unknown`, out of time for some of it. none, some: as of
    WorstLine."""

    period: int | None
    horizon: int
    verdict: Literal["found", "none", "unknown"]
    none: Fraction | None
    some: Fraction | None
    seconds: float


class StarveLine(Record):
    """A controller of `starve`. on, where: the network as it was given, and in words. threshold: the share below which
    a flow starves. flow: the number of the one that is served least; share: its part of what is served; ratio: how many
    times as much the other is served, null if it is served nothing; period: after how many steps that repeats itself,
    or null in one window. left_out: as of VerifyLine. suggestions: what to try if nothing was decided. The last keys
    are absent where there is no trace."""

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
    """From the least to the most that is possible; null: no bound."""

    least: Fraction | None
    most: Fraction | None


class EstimateLine(Record):
    """A step of `estimate`, t, in the trace's units: what is possible at its end, of C, of the bytes that wait, of how
    long what comes now waits (steps), and of how many whole steps the last byte served had waited; and what is
    believed, by belief, null where nothing bounds from above yet."""

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
    """The last line of `synth`. whatever_the_rates: a counterexample breaks the property for any rates. left_out: as of
    VerifyLine."""

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
    """A maximal envelope of `widen`, by its number. wider: what breaks the next wider ones: by an end, as LINE.low or
    LINE.high of the controller, a trace's file, or null where it could not be told in time."""

    envelope: int
    controller: str
    file: str
    source: str
    wider: dict[str, str | None]


class WideningLine(Record):
    """The last line of `widen`. grid: how many envelopes there are; questions: of how many a solver was asked."""

    summary: Literal[True]
    verdict: Verdict
    envelopes: int
    grid: int
    questions: int
    undecided: int
    seconds: float


class WideningCheckLine(Record):
    """The line of `check-widening`. uncovered: the source of an envelope of which nothing shows whether it holds."""

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
    """The line of `replay`. laws: how many were checked; faults: those that the trace breaks. expectations: of
    `--expect`."""

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
    """The line of `runs`, with how many events there are of each kind."""

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
    """The line of `check-cover`. undecided: events. uncovered: the source of a candidate that nothing decides."""

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
    """A constant of `prove`. limited_by: the lemma that the next better value breaks. dropped: it bounds nothing."""

    constant: str
    value: Fraction
    paper: str
    front: list[tuple[Fraction, Fraction | None]]
    limited_by: str | None
    dropped: bool | Absent = ABSENT


class LemmaLine(Record):
    """A lemma of `prove`."""

    lemma: str
    verdict: Verdict
    seconds: float
    empty: bool | Absent = ABSENT


class CertifiedLine(Record):
    """A lemma of `prove` that has a certificate."""

    certified: str


class ProofLine(Record):
    """The last line of `prove`. claim: sentences. result: a file. left_out: as of VerifyLine."""

    summary: Literal[True]
    proved: bool
    faults: list[str]
    claim: list[str]
    result: str
    left_out: list[ExclusionRecord]


class ShapeLine(Record):
    """What came of a shape that `prove` tried. found, missing: names of constants; why: that one of them is missing."""

    shape: str
    verdict: Verdict
    found: list[str]
    missing: list[str]
    why: str | None


class ExpectedLine(Record):
    """Whether `prove` proved an expectation. shape: the shape whose constants imply it; null if none does."""

    controller: str
    verdict: Literal["proved", "unknown"]
    expect: str
    on: str
    shape: str | None


class FrontPointLine(Record):
    """A controller of `front`. shape, result: null where time was up. measures: what is guaranteed, by name.
    dominated_by: names; null of one that no shape proves, of which `why` says how it fails."""

    controller: str
    source: str
    shape: str | None
    verdict: Verdict
    result: str | None
    measures: dict[str, Fraction]
    dominated_by: list[str] | None
    why: str | None


class FrontLine(Record):
    """The last line of `front`. proved: how many controllers; front: names of those that nothing dominates."""

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
    """Something that `list` finds. says: the first sentence of its file."""

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
    """A model of `fit`. jitter: the least D, in seconds, of the whole log; rate: C, bytes per second, null if no finite
    one gives it. rtt, window: seconds. Of windows: how many, their jitter and rate, the share whose jitter is within so
    many R_m, and the factor by which the rate is another in one than in the one before. Queues, in bytes, of cbr_delay
    only: the longest with a packet that got through, and what waited before those lost. clocks: 1 if one clock noted
    when packets were sent and delivered, so that the link's propagation is at least 0; 2 if two clocks did, so that
    the offset between them is free. clock_offset: seconds by which the receiver's clock is ahead if the least delay is
    R_m; null of one clock."""

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
    """A window of `fit`, of a model: when it begins, in seconds from the first delivery, what was delivered in it, and
    jitter and rate as of the whole log."""

    model: str
    begin: float
    packets: int
    jitter: float
    rate: float | None


class GuaranteeLine(Record):
    """What a proof says of a path, for a controller. proof, model: null if there is no proof; all but `missing` is null
    if it says nothing. basis: where jitter (s) and rate (bytes/s) of the path are from. step: s. Bounds: utilisation, a
    share of C in each window and so in the long run, at least; bytes inflight and packets lost in a step, at most; the
    buffer in bytes from which nothing is lost, and that the proof is about. says, conditions: the bounds, and what they
    require, in words. covered: nothing is missing."""

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
