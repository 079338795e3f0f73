"""`ccmatic replay`: a trace, checked by exact arithmetic."""

import click

from ccmatic.base import located, write_text
from ccmatic.cli import options
from ccmatic.cli.command import command


@command("replay", example="ccmatic replay results/gallery/late_drain.json --html late_drain.html")
@click.argument("trace", metavar="TRACE.json")
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
def replay_command(trace, plot, html, csv_file, expect, allow_code, as_json):
    """Check a trace by exact arithmetic, without a solver.

    The check covers every law of the network, and runs the controller's own Python.
    """
    from ccmatic import api, traces
    from ccmatic.cli import reports as report
    from ccmatic.verification import Outcome

    loaded = api.Trace.load(trace)
    with located(trace):
        outcome = api.replay(loaded, allow_code=allow_code)
        judged = [api.measure(loaded, text, allow_code=allow_code) for text in expect]
    if plot:
        traces.draw_trace(loaded, plot, outcome.query.model)
    if html:
        write_text(html, api.trace_page(loaded, report=outcome))
    if csv_file:
        write_text(csv_file, loaded.to_csv())
    explanation = api.explain(loaded, report=outcome)
    if as_json:
        shown = report.replay_json(trace, outcome, explanation, judged)
    else:
        shown = "\n".join(
            [report.replay_text(trace, loaded, outcome, explanation), *map(report.expectation_text, judged)]
        )
    click.echo(shown)
    if outcome.faults:
        return options.BROKEN
    if judged:
        return options.expected(judged)
    return options.UNKNOWN if outcome.outcome is Outcome.CANNOT_BE_JUDGED else options.GOOD
