"""`ccmatic fit`: the smallest jitter that explains a packet log."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(
    example="""
ccmatic fit examples/links/cellular.mahimahi --rtt 40ms \\
    --controller cc_qdel
"""
)
@click.argument("log", metavar="LOG")
@click.option(
    "--model",
    "models",
    multiple=True,
    shell_complete=options.names_of("models"),
    help="The model of the link; repeatable.  [default: cbr_delay, ccac, and those of the proofs of each --controller]",
)
@click.option(
    "--rtt",
    help="The propagation delay R_m, such as 40ms; it is the length of a step.  [default: the least delay in the log]",
)
@click.option(
    "--horizon",
    type=click.IntRange(min=2, max=1000),
    default=10,
    show_default=True,
    help="The window T: windows last T-1 steps.",
)
@click.option("--two-clocks", is_flag=True, help="The clocks of sender and receiver differ by a constant.")
@click.option("--received", metavar="FILE", help="The capture at the receiver; LOG is then the capture at the sender.")
@click.option(
    "--controller",
    "controllers",
    multiple=True,
    shell_complete=options.names_of("controllers"),
    help="Report which shipped proofs of this controller cover the path; repeatable.",
)
@click.option("--plot", type=click.Path(), help="Draw jitter and rate over time to this file (.png, .svg or .pdf).")
@options.as_json
def fit(log, models, rtt, horizon, two_clocks, received, controllers, plot, as_json):
    """Find the smallest jitter that explains a packet log.

    The command fits a link of each model, and reports the link rate that goes with the jitter.
    """
    from ccmatic import api, fitting, guarantees, records, traces

    if plot:
        traces.require(plot)
    settings = {"rtt": rtt, "horizon": horizon, "two_clocks": two_clocks, "received": received}
    fitted, covered = api.fit(log, models, controllers=controllers, **settings)
    if plot:
        fitting.draw(fitted, plot)
    if as_json:
        for line in (*fitting.lines(fitted), *covered):
            click.echo(records.line(line))
    else:
        click.echo(fitting.text(fitted))
        for line in covered:
            click.echo(guarantees.sentence(line))
    return options.GOOD
