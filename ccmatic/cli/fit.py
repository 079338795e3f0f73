"""`ccmatic fit`: the least jitter that explains a log of packets."""

import click

from ccmatic.cli import options


@click.command()
@click.argument("log", metavar="LOG")
@click.option(
    "--model",
    "models",
    multiple=True,
    shell_complete=options.names_of("models"),
    help="Whose link is fitted; repeatable.  [default: cbr_delay, ccac, and those of the proofs of a --controller]",
)
@click.option("--rtt", help="R_m, a step, such as 40ms.  [default: the least delay in the log]")
@click.option(
    "--horizon", type=click.IntRange(min=2, max=1000), default=10, show_default=True, help="T: windows last T-1 steps."
)
@click.option("--two-clocks", is_flag=True, help="Sender and receiver have clocks of their own, a constant apart.")
@click.option("--received", metavar="FILE", help="LOG is a capture at the sender, this one at the receiver.")
@click.option(
    "--controller",
    "controllers",
    multiple=True,
    shell_complete=options.names_of("controllers"),
    help="Say which shipped proofs of this controller cover the path; repeatable.",
)
@click.option("--plot", type=click.Path(), help="Draw jitter and rate over time to this file (.png, .svg or .pdf).")
@options.as_json
def fit(log, models, rtt, horizon, two_clocks, received, controllers, plot, as_json):
    """Find the least jitter with which a link of each model leaves a log of packets, and the link's rate then."""
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
