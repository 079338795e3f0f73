"""The forms of JSON lines about proofs and fronts (docs/reference/formats.md)."""

from fractions import Fraction
from typing import Literal

from ccmatic.records.codec import ABSENT, Absent, Record
from ccmatic.records.files import Verdict
from ccmatic.records.verdicts import ExclusionRecord


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
        no_invariant: The reason why no invariant can decide the expectation, or null.
    """

    controller: str
    verdict: Literal["proved", "unknown"]
    expect: str
    on: str
    shape: str | None
    no_invariant: str | None


class InvariantLine(Record):
    """The outcome of a search for an invariant that proves an expectation for all time.

    Attributes:
        claim: The claim: the expectation with its K, in C·step.
        clauses: The number of the invariant's clauses; null without an invariant.
        period: The period of the execution that refutes the expectation, if it repeats for ever.
        result: The file of the invariant, or of the execution that refutes the expectation.
        left_out: The excluded executions, as in VerifyLine.
        network: The copy of an ONNX file whose metadata name the proof; null for other controllers.
    """

    controller: str
    verdict: Literal["proved", "refuted", "unknown"]
    expect: str
    on: str
    start: str
    claim: str
    seconds: float
    clauses: int | None
    period: int | None
    result: str | None
    why: str
    left_out: list[ExclusionRecord]
    network: str | None


class BoundLine(Record):
    """The tightest bound of a quantity that `prove` found.

    Attributes:
        within: K of a utilisation, in C·R_m; null for other quantities.
        proved: The proved bound as an expectation; null if the search proved no bound.
        next: The next tighter bound of the grid; without a proved bound, the weakest one. Null if the tightest bound of
            the grid was proved.
        next_verdict: The verdict on the next bound.
        period: The period of the execution that refutes the next bound, if it repeats for ever.
        counterexample: The file of the execution that refutes the next bound.
    """

    controller: str
    subject: str
    within: int | None
    on: str
    start: str
    proved: str | None
    clauses: int | None
    result: str | None
    next: str | None
    next_verdict: Literal["refuted", "unknown"] | None
    period: int | None
    counterexample: str | None


class BoundsLine(Record):
    """The last line that `prove` prints after bounds.

    Attributes:
        proved: The number of quantities that have a proved bound.
        figure: The file of the figure; null if no bound was proved.
    """

    summary: Literal[True]
    controller: str
    bounds: int
    proved: int
    figure: str | None


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
