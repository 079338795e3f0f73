"""`ccmatic estimate`: what a sender can know of its path."""

import click

from ccmatic.cli import options


@click.command()
@click.argument("trace", metavar="TRACE.json")
@options.model
@options.buffer
@options.jitter
@click.option("--horizon", help="On how many steps the sender looks back, but for what it knows of C.  [default: all]")
@click.option("--plot", type=click.Path(), help="Draw it to this file (.png, .svg or .pdf).")
@options.allow_code
@options.as_json
def estimate(trace, model, buffer, jitter, horizon, plot, allow_code, as_json):
    """Find what a sender can know of its path: the least and most that is possible, given what it has seen, exactly,
    beside its beliefs. The network is the trace's where options do not say another."""
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
