"""The forms of the lines of `tradeoff --json` (docs/reference/formats.md).

Numbers are exact. Their units are packets, R_m, and packets per R_m.
"""

from fractions import Fraction
from typing import Literal

from msgspec import field

from ccmatic.records.codec import ABSENT, Absent, Record
from ccmatic.records.files import Verdict


class PathLine(Record):
    """The path of a trade-off.

    Attributes:
        C_0: The initial sending rate.
        C: The rate of the link.
        buffer_time: The buffer β_s as a time.
    """

    C_0: Fraction
    C: Fraction
    buffer_time: Fraction


class RoundTripsLine(Record):
    """Figure 7: how many round trips each allowance or controller needs to reach each rate; null if it never does."""

    figure: Literal[7]
    round_trips: dict[str, dict[str, int | None]]


class AllowanceLine(Record, kw_only=True):
    """An allowance f, with its properties.

    Attributes:
        allowance: f, as an expression in C.
        F: The function F in closed form.
        grows: The growth of F⁻¹. In JSON, the key of this field is `class`.
        round_trips: The value F⁻¹(C) in round trips. The value is null if the value does not exist.
        time_rm: The value F⁻¹(C) in R_m. The value is null if the value does not exist.
    """

    allowance: str
    F: str | None
    grows: str | None = field(name="class")
    round_trips: int | None
    time_rm: Fraction | None
    solver: str


class RuleLine(Record):
    """A deployed controller, described by how it increases its rate.

    Attributes:
        every: The interval between two increases.
        risk: The risk f(C) of a sender that is guaranteed to be as fast.
    """

    controller: str
    increase: str
    every: int
    source: str
    round_trips: int | None
    risk: float


class FamilyLine(Record):
    """The controller cc_probe_slow_k with one allowance and one T*.

    If the command leaves out the family, `family` is null and the other fields are absent.

    Attributes:
        allowance: The name of the allowance f.
        probe: The probe duration T*.
        cycles: The number of cycles until the sender's first loss.
        convergence: The time until the sender's first loss.
        loss: The largest loss of a probe, on the actual link or on the link P2. Among the links that agree with the
            sender's beliefs, P2 is the one with the lowest utilisation.
        utilisation: The utilisation of the link in the steady state.
        utilisation_P2: The utilisation of P2 in the steady state.
        allowed: The allowed loss f(C).
        round_trips: The number of round trips F⁻¹(C).
        bound: The time F⁻¹(C)·(R_m + β_s). No sender that risks at most f reaches C before this time.
    """

    family: Literal["cc_probe_slow"] | None
    allowance: str | Absent = ABSENT
    probe: Fraction | Absent = ABSENT
    cycles: int | Absent = ABSENT
    convergence: Fraction | Absent = ABSENT
    loss: Fraction | Absent = ABSENT
    utilisation: Fraction | Absent = ABSENT
    utilisation_P2: Fraction | Absent = ABSENT
    allowed: Fraction | Absent = ABSENT
    round_trips: int | Absent = ABSENT
    bound: Fraction | Absent = ABSENT


class BeliefSetLine(Record):
    """Figure 8: a corner of the belief set, with the largest losses there of probes over T* and over T*/2."""

    figure: Literal[8]
    path: str
    C: int
    buffer: int
    lost_by_probe: int = field(name="lost_by_probe_over_1")
    lost_by_short_probe: int = field(name="lost_by_probe_over_0.5")


class PhaseLine(Record, kw_only=True):
    """Table 3: a phase of the cycle on one of the paths.

    Attributes:
        paper: The entries in the paper's table that differ from ours.
    """

    table: Literal[3]
    path: str
    phase: str
    duration: Fraction
    sent: Fraction | Absent = ABSENT
    q_U: Fraction | Absent = ABSENT
    serviced: Fraction | Absent = ABSENT
    queue: Fraction | Absent = ABSENT
    loss: Fraction | Absent = ABSENT
    utilisation: Fraction | Absent = ABSENT
    paper: dict[str, Fraction]


class CycleLine(Record):
    """Table 3: whether a sender observes the same on all paths, for C_Llambda and T* (`T`)."""

    table: Literal[3]
    same: bool
    C_Llambda: Fraction
    T: Fraction


class TableFileLine(Record):
    """The file that contains table 3."""

    table: Literal[3]
    file: str


class CounterexampleLine(Record):
    """The verdict on the controller of section 6.2.

    Attributes:
        lost: The lost bytes in the violation, in C·R_m.
        sent: The bytes sent in the violation, in C·R_m.
    """

    counterexample: str
    verdict: Verdict
    lost: Fraction | Absent = ABSENT
    sent: Fraction | Absent = ABSENT
    file: str | Absent = ABSENT


class BrokenRecord(Record):
    """A step of the proof in which one hypothesis is omitted.

    Attributes:
        verdict: The verdict on the step without this hypothesis.
    """

    hypothesis: str
    says: str
    verdict: str
    seconds: float
    witness: dict[str, Fraction] | None


class StepLine(Record):
    """A step of the proof.

    Attributes:
        good: Whether the step holds with all hypotheses, and fails if any one of them is omitted.
    """

    step: str
    says: str
    equation: str
    theorem: str | None
    covers: str
    verdict: str
    seconds: float
    witness: dict[str, Fraction] | None
    broken: list[BrokenRecord]
    good: bool


class FileLine(Record):
    """A file that the command wrote."""

    file: str
    what: str
