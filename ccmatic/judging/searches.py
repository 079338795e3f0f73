"""The results of searches: a witness for each broken rule, tables of the worst values, and JUnit XML."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any
from xml.etree import ElementTree

from ccmatic import records
from ccmatic.base import writable_folder, write_text
from ccmatic.base.workers import Team
from ccmatic.judging.rules import Rule
from ccmatic.judging.scenario import Scenario
from ccmatic.judging.search import Search
from ccmatic.judging.space import of_trace
from ccmatic.judging.subjects import run_command
from ccmatic.judging.verdicts import Source, measured_words
from ccmatic.judging.witnesses import Witness, save, shrunk
from ccmatic.records import SearchedLine

#: The share of its budget that a search uses before it shrinks scenarios.
SEARCHING = 0.6


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
    folder = writable_folder(Path(out or f"{file_name(subject)}-judged"))
    seeds = [scenario for trace in seed_from for scenario in of_trace(trace)]
    search = Search(Source(subject, version, source), rules, expect, seed, Path(file) if file else None, seeds)
    begin = monotonic()
    search.run(budget * SEARCHING, jobs, runs, told)
    broken = sum(line.is_broken for line in search.lines.values())
    left = max(5, budget - (monotonic() - begin))
    yield from _witnesses(search, folder, jobs, left * jobs / max(1, broken + jobs - 1))


def _witnesses(
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
        folder = Path(out) / file_name(subject)
        results[subject] = [line for line, _ in judge_search(subject, folder, file=folder / "runs.jsonl", **about)]
        write_text(Path(out) / "table.md", _worst_table(results))
        yield results[subject]


def _worst_table(results: Mapping[str, Sequence[records.SearchedLine]]) -> str:
    """Return a Markdown table with a row per rule and a column per subject.

    A cell has the worst value. A star marks a value that breaks the rule, a dagger a broken rule whose value is left
    out, and a dash a rule that applies to no run.
    """
    rules = list(dict.fromkeys(line.rule for lines in results.values() for line in lines))
    cells = {(line.subject, line.rule): _cell(line) for lines in results.values() for line in lines}
    rows = [
        "| rule | " + " | ".join(results) + " |",
        "|---|" + "---|" * len(results),
        *(f"| {rule} | " + " | ".join(cells.get((name, rule), "") for name in results) + " |" for rule in rules),
    ]
    return "\n".join(rows) + "\n"


def _cell(line: records.SearchedLine) -> str:
    if line.value is None:
        return "†" if line.verdict == "broken" else "–"
    return f"**{line.value:.3g}** *" if line.verdict == "broken" else f"{line.value:.3g}"


def junit_xml(subject: str, lines: Sequence[records.SearchedLine], seconds: float) -> str:
    """Return JUnit XML with a test case per rule.

    The test of a broken rule fails. The test of a rule that applies to no run is skipped.
    """
    counts = {verdict: sum(line.verdict == verdict for line in lines) for verdict in ("broken", "not asked")}
    suite = ElementTree.Element(
        "testsuite",
        name=f"ccmatic judge {subject}",
        tests=str(len(lines)),
        failures=str(counts["broken"]),
        errors="0",
        skipped=str(counts["not asked"]),
        time=f"{seconds:.3f}",
    )
    for line in lines:
        case = ElementTree.SubElement(suite, "testcase", classname=f"judge.{subject}", name=line.rule, time="0")
        if line.verdict == "broken":
            message = f"{measured_words(line)}; expected {line.threshold}"
            failure = ElementTree.SubElement(case, "failure", message=message)
            failure.text = run_command(line.subject, str(line.witness))
        elif line.verdict == "not asked":
            ElementTree.SubElement(case, "skipped", message="no run meets the premises of the rule")
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
