"""`ccmatic runs`: what a run of synthesis has learned."""

import click

from ccmatic.cli import options


@click.command()
@click.argument("run", metavar="RUN")
@options.as_json
def runs(run, as_json):
    """What a run of synthesis has learned so far."""
    from ccmatic import api
    from ccmatic.cli import synthesis_reports as report

    show = report.run_json if as_json else report.run_text
    click.echo(show(run, *api.read_run(run)))
    return options.GOOD
