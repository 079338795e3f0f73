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


class VerifyLine(Record):
    """A controller of `verify`. trace, unmodelled_counterexample: a file, null if it could not be saved."""

    controller: str
    verdict: Verdict
    seconds: float
    broken: list[str] | Absent = ABSENT
    way: str | Absent | None = ABSENT
    trace: str | Absent | None = ABSENT
    relies_on: Literal["published delay", "unknown"] | Absent = ABSENT
    broken_otherwise: list[str] | Absent = ABSENT
    unmodelled_counterexample: str | Absent | None = ABSENT
    explanation: ExplanationRecord | Absent = ABSENT


class SolutionLine(Record):
    """A solution of `synth`, by its number."""

    solution: int
    controller: str
    file: str
    source: str
    seconds: float


class SynthesisLine(Record):
    """The last line of `synth`. whatever_the_rates: a counterexample breaks the property for any rates."""

    summary: Literal[True]
    solutions: int
    iterations: int
    seconds: float
    candidates: int
    counterexamples: int
    undecided: int
    whatever_the_rates: bool


class ReplayLine(Record):
    """The line of `replay`. laws: how many were checked; faults: those that the trace breaks."""

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
    """A constant of `prove`. limited_by: the lemma that the next better value breaks."""

    constant: str
    value: Fraction
    paper: str
    front: list[tuple[Fraction, Fraction | None]]
    limited_by: str | None


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
    """The last line of `prove`. claim: sentences. result: a file."""

    summary: Literal[True]
    proved: bool
    faults: list[str]
    claim: list[str]
    result: str


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
