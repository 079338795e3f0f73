"""The shapes of the lines of `tradeoff --json` (docs/formats.md). Numbers are exact: of packets, of R_m and of packets
per R_m."""

from fractions import Fraction
from typing import Literal

from msgspec import field

from ccmatic.records.codec import ABSENT, Absent, Record
from ccmatic.records.files import Verdict


class PathLine(Record):
    """What is asked about: from the rate C_0 to C; buffer_time: β_s."""

    C_0: Fraction
    C: Fraction
    buffer_time: Fraction


class RoundTripsLine(Record):
    """Figure 7: for each allowance or controller the round trips up to each rate, null if it never gets there."""

    figure: Literal[7]
    round_trips: dict[str, dict[str, int | None]]


class AllowanceLine(Record, kw_only=True):
    """An allowance f: F in closed form, how F⁻¹ grows, F⁻¹(C) in round trips and in R_m, null where there is none, and
    what the solver says of it."""

    allowance: str
    F: str | None
    grows: str | None = field(name="class")
    round_trips: int | None
    time_rm: Fraction | None
    solver: str


class RuleLine(Record):
    """A real controller, by what it adds to its rate and how often. risk: f(C) of a sender that is as fast for sure."""

    controller: str
    increase: str
    every: int
    source: str
    round_trips: int | None
    risk: float


class FamilyLine(Record):
    """cc_probe_slow_k with one allowance and one T* (`probe`), as `tradeoff.family.Point`; null, and nothing more, if
    it is left out."""

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
    """Figure 8: a corner of the belief set, and the most that a probe over T* and one over half of it lose there."""

    figure: Literal[8]
    path: str
    C: int
    buffer: int
    lost_by_probe: int = field(name="lost_by_probe_over_1")
    lost_by_short_probe: int = field(name="lost_by_probe_over_0.5")


class PhaseLine(Record, kw_only=True):
    """Table 3: a phase of the cycle on a path. paper: its entries that are others."""

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
    """Table 3: whether a sender sees the same on all paths, for C_Llambda and T* (`T`)."""

    table: Literal[3]
    same: bool
    C_Llambda: Fraction
    T: Fraction


class TableFileLine(Record):
    """Table 3 was written."""

    table: Literal[3]
    file: str


class CounterexampleLine(Record):
    """Section 6.2's controller; of a violation what was lost and sent, in C·R_m, and the trace's file."""

    counterexample: str
    verdict: Verdict
    lost: Fraction | Absent = ABSENT
    sent: Fraction | Absent = ABSENT
    file: str | Absent = ABSENT


class BrokenRecord(Record):
    """A step of the proof without one of its hypotheses: how that is broken, in words, and what then comes of it."""

    hypothesis: str
    says: str
    verdict: str
    seconds: float
    witness: dict[str, Fraction] | None


class StepLine(Record):
    """A step of the proof. good: it holds, and without any one of its hypotheses it does not."""

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
    """A file that was written."""

    file: str
    what: str
