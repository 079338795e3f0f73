"""The forms of the files that ccmatic writes and reads again (docs/reference/formats.md)."""

from fractions import Fraction
from typing import Annotated, Any, Literal

from msgspec import Meta

from ccmatic.records.codec import ABSENT, Absent, Record

#: The type of a horizon, which is a number of steps.
Steps = Annotated[int, Meta(ge=0, le=10**6)]

Verdict = Literal["holds", "violated", "unknown"]


class QueryRecord(Record, kw_only=True):
    """A question as names and numbers.

    Its fields are the keys in the sections `network` and `property` of a query file.

    Attributes:
        history: The number of steps before the start of the executions; see Network.
        template: The name of the search template, for a synthesis query.
        template_digest: The SHA-256 of the forms in each hole of the template.
        definitions_digest: For saved searches: the SHA-256 of the texts of the user's definitions, if the query names
            any.
        simulation: For a simulated trace: the seed, and the first step of the trace in the run.
    """

    model: str
    horizon: int | str
    buffer: int | str
    jitter: int | str | Absent | None = ABSENT
    delay: str | Absent = ABSENT
    history: int | str | Absent = ABSENT
    property: dict[str, int | str | bool]
    template: str | Absent | None = ABSENT
    template_digest: str | Absent = ABSENT
    definitions_digest: str | Absent = ABSENT
    simulation: dict[str, int] | Absent = ABSENT


class PathRecord(Record):
    """The path in the question of a trace, in the units of the user.

    Attributes:
        rate: The link's rate C in bytes per second.
        rtt: The round-trip propagation delay R_m in seconds.
        step: The length of a step of the trace in seconds.
        packet: The packet size MSS in bytes.
    """

    rate: Fraction
    rtt: Fraction
    step: Fraction
    packet: int

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:  # numbers of the question language have at most 30 digits
            if not 1e-50 < getattr(self, name) < 1e50:
                raise ValueError(f"expected a {name} between 10^-50 and 10^50")


class TraceFile(Record, tag_field="format", tag="ccmatic trace 1", kw_only=True):
    """A trace: one execution.

    Attributes:
        horizon: The number of values in each column.
        broken: The conditions of the property that the trace violates.
        controller: The source of the controller that chose the rates; null if no controller did.
        path: The path in the question, if the question was about a path.
        digest: The SHA-256 of this object without the field `digest`, as JSON with sorted keys.
    """

    made_by: str | Absent = ABSENT
    query: QueryRecord
    horizon: Steps
    broken: list[str]
    constants: dict[str, Fraction]
    columns: dict[str, list[Fraction]]
    controller: str | None
    controller_name: str | Absent = ABSENT
    path: PathRecord | Absent = ABSENT
    digest: str | Absent = ABSENT


class WorkbenchQuestion(Record):
    """An expectation, and a trace that violates it if the search found one."""

    expect: str
    trace: TraceFile | Absent = ABSENT


class WorkbenchFile(Record, tag_field="format", tag="ccmatic workbench 1", kw_only=True):
    """A session of the workbench, which users can share: a controller, a network and expectations.

    Attributes:
        on: The description of the network.
        start: The condition under which executions begin.
        horizon: The number of steps in an execution.
    """

    made_by: str | Absent = ABSENT
    name: str
    controller: str
    on: str
    start: str = "any"
    horizon: Steps | Absent = ABSENT
    questions: list[WorkbenchQuestion]


class SaveRequest(Record):
    """A request from the page of the workbench to save a controller.

    Attributes:
        replace: Whether an existing file may be replaced.
    """

    name: str
    controller: str
    replace: bool = False


class RunAbout(Record, tag_field="format", tag="ccmatic run 1"):
    """The table `about` of a run file.

    Attributes:
        finished: The number of events. The run stores this number as soon as no candidate is undecided.
    """

    version: str
    name: str
    query: QueryRecord
    finished: str | Absent = ABSENT


class RunEvent(Record):
    """One event of a run, which is a row of the table `events`.

    Attributes:
        candidate: The index of the chosen form for each hole of the template.
        trace: A TraceFile as text.
    """

    kind: str
    candidate: list[Any]
    source: str | None
    way: str | None
    trace: str | None
    seconds: float
    number: int


class SolutionsFile(Record, tag_field="format", tag="ccmatic solutions 1"):
    """The list of files in a folder of synthesised controllers.

    Attributes:
        files: The SHA-256 of each file, by the file's name; None while the file is written.
    """

    made_by: str
    query: QueryRecord
    complete: bool
    files: dict[str, str | None]


class WideningFile(Record, tag_field="format", tag="ccmatic widening 1"):
    """All maximal envelopes around a controller.

    An envelope multiplies the lower ends of the controller's rates by factors from 0 to 1. An envelope multiplies the
    upper ends by factors from 1 to `most`.

    Attributes:
        envelopes: The envelope in each file, as a list with the index of the factor for each end.
        breaking: Files of traces. Together, these traces break all other envelopes.
    """

    made_by: str
    query: QueryRecord
    controller: str
    source: str
    step: Fraction
    most: Fraction
    envelopes: dict[str, list[int]]
    breaking: list[str]


class AnswerRecord(Record):
    """The verdict on a lemma.

    Attributes:
        seconds: The time in seconds that the verdict took.
        trace: The name of a file in the folder of traces. Its trace is a window that breaks the lemma.
        empty: Whether the lemma holds only because no window satisfies its premise.
    """

    lemma: str
    verdict: Verdict
    seconds: float
    trace: str | Absent = ABSENT
    empty: bool | Absent = ABSENT


class ConstantRecord(Record):
    """A constant of a proof.

    Attributes:
        edge: The answer that shows that the next better value fails; null if the range ends at this value, or if the
            author chose the value.
        front: Pairs: a value of the preceding constant, and this constant's best value for that value.
    """

    value: Fraction
    edge: AnswerRecord | None
    front: list[tuple[Fraction, Fraction | None]]


class ControllerRecord(Record):
    """A controller, given by its source, and by a label whose characters all print."""

    name: str
    source: str

    def __post_init__(self) -> None:
        if not self.name.isprintable():  # a label of several lines could imitate the output of `check`
            raise ValueError("the controller's name has characters that do not print")


class ProofFile(Record, tag_field="format", tag="ccmatic proof 1"):
    """The results of `prove`.

    Attributes:
        definition: The SHA-256 of the file that defines the proof.
        horizon: The number of points T of a window, which spans T - 1 steps.
    """

    made_by: str
    proof: str
    definition: str
    controller: ControllerRecord
    horizon: Steps
    constants: dict[str, ConstantRecord]
    lemmas: list[AnswerRecord]


class RoundAnswerRecord(Record):
    """The verdict on a lemma about a round.

    Attributes:
        numbers: The numbers of a round that breaks the lemma, by name.
    """

    lemma: str
    verdict: Verdict
    seconds: float
    numbers: dict[str, Fraction] | Absent = ABSENT


class RoundConstantRecord(Record):
    """A constant of a proof about rounds.

    Attributes:
        edge: The answer that shows that the next better value fails; null at the end of the range, or if the author
            chose the value.
    """

    value: Fraction
    edge: RoundAnswerRecord | None


class RoundsFile(Record, tag_field="format", tag="ccmatic rounds 1"):
    """The results of `prove` for a proof about rounds.

    Attributes:
        definition: The SHA-256 of the file that defines the proof.
    """

    made_by: str
    proof: str
    definition: str
    constants: dict[str, RoundConstantRecord]
    lemmas: list[RoundAnswerRecord]


class CertificateFile(Record, tag_field="format", tag="ccmatic certificate 1"):
    """A certificate that formulas have no common solution. Old certificates have no field `format`.

    Attributes:
        question: The SHA-256 of the formulas' clauses.
        lemmas: Lists of pairs. A pair is a literal and its multiplier.
        steps: Lists of literals, one for each step of the refutation.
    """

    question: str
    lemmas: list[list[tuple[int, int]]]
    steps: list[list[int]]


class LiteralRecord(Record):
    """An inequality between unknowns of a state and a number, or a condition of a state.

    Attributes:
        terms: The coefficients of the unknowns, by name.
        relation: The relation of the sum to `bound`. For a condition: whether it holds; it is the single term.
    """

    terms: dict[str, Fraction]
    relation: Literal["<=", "<", "holds", "fails"]
    bound: Fraction | None = None


class ClaimRecord(Record):
    """A claim about all steps of an execution, such as `utilisation >= 3/4 within 8` (docs/reference/invariants.md)."""

    subject: str
    relation: Literal["<=", ">="]
    amount: Fraction
    within: Fraction | None = None


class InvariantFile(Record, tag_field="format", tag="ccmatic invariant 1", kw_only=True):
    """An inductive invariant that proves a claim about a controller.

    Attributes:
        query: The network, and the start of the executions.
        clauses: The invariant: in each list at least one literal is true.
        without: The names of laws that the proof does not need.
        certificates: The certificates of the three implications: it starts inside, each clause stays, it proves the
            claim.
    """

    made_by: str
    controller: ControllerRecord
    query: QueryRecord
    claim: ClaimRecord
    clauses: list[list[LiteralRecord]]
    certificates: list[CertificateFile]
    without: tuple[str, ...] = ()


class FirstStepsFile(Record, tag_field="format", tag="ccmatic first-steps 1", kw_only=True):
    """A proof about the first steps of all executions, such as `converged within 8 rtt`.

    Attributes:
        query: The network, the start of the executions, their number of steps, and the expectation.
        certificates: A certificate for each way to break the expectation.
    """

    made_by: str
    controller: ControllerRecord
    query: QueryRecord
    certificates: list[CertificateFile]


class EnclosedFile(Record, tag_field="format", tag="ccmatic proof-of-network 1", kw_only=True):
    """A proof about a network by an envelope that contains the network.

    Attributes:
        network: The network, as a controller of the language.
        invariant: An invariant that proves the claim about the envelope.
    """

    network: ControllerRecord
    invariant: InvariantFile
