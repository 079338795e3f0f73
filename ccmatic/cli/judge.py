"""`ccmatic judge`: judge code that ships, in virtual time on lawful links."""

import time
from collections import Counter
from pathlib import Path

import click

from ccmatic import judging
from ccmatic.base import InputError, counted, write_text
from ccmatic.cli import options
from ccmatic.cli.command import Command


@click.group("judge")
def judge_group():
    """Judge the congestion control that people ship."""


def _seed(what):
    """Return the option of a seed."""
    return click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help=what)


def _budget(default, what):
    """Return the option of a budget in seconds."""
    return click.option("--budget", type=options.Seconds(min=1), default=default, show_default=True, help=what)


#: The option of a number of runs. With a large budget, it makes a search independent of the machine's speed.
_runs = click.option("--runs", type=click.IntRange(min=1), help="The largest number of runs.  [default: no limit]")


def _scenario(command):
    """Add the options that describe one scenario. The command receives them as keywords of `make_scenario`."""
    for option in reversed(
        [
            click.option(
                "--on",
                metavar="PATH",
                help="The path, such as '24 mbit, rtt 40 ms, buffer 1 bdp, jitter 10 ms'.  [default: 12 mbit, rtt 40 "
                "ms, buffer 1 bdp]",
            ),
            click.option(
                "--event",
                "events",
                multiple=True,
                metavar="EVENT",
                help="An event, such as 'idle 1 s at 5 s', 'rtt x4 at 10 s' or 'hold 30 ms at 2 s'; repeatable.",
            ),
            click.option(
                "--seconds",
                type=options.Seconds(min=0.1, max=600),
                default=20,
                show_default=True,
                help="The length of the run.",
            ),
            click.option(
                "--beside",
                multiple=True,
                metavar="CONTROLLER",
                help="A controller of ccmatic that shares the link, such as cubic; repeatable.",
            ),
            click.option(
                "--flows",
                type=click.IntRange(1, 8),
                default=1,
                show_default=True,
                help="The number of flows of the subject.",
            ),
            click.option("--scenario", type=click.Path(), help="Read the scenario from this JSON file instead."),
            _seed("The seed of the run."),
            options.allow_code,
        ]
    ):
        command = option(command)
    return command


def _rules(command):
    """Add the options that choose rules."""
    command = click.option(
        "--expect",
        multiple=True,
        metavar="EXPECTATION",
        help="Judge runs by this expectation, such as 'utilisation >= 80% over every 10 s'; repeatable.",
    )(command)
    return click.option(
        "--rule",
        "rules",
        multiple=True,
        metavar="RULE",
        shell_complete=_complete_rules,
        help="Judge runs by this default rule only; repeatable.",
    )(command)


def _complete_rules(context, parameter, incomplete):
    return [name for name in judging.RULES if name.startswith(incomplete)]


def _code(command):
    """Add the options that choose the version of a stack."""
    command = click.option("--source", type=click.Path(), help="Build the stack from the sources in this folder.")(
        command
    )
    return click.option("--version", help="The version of the stack.  [default: the one that ccmatic pins]")(command)


@judge_group.command(
    "run",
    cls=Command,
    example="""
ccmatic judge run quinn:cubic --on '24 mbit, rtt 40 ms, buffer 1 bdp' \\
    --event 'idle 1 s at 5 s'
""",
)
@click.argument("subject", metavar="SUBJECT|WITNESS.json")
@_scenario
@_rules
@_code
@click.option("--plot", type=click.Path(), help="Draw rate, window and delay to this file (.png, .svg or .pdf).")
@click.option("--out", type=click.Path(), help="Write the scenario and the recording of the run to this folder.")
@options.as_json
def run(subject, rules, expect, version, source, plot, out, as_json, **words):
    """Judge one run of code by rules.

    A subject is code, such as quinn:cubic, a controller of ccmatic, or a folder from `judge new`. A witness is a file
    from `judge search`; it names its code, scenario and rule.
    """
    if judging.is_witness(subject):
        judged = judging.rerun_witness(subject, version, source, allow_code=words["allow_code"])
    else:
        judged = judging.judge(subject, rules=rules, expect=expect, version=version, source=source, **words)
    if plot:
        judging.draw(judged.run, plot, title=judged.subject)
    if out:
        _save(judged.run, Path(out))
    _print_verdicts(judged, as_json)
    verdicts = {verdict.verdict for verdict in judged.verdicts}
    return options.BROKEN if "broken" in verdicts else options.GOOD if "kept" in verdicts else options.UNKNOWN


def _save(recording, folder):
    from ccmatic import records
    from ccmatic.base import writable_folder

    writable_folder(folder)
    write_text(folder / "scenario.json", records.line(recording.scenario) + "\n")
    recording.save(folder / "recording.npz")


def _print_verdicts(judged, as_json):
    from ccmatic import records

    for line in judged.lines:
        if as_json:
            click.echo(records.line(line))
        elif line.verdict != "not applicable":
            click.echo(_verdict_text(line))
        elif len(judged.lines) == 1:
            click.echo(f"{line.rule}: not applicable: {line.reason}")
    counts = Counter(line.verdict for line in judged.lines)
    total = records.JudgedTotalLine(
        subject=judged.subject,
        version=judged.version,
        kept=counts["kept"],
        broken=counts["broken"],
        not_applicable=counts["not applicable"],
    )
    kept = f"{counted(total.kept, 'rule')} kept"
    text = f"{total.subject} ({total.version}): {kept}, {total.broken} broken"
    click.echo(records.line(total) if as_json else f"{text}, {total.not_applicable} not applicable")


def _verdict_text(line):
    from ccmatic.base import shown_verdict

    meaning = "violated" if line.verdict == "broken" else "holds"
    when = f" at {line.at:.3f} s" if line.at is not None else ""
    failure = f"\n         {line.reason}" if line.reason else ""
    return f"{shown_verdict(line.verdict, meaning, 8)} {_value_text(line)}{when}{_threshold_text(line)}{failure}"


def _value_text(line):
    return f"{line.rule}: {judging.measured_words(line)}"


def _threshold_text(line):
    """Return the threshold of a rule; nothing for an expectation, whose name says it."""
    return "" if line.threshold == line.rule else f"; {line.threshold}"


@judge_group.command("search", cls=Command, example="ccmatic judge search quinn:cubic --budget 60 --jobs 2")
@click.argument("subject")
@_rules
@_code
@_budget(240, "The seconds that searching and shrinking take.")
@_runs
@_seed("The seed of the search.")
@options.jobs
@click.option("--run", "file", type=click.Path(), help="The file that keeps the runs, from which the command resumes.")
@click.option("--out", type=click.Path(), help="The folder for the witnesses.  [default: SUBJECT-judged]")
@click.option(
    "--seed-from",
    multiple=True,
    metavar="TRACE.json",
    help="Begin with the jitter of this trace of a model; repeatable.",
)
@options.as_json
def search(subject, as_json, **settings):
    """Search for lawful networks on which code breaks rules.

    Each rule has its own line of scenarios, which the search draws and changes. Each scenario that breaks a rule is
    shrunk, and written to a file. Exit code 1: a rule is broken; 0: no run breaks a rule.
    """
    return _searched(subject, as_json, **settings)


def _searched(subject, as_json, junit=None, **settings):
    from ccmatic import records

    begin, lines = time.monotonic(), []
    with options.Waiting(f"{subject}, building") as waiting:

        def told(search):
            waiting.search = search
            broken = sum(line.is_broken for line in search.lines.values())
            waiting.what = f"{subject}, {counted(search.number, 'run')}, {broken} of {len(search.lines)} rules broken"

        for line, witness in judging.judge_search(subject, told=told, **settings):
            lines.append(line)
            if not junit:
                click.echo(records.line(line) if as_json else _searched_text(line, witness))
    if junit:
        write_text(junit, judging.junit_xml(subject, lines, time.monotonic() - begin))
        click.echo("\n".join(records.line(line) if as_json else _searched_text(line, None) for line in lines))
    click.echo(_total(lines, waiting.search, time.monotonic() - begin, settings.get("file"), as_json))
    return options.BROKEN if any(line.verdict == "broken" for line in lines) else options.GOOD


def _total(lines, search, seconds, file, as_json):
    """Return the last line of a search."""
    from ccmatic import records

    counts = Counter(line.verdict for line in lines)
    total = records.SearchedTotalLine(
        subject=search.source.name,
        version=search.version,
        runs=search.number,
        seconds=round(seconds, 1),
        seed=search.seed,
        kept=counts["kept"],
        broken=counts["broken"],
        not_asked=counts["not asked"],
    )
    if as_json:
        return records.line(total)
    broken = "1 rule" if total.broken == 1 else f"{total.broken} rules"
    rules = f"{broken} broken, {total.kept} kept, {total.not_asked} not asked"
    resume = f"; --run {file} resumes" if file else ""
    cost = f"{counted(total.runs, 'run')} in {total.seconds:g} s, seed {total.seed}"
    return f"{total.subject} ({total.version}): {rules}; {cost}{resume}"


def _searched_text(line, witness):
    from ccmatic.base import shown_verdict

    meaning = {"broken": "violated", "kept": "holds", "not asked": "unknown"}[line.verdict]
    worst = line.rule if line.value is None else _value_text(line)
    text = f"{shown_verdict(line.verdict, meaning, 9)} {worst}{_threshold_text(line)} ({counted(line.runs, 'run')})"
    if line.witness:
        text += f"\n          {judging.run_command(line.subject, line.witness)}"
    return text + (f"\n          {_scenario_text(witness.record.scenario)}" if witness else "")


def _scenario_text(scenario):
    """Return the words of a scenario on one line."""
    events = "".join(f"; {judging.event_words(event)}" for event in scenario.events)
    flows = f"; {len(scenario.flows)} flows" if len(scenario.flows) > 1 else ""
    return f"{judging.path_words(scenario)}{flows}{events}; {scenario.duration / 1e9:g} s"


@judge_group.command("shrink", cls=Command, example="ccmatic judge shrink quinn-bbr-judged/window.json")
@click.argument("witness", metavar="WITNESS.json")
@_budget(60, "The seconds that shrinking may take.")
@_code
@options.allow_code
@options.as_json
def shrink(witness, budget, version, source, allow_code, as_json):
    """Shrink the scenario of a witness further.

    The command replaces the file. The shrunk scenario has fewer events, rounder numbers, or a shorter run.
    """
    from ccmatic import records

    made = judging.shrink_witness(witness, budget, version, source, allow_code=allow_code)
    record = made.record
    text = f"{record.rule}: {record.value:.4g}; {record.threshold}\n    {_scenario_text(record.scenario)}"
    click.echo(records.line(record) if as_json else text)
    return options.GOOD


@judge_group.command("diff", cls=Command, example="ccmatic judge diff quinn:cubic cubic --event 'lose 1 packet at 5 s'")
@click.argument("one", metavar="SUBJECT")
@click.argument("other", metavar="SUBJECT")
@_scenario
@click.option(
    "--tolerance",
    type=options.Share(),
    default=0.1,
    show_default=True,
    help="The largest difference of two windows that counts as none, as a share of the larger one.",
)
@options.as_json
def diff(one, other, tolerance, as_json, **words):
    """Find where the windows of two subjects part.

    Both run the same scenario. Exit code 1: their windows differ by more than the tolerance for a whole round trip; so
    the command tests a model against code.
    """
    from ccmatic import records

    found = judging.judge_difference(one, other, tolerance=tolerance, **words)
    if as_json:
        click.echo(records.line(found.line(one, other)))
    else:
        click.echo(_difference_text(one, other, found))
    return options.GOOD if found.parts is None else options.BROKEN


def _difference_text(one, other, found):
    bytes_of = ", ".join(f"{name} {got / 1e6:.3f} MB" for name, got in zip((one, other), found.delivered, strict=True))
    rest = f"mean difference {found.mean:.1%}; delivered: {bytes_of}"
    if found.parts is None:
        return f"no difference: {rest}"
    first, second = found.windows
    return f"parts at {found.parts / 1e9:.3f} s: {one} has {first} bytes, {other} {second}; {rest}"


@judge_group.command(
    "bisect", cls=Command, example="ccmatic judge bisect quinn-bbr-judged/window.json --from 0.11.0 --to 0.11.9"
)
@click.argument("witness", metavar="WITNESS.json")
@click.option("--from", "first", required=True, help="The first version.")
@click.option("--to", "last", required=True, help="The last version.")
@click.option(
    "--version",
    "versions",
    multiple=True,
    help="A version between them, oldest first; repeatable.  [default: all released versions]",
)
@options.as_json
def bisect(witness, first, last, versions, as_json):
    """Find the version of a stack that changed a verdict.

    The command builds versions between two, and runs the scenario of a witness on each.
    """
    from ccmatic import records

    subject = judging.load_witness(witness).record.subject

    def told(version, verdict):
        line = judging.judged_line(subject, version, verdict)
        click.echo(records.line(line) if as_json else f"{version}: {_verdict_text(line)}", err=not as_json)

    before, after = judging.judge_versions(witness, first, last, versions, told)
    if not as_json:
        click.echo(f"the verdict changes from {before} to {after}")
    return options.GOOD


@judge_group.command("table", cls=Command, example="ccmatic judge table cubic reno quinn:cubic --budget 60 --jobs 2")
@click.argument("names", nargs=-1, required=True, metavar="SUBJECT…")
@_rules
@_budget(240, "The seconds that the search of each subject takes.")
@_seed("The seed of the searches.")
@options.jobs
@click.option(
    "--out",
    default="ccmatic-judged",
    show_default=True,
    type=click.Path(),
    help="The folder for the table, the runs and the witnesses; the command resumes from it.",
)
@options.as_json
def table(names, out, as_json, **settings):
    """Search for the worst scenario of each rule, for several subjects.

    The command writes the table of all worst values to OUT/table.md.
    """
    from ccmatic import records

    broken, tables = False, judging.judge_table(names, out, **settings)
    for subject in names:
        with options.Waiting(subject):
            lines = next(tables)
        for line in lines:
            click.echo(records.line(line) if as_json else f"{subject} {_searched_text(line, None)}")
            broken = broken or line.verdict == "broken"
    return options.BROKEN if broken else options.GOOD


@judge_group.command("report", cls=Command, example="ccmatic judge report quinn-bbr-judged/window.json --out window")
@click.argument("subject", metavar="WITNESS.json|SUBJECT")
@click.option("--out", type=click.Path(), help="The folder for the report of a witness.")
@click.option(
    "--judged",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Also collect the lines of `judge table --json` in this file; repeatable.",
)
@options.allow_code
@options.as_json
def report(subject, out, judged, allow_code, as_json):
    """Write the report of a finding, or collect what is known about a subject.

    For a witness, the folder gets a page, a drawing beside the undisturbed run, a qlog, the sensitivity to spacings,
    seeds and scale, and a unit test that fails, if the stack has a template. For a subject, the command prints proofs,
    verdicts on models, played scenarios and searches in the order of RFC 9743.
    """
    from ccmatic import records

    if not judging.is_witness(subject):
        options.refuse({"out": out}, "a witness beside it")
        lines = judging.judge_known(subject, judged)
        shown = (records.line(line) for line in lines) if as_json else [judging.page(subject, lines).rstrip()]
        click.echo("\n".join(shown))
        return options.GOOD
    if not out:
        raise InputError("the report of a witness needs a folder; expected --out FOLDER")
    for file in judging.judge_report(subject, out, allow_code=allow_code):
        click.echo(records.line(records.FileLine(str(file), "report")) if as_json else file)
    return options.GOOD


@judge_group.command("ci", cls=Command, example="ccmatic judge ci ./toy --budget 60 --junit judge.xml")
@click.argument("subject")
@_rules
@_code
@_budget(60, "The seconds that the command takes.")
@_runs
@_seed("The seed of the search.")
@options.jobs
@click.option("--out", type=click.Path(), help="The folder for the witnesses.  [default: SUBJECT-judged]")
@click.option(
    "--junit", type=click.Path(), default="judge.xml", show_default=True, help="The file for the results as JUnit XML."
)
@options.as_json
def ci(subject, as_json, **settings):
    """Judge code in a pipeline.

    The command searches like `judge search`, and also writes JUnit XML with a test for each rule. Exit code 1: a rule
    is broken.
    """
    return _searched(subject, as_json, **settings)


@judge_group.command("new", cls=Command, example="ccmatic judge new toy --language rust")
@click.argument("name")
@click.option(
    "--language", type=click.Choice(["rust", "go", "c", "python"]), required=True, help="The language of the code."
)
def new(name, language):
    """Write an adaptor to fill in.

    The folder NAME gets the sources of a small controller, which `ccmatic judge run ./NAME` builds and runs.
    """
    for file in judging.new_adaptor(name, language):
        click.echo(file)
    return options.GOOD
