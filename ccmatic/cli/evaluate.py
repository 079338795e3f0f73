"""`ccmatic evaluate`: run exported controllers on the paper's grid of links."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic evaluate cc_qdel cc_probe_slow --jobs 2")
@click.argument("senders", nargs=-1, required=True, metavar="SENDER…")
@click.option(
    "--real",
    is_flag=True,
    help="Run on this machine's network stack: each SENDER is a flow of `emulate`, and the grid is smaller.",
)
@click.option(
    "--out",
    default="evaluation",
    show_default=True,
    help="The folder for results and figures; the same command resumes there.",
)
@options.jobs
@options.cluster
@options.as_json
def evaluate(senders, real, out, jobs, cluster, as_json):
    """Run exported controllers on the paper's grid of links.

    The results are compared with the proved bounds of the controllers.
    """
    from ccmatic import evaluation, records

    grid = evaluation.evaluate(senders, out, real=real, jobs=jobs, cluster=cluster)
    for number, row in enumerate(grid, 1):
        text = evaluation.line(row, as_json)
        click.echo(text if as_json else f"{number:>{len(str(grid.count))}}/{grid.count}  {text}")
    for file in grid.draw():
        click.echo(records.line(records.FigureLine(str(file))) if as_json else file)
    return options.BROKEN if grid.is_outside else options.GOOD
