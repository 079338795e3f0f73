"""Judge code that ships: run it on lawful scenarios, search for those that break rules, and compare subjects."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from ccmatic import judging
from ccmatic.base import InputError, shown, writable_folder, write_text
from ccmatic.judging import Difference, Search, Source, Verdict, Witness
from ccmatic.records import ExaminedLine, JudgedLine, ScenarioFile, SearchedLine, WitnessFile, WitnessLine

#: The path of a scenario without `--on`, and the share of its budget that a search uses before it shrinks scenarios.
PATH, SEARCHES = "12 mbit, rtt 40 ms, buffer 1 bdp", 0.6


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
    run: Any
    verdicts: tuple[Verdict, ...]

    @property
    def lines(self) -> list[JudgedLine]:
        """The verdicts as records for JSON lines."""
        return [judging.judged_line(self.subject, self.version, verdict) for verdict in self.verdicts]


def make_scenario(
    on: str | None = None,
    events: Sequence[str] = (),
    *,
    scenario: str | Path | ScenarioFile | None = None,
    seconds: float = 20,
    beside: Sequence[str] = (),
    flows: int = 1,
    seed: int = 0,
    allow_code: bool = False,
) -> ScenarioFile:
    """Make a lawful scenario from words.

    Args:
        on: A path, such as `24 mbit, rtt 40 ms, buffer 1 bdp, jitter 10 ms`. The default is 12 Mbit/s, 40 ms and 1 BDP.
        events: Events, such as `idle 1 s at 5 s`, `rtt x4 at 10 s` or `hold 30 ms at 2 s`.
        scenario: A scenario, or the file of a scenario, instead of the words.
        seconds: The length of the run.
        beside: The controllers of further flows.
        flows: The number of flows of the subject.
        seed: The seed of the run.
        allow_code: Whether the file of a scenario may name controllers that are not part of ccmatic.

    Raises:
        InputError: If a word cannot be read, or the scenario breaks a law.
    """
    if scenario is not None:
        if on or events or beside:
            raise InputError("a scenario says what --on, --event and --beside would; expected one or the other")
        return judging.lawful(scenario) if isinstance(scenario, ScenarioFile) else _read(scenario, allow_code)
    return judging.lawful(judging.scenario_of(PATH if on is None else on, events, seconds, beside, seed, flows))


def _read(file: str | Path, allow_code: bool) -> ScenarioFile:
    scenario = judging.load_scenario(file)
    judging.require_shipped(judging.beside(scenario), str(file), allow_code)
    return scenario


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
    chosen = judging.every_rule(rules, expect)
    runner, controller, found = judging.opened(_source(subject, version, source))
    run, verdicts = judging.judge(runner, controller, scenario, chosen)
    return Judged(subject, found, run, tuple(verdicts))


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
    witness = judging.load_witness(file, allow_code).record
    code = _other(witness, version, source)
    runner, controller, found = judging.opened(code)
    run, verdicts = judging.judge(runner, controller, witness.scenario, [judging.rule_of(witness)])
    return Judged(witness.subject, found, run, tuple(verdicts))


def replay_witness(file: str | Path, *, allow_code: bool = False) -> WitnessLine:
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
    witness = judging.load_witness(file, allow_code).record
    judged = rerun_witness(file, allow_code=allow_code)
    [line] = judged.lines
    faults = [*judged.run.faults()]
    stated = witness.value, witness.margin, witness.threshold
    differs = [
        f"the file states {shown(says)}; the run has {shown(has)}"
        for says, has in zip(stated, (line.value, line.margin, line.threshold), strict=True)
        if says != has
    ]
    return WitnessLine(
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


def is_witness(file: str | Path) -> bool:
    """Return whether a file is a witness of `judge`."""
    return judging.is_witness(file)


def judge_search(
    subject: str,
    out: str | Path | None = None,
    *,
    rules: Sequence[str] = (),
    expect: Sequence[str] = (),
    budget: float = 240,
    runs: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    file: str | Path | None = None,
    seed_from: Sequence[str | Path] = (),
    version: str | None = None,
    source: str | Path | None = None,
    told: Callable[[Search], None] = lambda search: None,
) -> Iterator[tuple[SearchedLine, Witness | None]]:
    """Search for lawful scenarios on which code breaks rules, and shrink these scenarios.

    Args:
        subject: As in `judge`.
        out: The folder for the witnesses. By default, SUBJECT-judged.
        rules: As in `judge`.
        expect: As in `judge`.
        budget: The seconds that the search and the shrinking take.
        runs: The largest number of runs.
        seed: The seed of the search.
        jobs: The number of processes.
        file: The file that keeps the runs, from which the same call resumes.
        seed_from: Traces of models. The first scenarios have the jitter of these traces.
        version: As in `judge`.
        source: As in `judge`.
        told: A function that receives the Search after each run.

    Yields:
        The result of each rule, and its Witness if the rule is broken.

    Raises:
        InputError: If the subject cannot be built or run, or the file belongs to another search.
    """
    folder = writable_folder(Path(out or f"{judging.file_name(subject)}-judged"))
    seeds = [scenario for trace in seed_from for scenario in judging.of_trace(trace)]
    search = Search(_source(subject, version, source), rules, expect, seed, Path(file) if file else None, seeds)
    begin = monotonic()
    search.run(budget * SEARCHES, jobs, runs, told)
    broken = sum(line.is_broken for line in search.lines.values())
    left = max(5, budget - (monotonic() - begin))
    yield from judging.of_search(search, folder, jobs, left * jobs / max(1, broken + jobs - 1))


def judge_table(
    subjects: Sequence[str],
    out: str | Path = "ccmatic-judged",
    *,
    rules: Sequence[str] = (),
    expect: Sequence[str] = (),
    budget: float = 240,
    seed: int = 0,
    jobs: int = 1,
) -> Iterator[list[SearchedLine]]:
    """Search for the worst scenario of each rule, for several subjects.

    After each subject, the function writes the table of all worst values to the file table.md in the folder `out`.

    Args:
        subjects: Names of subjects, each as in `judge`.
        out: The folder for the table, the runs and the witnesses, from which the same call resumes.
        rules: As in `judge`.
        expect: As in `judge`.
        budget: The seconds that the search of each subject takes.
        seed: The seed of the searches.
        jobs: The number of processes.

    Yields:
        The results of each subject, one for each rule.

    Raises:
        InputError: If a subject cannot be built or run, or the folder belongs to other searches.
    """
    results: dict[str, list[SearchedLine]] = {}
    about: dict[str, Any] = {"rules": rules, "expect": expect, "budget": budget, "seed": seed, "jobs": jobs}
    for subject in subjects:
        folder = Path(out) / judging.file_name(subject)
        results[subject] = [line for line, _ in judge_search(subject, folder, file=folder / "runs.jsonl", **about)]
        write_text(Path(out) / "table.md", judging.worst_table(results))
        yield results[subject]


def judge_known(subject: str, judged: Sequence[str | Path] = ()) -> list[ExaminedLine]:
    """Collect what is known about a subject, in the order of RFC 9743.

    Args:
        subject: The name of the subject, such as `quinn:cubic` or `cc_qdel`.
        judged: Files with lines of `judge table --json`, besides the shipped results.

    Raises:
        InputError: If there is no such subject, or a file has other lines.
    """
    return [*judging.collect(subject, judged)]


def judge_report(file: str | Path, out: str | Path, *, allow_code: bool = False) -> list[Path]:
    """Run a witness again, and write the report of its finding.

    Args:
        file: The witness.
        out: The folder for the page, the drawing, the qlog and the unit tests.
        allow_code: As in `rerun_witness`.

    Returns:
        The written files.

    Raises:
        InputError: If the file is no witness, or its subject cannot be built or run.
    """
    return judging.report(judging.load_witness(file, allow_code), out)


def new_adaptor(name: str, language: str) -> list[Path]:
    """Write the sources of a small controller to a new folder, as a start for code to judge.

    Args:
        name: The folder. Its last part names the controller.
        language: `rust`, `go`, `c` or `python`.

    Returns:
        The written files.

    Raises:
        InputError: If the folder exists or cannot be written, or its name is invalid.
    """
    if Path(name).name and Path(name).exists():
        raise InputError(f"{name} exists; expected a new name")
    return judging.new_adaptor(name, language)


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
    witness = judging.load_witness(file, allow_code)
    code = _other(witness.record, version, source)
    made = Witness(witness.file, judging.shrunk(witness.record, code, seconds))
    judging.save_witness(made)
    return made


def judge_difference(
    one: str,
    other: str,
    on: str | None = None,
    events: Sequence[str] = (),
    *,
    tolerance: float = 0.1,
    versions: tuple[str | None, str | None] = (None, None),
    **words: Any,
) -> Difference:
    """Find the instant at which the windows of two subjects begin to differ on one scenario.

    Args:
        one: A subject, as in `judge`.
        other: Another subject, such as the model of the same algorithm.
        on: As in `make_scenario`.
        events: As in `make_scenario`.
        tolerance: The largest difference that is tolerated, as a share of the larger window.
        versions: The version of each subject's stack.
        words: Further arguments of `make_scenario`.

    Raises:
        InputError: If a subject cannot be built or run, fails, or has no window.
    """
    scenario = make_scenario(on, events, **words)
    recordings = []
    for name, version in zip((one, other), versions, strict=True):
        runner, _, _ = judging.opened(Source(name, version))
        recordings.append(runner.run(scenario))
    return judging.difference(recordings[0], recordings[1], tolerance)


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
    witness = judging.load_witness(file).record
    known = versions or judging.released(witness.subject)

    def breaks(version: str) -> bool:
        verdict = judging.rerun(witness, Source(witness.subject, version))
        told(version, verdict)
        return verdict.verdict == "broken"

    return judging.first_other(judging.between(known, first, last), breaks)


def _other(witness: WitnessFile, version: str | None, source: str | Path | None) -> Source:
    """Return the code of a witness, or another version of this code."""
    if version or source:
        return _source(witness.subject, version, source)
    return judging.source_of(witness)


def _source(subject: str, version: str | None, source: str | Path | None) -> Source:
    return Source(subject, version, Path(source) if source else None)
