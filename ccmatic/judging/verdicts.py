"""Judge code: run it on a scenario, and measure every rule that applies to the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

from ccmatic import records
from ccmatic.judging.expectations import every_rule
from ccmatic.judging.recording import Recording
from ccmatic.judging.rules import Evidence, Measured, Rule
from ccmatic.judging.running import Session
from ccmatic.judging.scenario import Scenario, make_scenario
from ccmatic.judging.subjects import subject


class Runner(Protocol):
    """Anything that runs scenarios, such as a running.Session."""

    def run(self, scenario: Scenario) -> Recording:
        """Run a scenario and return its recording."""


@dataclass(frozen=True)
class Source:
    """The code under test, described so that another process can build or find it."""

    name: str  #: The subject's name, such as `quinn:cubic`.
    version: str | None = None  #: A version; None for the default one.
    source: str | Path | None = None  #: A folder with sources, instead of a version.

    def open(self) -> tuple[Runner, str, str]:
        """Return a runner, the name of the controller, and the version."""
        found = subject(self.name, self.version, self.source)
        return Session(found), found.controller, found.program.version


_open: dict[Source, tuple[Runner, str, str]] = {}


def opened(source: Source) -> tuple[Runner, str, str]:
    """Return the result of `Source.open`, which is computed once per process."""
    if source not in _open:
        _open[source] = source.open()
    return _open[source]


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


@dataclass(frozen=True)
class Judged:
    """The verdicts on one run.

    Attributes:
        subject: The name of the subject.
        version: The version of the subject.
        run: The recording of the run.
        verdicts: A Verdict for each rule.
    """

    subject: str
    version: str
    run: Recording
    verdicts: tuple[Verdict, ...]

    @property
    def lines(self) -> list[records.JudgedLine]:
        """The verdicts as records for JSON lines."""
        return [judged_line(self.subject, self.version, verdict) for verdict in self.verdicts]


def judge(
    subject: str,
    on: str | None = None,
    events: Sequence[str] = (),
    *,
    expect: Sequence[str] = (),
    rules: Sequence[str] = (),
    version: str | None = None,
    source: str | Path | None = None,
    **words: Any,
) -> Judged:
    """Run code on one scenario, and judge the run by rules.

    Args:
        subject: The code, such as `quinn:cubic`, `cc_qdel` or `./mine.py`.
        on: As in `make_scenario`.
        events: As in `make_scenario`.
        expect: Expectations, such as `utilisation >= 80% over every 10 s`.
        rules: The names of rules. By default, all rules apply, or only the expectations if there are any.
        version: A version of the subject's stack.
        source: A folder with the stack's sources, in place of a version.
        words: Further arguments of `make_scenario`.

    Returns:
        The verdicts.

    Raises:
        InputError: If the subject cannot be built or run, or the scenario breaks a law.

    Examples:
        >>> cm.judge("quinn:cubic", "24 mbit, rtt 40 ms, buffer 1 bdp", ["idle 1 s at 5 s"])
    """
    scenario = make_scenario(on, events, **words)
    return judge_run(Source(subject, version, source), scenario, every_rule(rules, expect))


def judge_run(source: Source, scenario: Scenario, rules: Sequence[Rule], again: bool = True) -> Judged:
    """Run a scenario, and measure every rule that applies. If rules compare runs, run the scenario `again`."""
    runner, controller, version = opened(source)
    reasons = {rule.name: rule.asked(scenario, controller) for rule in rules}
    needs = {need for rule in rules if reasons[rule.name] is None for need in rule.needs}
    run = runner.run(scenario)
    evidence = Evidence(
        run,
        controller,
        undisturbed=runner.run(undisturbed(scenario)) if "undisturbed" in needs else None,
        again=runner.run(scenario) if "again" in needs and again else None,
    )
    return Judged(source.name, version, run, tuple(_verdict(rule, evidence, reasons[rule.name]) for rule in rules))


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


@dataclass(frozen=True)
class Outcome:
    """The outcome of one scenario."""

    #: The margin, the value and the instant in ns (or None) for each rule that measures the run.
    margins: dict[str, tuple[float, float, int | None]]
    failure: str | None  #: The failure of the code, or None.


def outcome(source: Source, scenario: Scenario, rules: Sequence[str], expect: Sequence[str], again: bool) -> Outcome:
    """Run a scenario and return its Outcome. The arguments and the result can be pickled."""
    judged = judge_run(source, scenario, every_rule(rules, expect), again)
    margins = {
        each.rule.name: (float(each.measured.margin), float(each.measured.value), each.measured.at)
        for each in judged.verdicts
        if each.measured
    }
    return Outcome(margins, judged.run.failure)
