"""`ccmatic replay`: check traces by exact arithmetic."""

import click

from ccmatic.base import located, write_text
from ccmatic.cli import options
from ccmatic.cli.command import command


@command("replay", example="ccmatic replay results/gallery/late_drain.json --html late_drain.html")
@click.argument("files", nargs=-1, required=True, metavar="TRACE.json…")
@click.option("--plot", type=click.Path(), help="Draw the trace to this file (.png, .svg or .pdf).")
@click.option("--html", type=click.Path(), help="Write a page that shows the trace step by step to this file.")
@click.option("--csv", "csv_file", type=click.Path(), help="Write the trace as CSV to this file.")
@click.option(
    "--expect",
    multiple=True,
    metavar="EXPECTATION",
    help="Judge the trace by this expectation, such as 'utilisation >= 80%'; repeatable.",
)
@options.allow_code
@options.as_json
def replay_command(files, plot, html, csv_file, expect, allow_code, as_json):
    """Check traces by exact arithmetic, without a solver.

    The check covers every law of the network, and runs the controller's own Python.
    """
    if len(files) > 1:
        options.refuse({"plot": plot, "html": html, "csv": csv_file}, "one trace beside it")
    codes = set()
    for number, file in enumerate(files):
        if number and not as_json:
            click.echo()
        codes.add(_replay(file, plot, html, csv_file, expect, allow_code, as_json))
    return next(code for code in (options.BROKEN, options.UNKNOWN, options.GOOD) if code in codes)


def _replay_witness(file, allow_code, as_json):
    """Run a witness again, print whether it obeys every law and shows its value, and return the exit code."""
    from ccmatic import judging, records

    line = judging.replay_witness(file, allow_code=allow_code)
    if as_json:
        click.echo(records.line(line))
    else:
        verdict = "passes" if line.passes else "does not pass"
        shown = "nothing" if line.measured is None else f"{line.measured:.4g}"
        click.echo(
            f"{file} {verdict}: {line.subject} ({line.version}), {line.rule}: {shown}; the file says {line.value:.4g}"
        )
        click.echo("".join(f"    breaks a law: {fault}\n" for fault in line.faults), nl=False)
        click.echo("".join(f"    {difference}\n" for difference in line.differs), nl=False)
    return options.GOOD if line.passes else options.BROKEN


def _replay(file, plot, html, csv_file, expect, allow_code, as_json):
    """Print the result for one trace, and return the exit code for this trace."""
    from ccmatic.answers.explanation import explain, trace_page
    from ccmatic.answers.verification import Outcome, replay
    from ccmatic.cli import reports as report
    from ccmatic.judging import is_witness
    from ccmatic.networks import traces
    from ccmatic.questions import measure

    if is_witness(file):
        options.refuse({"plot": plot, "html": html, "csv": csv_file, "expect": expect}, "a trace beside it")
        return _replay_witness(file, allow_code, as_json)
    trace = traces.Trace.load(file)
    with located(file):
        outcome = replay(trace, allow_code=allow_code)
        judged = [measure(trace, text, allow_code=allow_code) for text in expect]
    if outcome.faults:
        judged = [each.withheld("the trace breaks a law") for each in judged]
    if plot:
        traces.draw_trace(trace, plot, outcome.query.model)
    if html:
        write_text(html, trace_page(trace, report=outcome))
    if csv_file:
        write_text(csv_file, trace.to_csv())
    explanation = explain(trace, report=outcome)
    if as_json:
        shown = report.replay_json(file, outcome, explanation, judged)
    else:
        shown = "\n".join(
            [*map(report.expectation_text, judged), report.replay_text(file, trace, outcome, explanation)]
        )
    click.echo(shown)
    if outcome.faults:
        return options.BROKEN
    if judged:
        return options.expected(judged)
    return options.UNKNOWN if outcome.outcome is Outcome.CANNOT_BE_JUDGED else options.GOOD
