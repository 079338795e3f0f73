"""The report of a finding: a folder with a page, a drawing, a qlog, the scenario, and a failing unit test."""

import inspect
from pathlib import Path

from ccmatic import records
from ccmatic.base import read_text, writable_folder, write_text
from ccmatic.judging import subjects
from ccmatic.judging.pictures import draw
from ccmatic.judging.qlog import qlog
from ccmatic.judging.rules import RULES, Rule
from ccmatic.judging.sensitivity import Variant, variants
from ccmatic.judging.sources import opened
from ccmatic.judging.verdicts import Verdict, judge, undisturbed
from ccmatic.judging.witnesses import Witness, rule_of, source_of
from ccmatic.judging.words import event_words, path_words

#: The templates of unit tests: in the folder of an adaptor, and the one of all crates.
TESTS, CRATE_TEST = "regression_test.*", Path(__file__).parent / "adaptors" / "regression_test.rs"


def report(witness: Witness, folder: str | Path) -> list[Path]:
    """Run a witness again, and write the report of its finding to a folder."""
    out, record = writable_folder(folder), witness.record
    rule, source = rule_of(record), source_of(record)
    runner, controller, version = opened(source)
    run, [verdict] = judge(runner, controller, record.scenario, [rule])
    usual = runner.run(undisturbed(record.scenario)) if record.scenario.events else None
    title = f"{record.subject} ({version}): {rule.name}"
    at = verdict.measured.at if verdict.measured else None
    draw(run, out / "run.svg", title, usual, at)
    write_text(out / "run.qlog", qlog(run, record.subject, title))
    write_text(out / "witness.json", records.line(record) + "\n")
    tests = unit_tests(record, version, out)
    others = [*variants(record.scenario, rule, runner, controller)]
    write_text(out / "report.md", _page(record, version, rule, verdict, others, tests))
    return [out / name for name in ("report.md", "run.svg", "run.qlog", "witness.json")] + tests


def _page(
    record: records.WitnessFile, version: str, rule: Rule, verdict: Verdict, others: list[Variant], tests: list[Path]
) -> str:
    """Return the text of the report."""
    scenario, measured = record.scenario, verdict.measured
    value = "no value" if measured is None else f"{measured.value:.4g} (margin {measured.margin:.3g})"
    events = [f"- {event_words(event)}" for event in scenario.events] or ["- no event"]
    notes = subjects.subject(record.subject).program.notes
    lines = [
        f"# {record.subject}, {rule.name}",
        "",
        f"Version: {version}. {'; '.join(notes)}",
        "",
        "## Rule",
        "",
        f"{rule.definition}",
        "",
        f"- threshold: {rule.threshold}",
        f"- measured: {value}" + (f", at {measured.at / 1e9:.3f} s" if measured and measured.at is not None else ""),
        f"- source: {rule.source}",
        "",
        "## Scenario",
        "",
        f"{path_words(scenario)}; {scenario.duration / 1e9:g} s; {len(scenario.flows)} flow(s)",
        "",
        *events,
        "",
        "The scenario is lawful: packets stay in order, and the jitter box holds each packet for at most D.",
        "",
        "![Rate, window and delay; grey: without the events](run.svg)",
        "",
        "## Reproduction",
        "",
        "```",
        subjects.run_command(record.subject, "witness.json"),
        "```",
        "",
        *(f"A unit test that fails today: [{test.name}]({test.name})" for test in tests),
        "",
        "## Sensitivity",
        "",
        "| variant | verdict | value |",
        "|---|---|---|",
        *(f"| {v.name} | {v.verdict} | {'' if v.value is None else f'{v.value:.4g}'} |" for v in others),
        "",
        "This page reports a measurement. It makes no statement about the cause, or about other networks.",
        "",
    ]
    return "\n".join(lines)


def unit_tests(record: records.WitnessFile, version: str, out: Path) -> list[Path]:
    """Write the unit tests of a witness for which there is a template, and return their files."""
    fields = {
        "name": "".join(c if c.isalnum() else "_" for c in record.rule),
        "option": "--rule" if record.rule in RULES else "--expect",
        "rule": record.rule,
        "threshold": record.threshold,
        "value": f"{record.value:.6g}",
        "scenario": records.line(record.scenario),
        "controller": record.subject.partition(":")[2] or record.subject,
        "subject": record.subject,
        "version": version,
        "crate": version.partition(" ")[0],
    }
    made = []
    folder = Path(inspect.getfile(type(subjects.subject(record.subject).adaptor))).parent
    for template in [*sorted(folder.glob(TESTS)), *[CRATE_TEST] * (folder / "Cargo.toml").is_file()]:
        text = read_text(template)
        for name, value in fields.items():
            text = text.replace(f"{{{{{name}}}}}", value)
        made.append(out / template.name)
        write_text(made[-1], text)
    return made
