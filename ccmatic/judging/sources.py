"""Code under test in a worker process: each process keeps one program running for all its scenarios."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ccmatic.judging.expectations import every_rule
from ccmatic.judging.running import Session
from ccmatic.judging.scenario import Scenario
from ccmatic.judging.subjects import subject
from ccmatic.judging.verdicts import Runner, judge


@dataclass(frozen=True)
class Source:
    """The code under test, described so that another process can build or find it."""

    name: str  #: The subject's name, such as `quinn:cubic`.
    version: str | None = None  #: A version; None for the default one.
    source: Path | None = None  #: A folder with sources, instead of a version.

    def open(self) -> tuple[Runner, str, str]:
        """Return a runner, the name of the controller, and the version."""
        found = subject(self.name, self.version, self.source)
        return Session(found), found.controller, found.program.version


@dataclass(frozen=True)
class Outcome:
    """The outcome of one scenario."""

    #: The margin, the value and the instant in ns (or None) for each rule that measures the run.
    margins: dict[str, tuple[float, float, int | None]]
    failure: str | None  #: The failure of the code, or None.


_open: dict[Source, tuple[Runner, str, str]] = {}


def opened(source: Source) -> tuple[Runner, str, str]:
    """Return the result of `Source.open`, which is computed once per process."""
    if source not in _open:
        _open[source] = source.open()
    return _open[source]


def outcome(source: Source, scenario: Scenario, rules: Sequence[str], expect: Sequence[str], again: bool) -> Outcome:
    """Run a scenario and return its Outcome. The arguments and the result can be pickled."""
    runner, controller, _ = opened(source)
    run, verdicts = judge(runner, controller, scenario, every_rule(rules, expect), again)
    margins = {
        each.rule.name: (float(each.measured.margin), float(each.measured.value), each.measured.at)
        for each in verdicts
        if each.measured
    }
    return Outcome(margins, run.failure)
