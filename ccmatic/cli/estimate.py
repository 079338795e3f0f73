"""`ccmatic estimate`: what a sender can know of its path."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic estimate results/gallery/late_drain.json --plot estimates.png")
@click.argument("trace", metavar="TRACE.json")
@options.model
@options.buffer
@options.jitter
@click.option(
    "--horizon", help="How many steps the sender looks back, except for what it knows about C.  [default: all]"
)
@click.option("--plot", type=click.Path(), help="Draw the estimates to this file (.png, .svg or .pdf).")
@options.allow_code
@options.as_json
def estimate(trace, model, buffer, jitter, horizon, plot, allow_code, as_json):
    """Find what a sender can know about its path.

    The command prints the exact least and largest value that the sender's observations allow, beside its beliefs. The
    network is that of the trace unless options change it.
    """
    from ccmatic import api, records, traces
    from ccmatic.learning import estimation

    if plot:
        traces.require(plot)
    loaded = api.Trace.load(trace)
    settings = {"model": model, "buffer": buffer, "jitter": jitter, "horizon": horizon}
    network = api.network_of(loaded, **settings, allow_code=allow_code)

    def progress(step):
        if as_json:
            click.echo(records.line(estimation.line(step)))

    estimates = api.estimate(loaded, network, told=progress)
    if not as_json:
        click.echo(estimation.text(estimates))
    if plot:
        estimation.draw(estimates, network.model, plot)
    return options.GOOD
