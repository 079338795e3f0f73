"""Witnesses: files with shrunk runs that break rules. A search writes them, and anyone can run them again."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from ccmatic import records
from ccmatic.base import InputError, read_text, shown, write_text
from ccmatic.base.workers import Team
from ccmatic.judging import subjects
from ccmatic.judging.expectations import every_rule
from ccmatic.judging.rules import RULES, Rule
from ccmatic.judging.scenario import Scenario, beside, faults
from ccmatic.judging.search import Search
from ccmatic.judging.shrink import shrink
from ccmatic.judging.sources import Source, opened
from ccmatic.judging.verdicts import Verdict, judge


@dataclass(frozen=True)
class Witness:
    """A file that shows how code breaks a rule."""

    file: Path
    record: records.WitnessFile  #: The content of the file.


def rule_of(witness: records.WitnessFile) -> Rule:
    """Return the rule of a witness. A name that is no default rule is an expectation."""
    name = witness.rule
    return every_rule([name])[0] if name in RULES else every_rule([], [name])[0]


def load(path: str | Path, allow_code: bool = False) -> Witness:
    """Read a witness."""
    witness = records.read_record(read_text(path), records.WitnessFile, str(path))
    subjects.require_shipped([witness.subject, *beside(witness.scenario)], str(path), allow_code)
    for fault in faults(witness.scenario):
        raise InputError(fault, str(path))
    rule_of(witness)
    return Witness(Path(path), witness)


def save(witness: Witness) -> None:
    """Write a witness to its file."""
    write_text(witness.file, records.line(witness.record) + "\n")


def is_witness(path: str | Path) -> bool:
    """Return whether a path leads to a JSON file. Such a path is no name of a subject."""
    return str(path).endswith(".json") and Path(path).is_file() and '"ccmatic witness' in read_text(path)


def source_of(witness: records.WitnessFile) -> Source:
    """Return the code of a witness, in the witness's version. Some code has only one version."""
    default, stack = Source(witness.subject), subjects.stacks().get(witness.subject.partition(":")[0])
    if stack is None:
        return default
    if " from " in witness.version:
        raise InputError(f"the witness is about {shown(witness.version, 200)}; expected --source with these sources")
    release = witness.version.rpartition(" ")[2]
    # A stack that lists its versions builds each of them. Any other stack has the version that is installed.
    available = stack.version if hasattr(stack, "versions") else opened(default)[2].rpartition(" ")[2]
    return default if release == available else Source(witness.subject, release)


def rerun(witness: records.WitnessFile, source: Source | None = None) -> Verdict:
    """Run the scenario of a witness again."""
    source = source or source_of(witness)
    runner, controller, _ = opened(source)
    _, [verdict] = judge(runner, controller, witness.scenario, [rule_of(witness)])
    return verdict


def shrunk(witness: records.WitnessFile, source: Source, seconds: float = 60) -> records.WitnessFile:
    """Return the witness with the simplest scenario that shrinking finds within a time limit."""
    rule = rule_of(witness)
    runner, controller, _ = opened(source)

    def verdict(scenario: Scenario) -> Verdict:
        _, [one] = judge(runner, controller, scenario, [rule])
        return one

    def breaks(scenario: Scenario) -> bool:
        return verdict(scenario).verdict == "broken"

    if not breaks(witness.scenario):
        raise InputError(f"the run keeps the rule '{rule.name}'; expected a scenario that breaks it")
    scenario = shrink(witness.scenario, rule, controller, breaks, seconds)
    measured = verdict(scenario).measured
    assert measured is not None
    return replace(witness, scenario=scenario, value=measured.value, margin=measured.margin)


def of_search(
    search: Search, folder: Path, jobs: int = 1, seconds: float = 60
) -> Iterator[tuple[records.SearchedLine, Witness | None]]:
    """Shrink the worst run for each rule that a search found broken, and write its witness."""
    broken = [line for line in search.lines.values() if line.is_broken]
    tasks = [(_witness(search, line.rule, *line.best[0]), search.source, seconds) for line in broken]
    with Team(jobs) as team:
        made = {line.rule.name: witness for line, witness in zip(broken, team.each(shrunk, tasks), strict=True)}
    for name, line in search.lines.items():
        worst = line.best[0] if line.best else None
        witness = made.get(name)
        file = folder / f"{file_name(name)}.json" if witness else None
        if witness and file:
            save(Witness(file, witness))
        yield (
            records.SearchedLine(
                subject=search.source.name,
                version=search.version,
                rule=name,
                verdict="broken" if witness else "kept" if worst else "not asked",
                runs=line.runs,
                threshold=line.rule.threshold,
                value=worst[3] if worst else None,
                unit=line.rule.unit,
                margin=worst[0] if worst else None,
                events=len(witness.scenario.events) if witness else None,
                witness=str(file) if file else None,
            ),
            Witness(file, witness) if witness and file else None,
        )


def _witness(
    search: Search, rule: Rule, margin: float, number: int, scenario: Scenario, value: float, at: int | None
) -> records.WitnessFile:
    return records.WitnessFile(
        subject=search.source.name,
        version=search.version,
        rule=rule.name,
        threshold=rule.threshold,
        value=value,
        margin=margin,
        seed=search.seed,
        scenario=scenario,
    )


def file_name(name: str) -> str:
    """Return a name of a rule or a subject as the name of a file."""
    return "".join(c if c.isalnum() else "-" for c in name).strip("-")
