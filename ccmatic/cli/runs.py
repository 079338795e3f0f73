"""`ccmatic runs`: show the counterexamples and decisions that a run of synthesis has saved."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic runs g6.db")
@click.argument("run", metavar="RUN")
@options.as_json
def runs(run, as_json):
    """Show what a run of synthesis has learned so far."""
    from ccmatic.cli import synthesis_reports as report
    from ccmatic.synthesis import read_run

    show = report.run_json if as_json else report.run_text
    click.echo(show(run, *read_run(run)))
    return options.GOOD
