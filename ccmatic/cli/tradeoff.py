"""`ccmatic tradeoff`: loss against convergence time."""

import click

from ccmatic.cli import options


@click.command()
@click.option(
    "--allowance",
    "allowances",
    multiple=True,
    metavar="EXPR",
    help="f, in packets: an expression in C; repeatable.  [default: 1, log(C), sqrt(C), C/10 and C]",
)
@click.option("--buffer-time", default="1", show_default=True, help="β_s: the buffer, in R_m.")
@click.option("--from", "start", default="10", show_default=True, help="C_0, in packets per R_m.")
@click.option("--up-to", "end", default="1000", show_default=True, help="C, in packets per R_m.")
@click.option("--out", default="tradeoff", show_default=True, help="Folder for figures, tables, trace and proof.")
@options.as_json
def tradeoff(allowances, buffer_time, start, end, out, as_json):
    """Reproduce the trade-off between loss and convergence time, and check the steps of its proof."""
    from ccmatic import api, records

    outcomes = set()
    for finding in api.reproduce_tradeoff(allowances, buffer_time=buffer_time, start=start, end=end, out=out):
        outcomes.add(finding.good)
        if as_json or finding.text:
            click.echo(records.line(finding.row) if as_json else finding.text)
    return options.BROKEN if False in outcomes else options.UNKNOWN if None in outcomes else options.GOOD
