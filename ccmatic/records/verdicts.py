"""The forms of JSON lines about verdicts and traces (docs/reference/formats.md)."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Literal

import msgspec

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
        verdict: The verdict. The verdict is "not applicable" if the expectation's conditions hold at no step, or if a
            share is relative to a total of 0. The verdict is "cannot be judged" if the run is not valid, or if the
            trace breaks a law.
        value: The worst value, exact, in `unit`. Null if there is no worst value, or if it is infinite.
        at_least: Whether `value` is only a lower bound. The trace then does not show the true value.
        flow: The number of the flow, which starts at 1. Null if the value concerns all flows.
        begin: The time at which the worst value begins, in the unit `clock`.
        end: The time at which the worst value ends, in the unit `clock`.
        measured: The worst value in words, or the reason why the expectation cannot be judged.
    """

    expect: str
    verdict: Literal["met", "not met", "not applicable", "cannot be judged"]
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

    def withheld(self, reason: str) -> "ExpectationRecord":
        """Return the record without verdict and worst value, because the run or the trace shows something else."""
        nothing: dict[str, Any] = {"value": None, "at_least": False, "flow": None, "begin": None, "end": None}
        return msgspec.structs.replace(self, verdict="cannot be judged", measured=reason, **nothing)

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
        remembered: Whether this machine had decided the same question before, and the line repeats that answer.
        advice: Sentences that suggest what to ask next.
    """

    controller: str
    verdict: Verdict
    seconds: float
    left_out: list[ExclusionRecord]
    remembered: bool = False
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
        worse: The relation to x of the values that satisfy `what`. Null for a condition of the user.
        verdict: The verdict. The verdict is `found` if `none` and `some` are neighbouring values, or if the searched
            range ends between them.
        never: Whether no execution satisfies the condition, for every decided value of x. If so, `none` and `some` are
            null.
        none: A value of x that no execution reaches.
        some: A value of x that the execution in `trace` reaches. Null if the searched range has no such value.
        index: The values of an index, such as Jain's, at `none` and at `some`.
        trace: The file of the trace.
        left_out: The excluded executions, as in VerifyLine. VerifyLine also explains remembered, expect, on, start,
            where, notes and advice.
        met: The verdict on the expectation.
    """

    controller: str
    of: str
    what: str
    worse: Literal["below", "at most", "above", "at least"] | None
    verdict: Literal["found", "unknown"]
    never: bool
    none: Fraction | None
    some: Fraction | None
    seconds: float
    left_out: list[ExclusionRecord]
    remembered: bool = False
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


class DecisionLine(Record):
    """The line that `verify` prints for a network and a property of one decision.

    Attributes:
        network: The network's file.
        property: The property's file.
        verdict: Whether the property holds. The verdict is `unknown` if the search timed out.
        inputs: The exact inputs of a counterexample; null if there is no counterexample.
        outputs: The exact outputs for these inputs; null if there is no counterexample.
        branches: The number of branches that the search examined.
    """

    network: str
    property: str
    verdict: Verdict
    seconds: float
    inputs: list[Fraction] | None
    outputs: list[Fraction] | None
    branches: int


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
