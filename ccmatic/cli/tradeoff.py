"""`ccmatic tradeoff`: reproduce the trade-off of loss and convergence time."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic tradeoff --allowance 'sqrt(C)' --final-rate 1000")
@click.option(
    "--allowance",
    "allowances",
    multiple=True,
    metavar="EXPR",
    help="The losses that are allowed, in packets: an expression in C; repeatable.  [default: 1, log(C), sqrt(C), C/10 "
    "and C]",
)
@click.option("--buffer-time", default="1", show_default=True, help="The buffer β_s, in R_m.")
@click.option(
    "--initial-rate", "start", default="10", show_default=True, help="The initial rate C_0, in packets per R_m."
)
@click.option("--final-rate", "end", default="1000", show_default=True, help="The link rate C, in packets per R_m.")
@click.option("--out", default="tradeoff", show_default=True, help="The folder for figures, tables, trace and proof.")
@options.as_json
def tradeoff(allowances, buffer_time, start, end, out, as_json):
    """Reproduce the trade-off of loss and convergence time.

    The command also checks the steps of its proof.
    """
    from ccmatic import records
    from ccmatic.tradeoffs import reproduce_tradeoff

    outcomes = set()
    for finding in reproduce_tradeoff(allowances, buffer_time=buffer_time, start=start, end=end, out=out):
        outcomes.add(finding.good)
        if as_json or finding.text:
            click.echo(records.line(finding.row) if as_json else finding.text)
    return options.BROKEN if False in outcomes else options.UNKNOWN if None in outcomes else options.GOOD
