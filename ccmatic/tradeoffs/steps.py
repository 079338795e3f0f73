"""The step-by-step check of a proof, and its report: the verdict on each step, and the effect of each hypothesis."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from re import fullmatch

from ccmatic.answers.verification import HOLDS, VIOLATED
from ccmatic.records import BrokenRecord, StepLine
from ccmatic.tradeoffs.statements import Finding, Step

#: The pattern of names such as name_0, name_1, … that form a column. The report shows a column as one row.
COLUMN = r"(\w+?)_(\d+)"


@dataclass(frozen=True)
class StepResult:
    """A checked step.

    Attributes:
        step: The Step.
        finding: The Finding on the step.
        broken: A tuple for each hypothesis: its name, a description of its violation, and the Finding without the
            hypothesis.
    """

    step: Step
    finding: Finding
    broken: tuple

    @property
    def good(self):
        """Whether the step holds, and fails if any one of its hypotheses is violated."""
        return self.finding.verdict == HOLDS and all(finding.verdict == VIOLATED for *_, finding in self.broken)

    @property
    def seconds(self):
        """The total time of all checks of the step, in seconds."""
        return self.finding.seconds + sum(finding.seconds for *_, finding in self.broken)


def check(proof, timeout=None) -> Iterator[StepResult]:
    """Yield each Step of a proof as a StepResult, as soon as it is decided.

    Args:
        proof: The Steps.
        timeout: The time limit per solver query, in seconds.
    """
    for step in proof:
        finding = step.check(timeout)
        broken = ((name, says, step.without(name, timeout)) for name, says in step.hypotheses_broken())
        yield StepResult(step, finding, tuple(broken))


def row(checked):
    """Return the StepLine of a StepResult."""
    step, finding = checked.step, checked.finding
    return StepLine(
        step=step.name,
        says=step.says,
        equation=step.equation,
        theorem=step.theorem,
        covers=step.covers,
        verdict=finding.verdict,
        seconds=round(finding.seconds, 3),
        witness=_exact(finding.witness),
        broken=[
            BrokenRecord(name, says, finding.verdict, round(finding.seconds, 3), _exact(finding.witness))
            for name, says, finding in checked.broken
        ],
        good=checked.good,
    )


def line(checked):
    """Return a line of text that describes a StepResult."""
    step, finding = checked.step, checked.finding
    kept = [name for name, _, finding in checked.broken if finding.verdict != VIOLATED]
    needs = f"not shown to need: {', '.join(kept)}" if kept else f"needs each of its {len(checked.broken)} hypotheses"
    return f"{finding.verdict:<9} {checked.seconds:6.1f} s  {step.name}: {step.says}; {needs}"


def markdown(checks):
    """Return the report on checked steps as Markdown."""
    return "\n".join(_report(list(checks))) + "\n"


def _report(checks):
    yield "| step | the paper | Coq | checked of | verdict | s |"
    yield "|---|---|---|---|---|---|"
    for checked in checks:
        step = checked.step
        theorem = f"`{step.theorem}`" if step.theorem else ""
        yield (
            f"| {step.name} | {step.equation} | {theorem} | {step.covers} | {checked.finding.verdict} "
            f"| {checked.seconds:.1f} |"
        )
    for checked in checks:
        yield f"\n### {checked.step.name}\n"
        yield f"{checked.step.says}."
        if checked.finding.witness:
            yield f"\nViolated: {_listed(checked.finding.witness)}"
        yield "\n| broken | how | verdict | witness |"
        yield "|---|---|---|---|"
        for name, says, broken in checked.broken:
            yield f"| {name} | {says} | {broken.verdict} | {_listed(broken.witness)} |"


def _listed(witness):
    """Return numbers with their names as text; name_0, name_1, … become one row."""
    rows = {}
    for name, value in (witness or {}).items():
        column = fullmatch(COLUMN, name)
        rows.setdefault(column[1] if column else name, {})[int(column[2]) if column else 0] = str(Fraction(value))
    return "; ".join(f"{name} = {', '.join(cells[t] for t in sorted(cells))}" for name, cells in rows.items())


def _exact(witness):
    return witness and {name: Fraction(value) for name, value in witness.items()}
