"""`ccmatic estimate`: find what a sender can know about its path."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic estimate results/gallery/late_drain.json --plot estimates.png")
@click.argument("trace", metavar="TRACE.json")
@options.model
@options.buffer
@options.jitter
@click.option(
    "--horizon",
    help="How many steps of observations the sender keeps. It never forgets what it knows about C.  [default: all]",
)
@click.option("--plot", type=click.Path(), help="Draw the estimates to this file (.png, .svg or .pdf).")
@options.allow_code
@options.as_json
def estimate(trace, model, buffer, jitter, horizon, plot, allow_code, as_json):
    """Find what a sender can know about its path.

    The command prints the exact smallest and largest values that the sender's observations allow, and its beliefs. The
    network is the trace's unless options change it.
    """
    from ccmatic import base, records
    from ccmatic.answers import estimation
    from ccmatic.networks import traces

    if plot:
        traces.require(plot)
    loaded = traces.Trace.load(trace)
    settings = {"model": model, "buffer": buffer, "jitter": jitter, "horizon": horizon}
    network = estimation.network_of(loaded, **settings, allow_code=allow_code)

    def progress(step):
        if as_json:
            click.echo(records.line(estimation.line(step)))

    with base.located(trace):
        estimates = estimation.estimate(loaded, network, told=progress)
    if not as_json:
        click.echo(estimation.text(estimates))
    if plot:
        estimation.draw(estimates, network.model, plot)
    return options.GOOD
