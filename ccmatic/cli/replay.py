"""`ccmatic replay`: a trace, checked by exact arithmetic."""

import click

from ccmatic.base import write_text
from ccmatic.cli import options


@click.command("replay")
@click.argument("trace", metavar="TRACE.json")
@click.option("--plot", type=click.Path(), help="Draw the trace to this file (.png, .svg or .pdf).")
@click.option("--html", type=click.Path(), help="Write a page to this file that shows the trace step by step.")
@click.option("--csv", "csv_file", type=click.Path(), help="Write the trace as CSV to this file.")
@options.allow_code
@options.as_json
def replay_command(trace, plot, html, csv_file, allow_code, as_json):
    """Check a trace by exact arithmetic, law by law, with no solver, running the controller's own Python."""
    from ccmatic import explanation, traces, verification
    from ccmatic.cli import reports as report
    from ccmatic.contracts import load_definition
    from ccmatic.traces import Trace

    loaded = Trace.load(trace)
    outcome = verification.replay(loaded, trace, allow_code)
    if plot:
        traces.draw_trace(loaded, plot, load_definition("models", "MODEL", loaded.query["model"], allow_code))
    if html:
        write_text(html, explanation.page(loaded, outcome))
    if csv_file:
        write_text(csv_file, loaded.to_csv())
    told = explanation.explain(loaded, outcome)
    shown = report.replay_json(trace, outcome, told) if as_json else report.replay_text(trace, loaded, outcome, told)
    click.echo(shown)
    if outcome.faults:
        return options.BROKEN
    return options.UNKNOWN if outcome.outcome is verification.Outcome.CANNOT_BE_JUDGED else options.GOOD
