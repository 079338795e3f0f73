"""Witnesses: files with shrunk runs that break rules. A search writes them, and anyone can run them again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from ccmatic import records
from ccmatic.base import InputError, read_text, shown, suggest, write_text
from ccmatic.judging import subjects
from ccmatic.judging.expectations import every_rule
from ccmatic.judging.rules import RULES, Rule
from ccmatic.judging.scenario import Scenario, beside_subject, faults
from ccmatic.judging.shrink import shrink
from ccmatic.judging.verdicts import Judged, Source, Verdict, judge_run, opened


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
    subjects.require_shipped([witness.subject, *beside_subject(witness.scenario)], str(path), allow_code)
    for fault in faults(witness.scenario):
        raise InputError(fault, str(path))
    rule_of(witness)
    return Witness(Path(path), witness)


def save(witness: Witness) -> None:
    """Write a witness to its file."""
    write_text(witness.file, records.line(witness.record) + "\n")


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


def shrunk(witness: records.WitnessFile, source: Source, seconds: float = 60) -> records.WitnessFile:
    """Return the witness with the simplest scenario that shrinking finds within a time limit."""
    rule = rule_of(witness)
    _, controller, _ = opened(source)

    def verdict(scenario: Scenario) -> Verdict:
        return judge_run(source, scenario, [rule]).verdicts[0]

    def breaks(scenario: Scenario) -> bool:
        return verdict(scenario).verdict == "broken"

    if not breaks(witness.scenario):
        raise InputError(f"the run keeps the rule '{rule.name}'; expected a scenario that breaks it")
    scenario = shrink(witness.scenario, rule, controller, breaks, seconds)
    measured = verdict(scenario).measured
    assert measured is not None
    return replace(witness, scenario=scenario, value=measured.value, margin=measured.margin)


def _source(witness: records.WitnessFile, version: str | None, source: str | Path | None) -> Source:
    """Return the code of a witness, or another version of this code."""
    return Source(witness.subject, version, source) if version or source else source_of(witness)


def is_witness(file: str | Path) -> bool:
    """Return whether a file is a witness of `judge`. The name of a subject is none."""
    return str(file).endswith(".json") and Path(file).is_file() and '"ccmatic witness' in read_text(file)


def rerun_witness(
    file: str | Path, version: str | None = None, source: str | Path | None = None, *, allow_code: bool = False
) -> Judged:
    """Run the scenario of a witness again, and judge the run by the witness's rule.

    Args:
        file: The witness.
        version: Another version of the stack. By default, the version of the witness.
        source: A folder with the stack's sources, in place of a version.
        allow_code: Whether the witness may be about code that is not part of ccmatic, such as a file or a folder.

    Raises:
        InputError: If the file is no witness, or the subject cannot be built or run.
    """
    witness = load(file, allow_code).record
    return judge_run(_source(witness, version, source), witness.scenario, [rule_of(witness)])


def replay_witness(file: str | Path, *, allow_code: bool = False) -> records.WitnessLine:
    """Run a witness again, and check the run by the laws of the network, from its log alone.

    Args:
        file: The witness.
        allow_code: As in `rerun_witness`.

    Returns:
        The line of `replay`. It passes if the run obeys every law, and the file states the value, the margin and the
        threshold of the run.

    Raises:
        InputError: If the file is no witness, or the subject cannot be built or run.
    """
    witness = load(file, allow_code).record
    judged = rerun_witness(file, allow_code=allow_code)
    [line] = judged.lines
    faults = [*judged.run.faults()]
    stated = witness.value, witness.margin, witness.threshold
    differs = [
        f"the file states {shown(says)}; the run has {shown(has)}"
        for says, has in zip(stated, (line.value, line.margin, line.threshold), strict=True)
        if says != has
    ]
    return records.WitnessLine(
        witness=str(file),
        subject=witness.subject,
        version=judged.version,
        rule=witness.rule,
        passes=not faults and not differs and line.verdict == "broken",
        faults=faults,
        differs=differs,
        value=witness.value,
        measured=line.value,
    )


def shrink_witness(
    file: str | Path,
    seconds: float = 60,
    version: str | None = None,
    source: str | Path | None = None,
    *,
    allow_code: bool = False,
) -> Witness:
    """Shrink the scenario of a witness further.

    Args:
        file: The witness. The shrunk witness replaces this file.
        seconds: The time that shrinking may take.
        version: As in `judge`.
        source: As in `judge`.
        allow_code: As in `rerun_witness`.

    Raises:
        InputError: If the file is no witness, or the code keeps the rule on its scenario.
    """
    witness = load(file, allow_code)
    code = _source(witness.record, version, source)
    made = Witness(witness.file, shrunk(witness.record, code, seconds))
    save(made)
    return made


def judge_versions(
    file: str | Path,
    first: str,
    last: str,
    versions: Sequence[str] = (),
    told: Callable[[str, Verdict], None] = lambda version, verdict: None,
) -> tuple[str, str]:
    """Find two neighbouring versions of a stack with different verdicts on a witness.

    Args:
        file: The witness.
        first: The first version.
        last: The last version.
        versions: All versions in order. By default, these are the released versions in the stack's registry.
        told: A function that receives each version and its verdict.

    Returns:
        The last version with the verdict of `first`, and the next one.

    Raises:
        InputError: If a version is unknown or cannot be built, or if both ends have the same verdict.
    """
    witness = load(file).record
    known = versions or _released(witness.subject)

    def breaks(version: str) -> bool:
        [verdict] = judge_run(Source(witness.subject, version), witness.scenario, [rule_of(witness)]).verdicts
        told(version, verdict)
        return verdict.verdict == "broken"

    return first_other(between(known, first, last), breaks)


def _released(subject: str) -> tuple[str, ...]:
    """Return the released versions of a subject's stack, oldest first."""
    adaptor = subjects.subject(subject).adaptor
    versions = getattr(adaptor, "versions", None)
    if versions is None:
        raise InputError(f"{adaptor.stack} has no released versions; expected them as --version, oldest first")
    found: tuple[str, ...] = versions()
    return found


def between(versions: Sequence[str], first: str, last: str) -> list[str]:
    for version in (first, last):
        if version not in versions:
            raise InputError(f"there is no version '{shown(version)}'; {suggest(version, versions)}")
    begin, end = versions.index(first), versions.index(last)
    if begin >= end:
        raise InputError(f"version {first} is not before {last}; expected --from an older version")
    return [*versions[begin : end + 1]]


def first_other(versions: Sequence[str], breaks: Callable[[str], bool]) -> tuple[str, str]:
    """Return two neighbouring versions with different verdicts: the last with the old one, the first with the new one.

    If the verdict changes several times, the result may be any of these changes.
    """
    low, high = 0, len(versions) - 1
    before = breaks(versions[low])
    if breaks(versions[high]) == before:
        verdict = "break" if before else "keep"
        raise InputError(f"{versions[low]} and {versions[high]} both {verdict} the rule; expected different verdicts")
    while high - low > 1:
        middle = (low + high) // 2
        if breaks(versions[middle]) == before:
            low = middle
        else:
            high = middle
    return versions[low], versions[high]
