"""Judge one scenario: run the scenario, and measure every rule that applies to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from ccmatic import records
from ccmatic.judging.rules import Evidence, Measured, Rule, Run
from ccmatic.judging.scenario import Scenario


class Runner(Protocol):
    """Anything that runs scenarios, such as a running.Session."""

    def run(self, scenario: Scenario) -> Run:
        """Run a scenario and return its recording."""


@dataclass(frozen=True)
class Verdict:
    """The verdict of a rule on a run."""

    rule: Rule
    measured: Measured | None  #: The measurement; None if the rule is not applicable.
    #: The reason why the rule is not applicable, or the failure of the code that broke it; otherwise empty.
    reason: str = ""

    @property
    def verdict(self) -> str:
        """The verdict as a word of JudgedLine."""
        if self.measured is None:
            return "not applicable"
        return "broken" if self.measured.margin < 0 else "kept"


#: The reason why a rule that applies may still have no value.
NOTHING = "the run shows nothing that the rule measures, such as a window"


def judge(
    runner: Runner, controller: str, scenario: Scenario, rules: Sequence[Rule], again: bool = True
) -> tuple[Run, list[Verdict]]:
    """Run a scenario once, and run it again if rules compare runs."""
    reasons = {rule.name: rule.asked(scenario, controller) for rule in rules}
    asked = [rule for rule in rules if reasons[rule.name] is None]
    needs = {need for rule in asked for need in rule.needs}
    run = runner.run(scenario)
    evidence = Evidence(
        run,
        controller,
        undisturbed=runner.run(undisturbed(scenario)) if "undisturbed" in needs else None,
        again=runner.run(scenario) if "again" in needs and again else None,
    )
    return run, [_verdict(rule, evidence, reasons[rule.name]) for rule in rules]


def undisturbed(scenario: Scenario) -> Scenario:
    """Return a scenario without its events."""
    return replace(scenario, events=())


def _verdict(rule: Rule, evidence: Evidence, reason: str | None) -> Verdict:
    if reason is not None:
        return Verdict(rule, None, reason)
    if evidence.run.failure is not None and rule.name != "alive":
        return Verdict(rule, None, f"the code failed: {evidence.run.failure}")
    measured = rule.measure(evidence)
    return Verdict(rule, measured, evidence.run.failure or "" if measured else NOTHING)


def judged_line(subject: str, version: str, verdict: Verdict) -> records.JudgedLine:
    measured = verdict.measured
    return records.JudgedLine(
        subject=subject,
        version=version,
        rule=verdict.rule.name,
        verdict=verdict.verdict,  # type: ignore[arg-type]
        threshold=verdict.rule.threshold,
        value=measured.value if measured else None,
        unit=verdict.rule.unit,
        margin=measured.margin if measured else None,
        at=measured.at / 10**9 if measured and measured.at is not None else None,
        reason=verdict.reason or records.ABSENT,
    )


def measured_words(line: records.JudgedLine | records.SearchedLine) -> str:
    """Return the value of a line in words, and the share of the threshold by which a broken rule is broken."""
    assert line.value is not None
    beyond = -100 * (line.margin or 0)  # 100 where the value has no distance to the threshold, as at a failure
    by = f", broken by {beyond:.0f} %" if beyond >= 1 else ", broken by less than 1 %"
    return f"{line.value:.4g} {line.unit}".rstrip() + (by if 0 < beyond != 100 else "")
