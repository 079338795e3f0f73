"""The shapes of the files that ccmatic writes and reads again (docs/formats.md)."""

from fractions import Fraction
from typing import Annotated, Any, Literal

from msgspec import Meta

from ccmatic.records.codec import ABSENT, Absent, Record

#: A horizon, in steps.
Steps = Annotated[int, Meta(ge=0, le=10**6)]

Verdict = Literal["holds", "violated", "unknown"]


class QueryRecord(Record, kw_only=True):
    """What was asked, in names and numbers: the sections `network` and `property` of a query file. template,
    template_digest: of a search, the SHA-256 is of the forms in each hole. simulation: seed and first step, of a trace
    that was simulated."""

    model: str
    horizon: int | str
    buffer: int | str
    jitter: int | str | Absent | None = ABSENT
    delay: str | Absent = ABSENT
    property: dict[str, int | str | bool]
    template: str | Absent | None = ABSENT
    template_digest: str | Absent = ABSENT
    simulation: dict[str, int] | Absent = ABSENT


class TraceFile(Record, tag_field="format", tag="ccmatic trace 1", kw_only=True):
    """One execution. horizon: values of each column. broken: what of the property it breaks. controller: the source of
    the controller whose rates these are. controller_name: its name, if it has one. digest: SHA-256 of the object
    without it, as JSON with sorted keys."""

    made_by: str | Absent = ABSENT
    query: QueryRecord
    horizon: Steps
    broken: list[str]
    constants: dict[str, Fraction]
    columns: dict[str, list[Fraction]]
    controller: str | None
    controller_name: str | Absent = ABSENT
    digest: str | Absent = ABSENT


class RunAbout(Record, tag_field="format", tag="ccmatic run 1"):
    """What a run file says of itself, the table `about`. version: of the ccmatic that made it. name: of the query.
    finished: once nothing is left to decide, how many events there were."""

    version: str
    name: str
    query: QueryRecord
    finished: str | Absent = ABSENT


class RunEvent(Record):
    """One thing that a run has learned, a row of the table `events`. candidate: the index of the form in each hole.
    trace: a TraceFile as text."""

    kind: str
    candidate: list[Any]
    source: str | None
    way: str | None
    trace: str | None
    seconds: float
    number: int


class SolutionsFile(Record, tag_field="format", tag="ccmatic solutions 1"):
    """What is in a folder of synthesised controllers. files: the SHA-256 of each."""

    made_by: str
    query: QueryRecord
    complete: bool
    files: dict[str, str]


class WideningFile(Record, tag_field="format", tag="ccmatic widening 1"):
    """All maximal envelopes around a controller, the ends of whose rates are moved by factors: from 1 down to 0 and up
    to `most`, by steps. envelopes: by file, of each end the number of its factor. breaking: files of traces that break
    all others."""

    made_by: str
    query: QueryRecord
    controller: str
    source: str
    step: Fraction
    most: Fraction
    envelopes: dict[str, list[int]]
    breaking: list[str]


class AnswerRecord(Record):
    """The verdict on a lemma. trace: the name of the file, in the folder of traces, of a window that breaks it. empty:
    it holds, but no window is as it presupposes. seconds: the answer took."""

    lemma: str
    verdict: Verdict
    seconds: float
    trace: str | Absent = ABSENT
    empty: bool | Absent = ABSENT


class ConstantRecord(Record):
    """A constant of a proof. edge: the answer which shows that the next better value will not do; null where the
    range ends, or the author chose the value. front: pairs of a value of the constant before this one, and the best
    value of this one there."""

    value: Fraction
    edge: AnswerRecord | None
    front: list[tuple[Fraction, Fraction | None]]


class ControllerRecord(Record):
    """A controller, by its label and source."""

    name: str
    source: str


class ProofFile(Record, tag_field="format", tag="ccmatic proof 1"):
    """What `prove` has found. definition: SHA-256 of the proof's own file. horizon: steps of a window, T."""

    made_by: str
    proof: str
    definition: str
    controller: ControllerRecord
    horizon: Steps
    constants: dict[str, ConstantRecord]
    lemmas: list[AnswerRecord]


class CertificateFile(Record, tag_field="format", tag="ccmatic certificate 1"):
    """Why formulas have no common solution. question: SHA-256 of their clauses. lemmas: lists of (literal, multiplier).
    steps: lists of literals. The first certificates do not say their format."""

    question: str
    lemmas: list[list[tuple[int, int]]]
    steps: list[list[int]]
