"""The forms of JSON lines about synthesis and widening (docs/reference/formats.md)."""

from typing import Literal

from ccmatic.records.codec import Record
from ccmatic.records.files import QueryRecord, Verdict
from ccmatic.records.verdicts import ExclusionRecord


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
        skipped: The number of candidates without executions that satisfy what the property assumes.
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
    skipped: int
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
    skipped: int
    solver_seconds: float
    query: QueryRecord


class CoverLine(Record):
    """The line that `check-cover` prints.

    Attributes:
        skipped: The number of candidates that the run skipped, because they have no executions.
        solutions_verified: Whether the solutions were verified again. Skipped candidates always are decided again.
        undecided: The numbers of undecided events.
        uncovered: The source of a candidate about which no event decides. Null if the events decide about all
            candidates.
    """

    run: str
    covered: bool
    solutions: int
    counterexamples: int
    skipped: int
    candidates: int
    method: Literal["enumeration", "refutation"]
    steps: int
    faults: list[str]
    solutions_verified: bool
    undecided: list[int]
    uncovered: str | None
