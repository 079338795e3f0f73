"""`ccmatic evaluate`: exported controllers on the paper's grid of links."""

import click

from ccmatic.cli import options


@click.command()
@click.argument("senders", nargs=-1, required=True, metavar="SENDER…")
@click.option("--real", is_flag=True, help="On this machine's stack, SENDERs being flows of `emulate`; a smaller grid.")
@click.option("--out", default="evaluation", show_default=True, help="Folder for results and figures; goes on there.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Simulate on so many processes.")
@options.as_json
def evaluate(senders, real, out, jobs, as_json):
    """Run exported controllers on the paper's grid of links, beside the bounds that are proved of them."""
    from ccmatic import api, evaluation, records

    grid = api.evaluate(senders, out, real=real, jobs=jobs)
    for number, row in enumerate(grid, 1):
        said = evaluation.line(row, as_json)
        click.echo(said if as_json else f"{number:>{len(str(grid.count))}}/{grid.count}  {said}")
    for file in grid.draw():
        click.echo(records.line(records.FigureLine(str(file))) if as_json else file)
    return options.BROKEN if grid.is_outside else options.GOOD
