"""`ccmatic fit`: the smallest jitter that explains a packet log, or the networks that explain it."""

from itertools import groupby

import click

from ccmatic.base import InputError
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
    help="The model of the link; repeatable.  [default: cbr_delay, ccac, and the models in the proofs of each "
    "--controller]",
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
    help="The number T, which gives the length of a window: T-1 steps.",
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
@click.option(
    "--explain",
    is_flag=True,
    help="Report which networks explain every packet, the simplest first, instead of the table of jitters.",
)
@click.option(
    "--jitter",
    metavar="TIME",
    help="With --explain: the largest jitter of an explanation, such as 4ms or 1/2rtt.  [default: 1/4rtt]",
)
@click.option("--plot", type=click.Path(), help="Draw jitter and rate over time to this file (.png, .svg or .pdf).")
@options.as_json
def fit(log, models, rtt, horizon, two_clocks, received, controllers, explain, jitter, plot, as_json):
    """Find the smallest jitter that explains a packet log.

    The command fits a link of each model, and reports the link rate that goes with the jitter. With
    --explain it reports which networks explain every packet; the exit code is 1 if none does.
    """
    from ccmatic import fitting, records
    from ccmatic.networks import traces
    from ccmatic.proving import guarantees

    if explain:
        given = {"--model": models, "--controller": controllers, "--plot": plot}
        if unused := [name for name, value in given.items() if value]:
            raise InputError(f"--explain ignores {', '.join(unused)}; expected --explain without")
        return _explain(log, as_json, rtt=rtt, jitter=jitter, two_clocks=two_clocks, received=received)
    if jitter:
        raise InputError("--jitter limits explanations; expected --explain, too")
    if plot:
        traces.require(plot)
    settings = {"rtt": rtt, "horizon": horizon, "two_clocks": two_clocks, "received": received}
    fitted, covered = fitting.fit_file(log, models, controllers=controllers, **settings)
    if plot:
        fitting.draw(fitted, plot)
    if as_json:
        for line in (*fitting.lines(fitted), *covered):
            click.echo(records.line(line))
    else:
        click.echo(fitting.text(fitted))
        for _, lines in groupby(covered, lambda line: line.controller):
            click.echo(guarantees.text(lines))
    return options.GOOD


def _explain(log, as_json, **settings):
    """Print which networks explain a log, and return the exit code."""
    from ccmatic import fitting, records

    explanations = fitting.explain_log(log, **settings)
    if as_json:
        for line in fitting.explanation_lines(explanations):
            click.echo(records.line(line))
    else:
        click.echo(fitting.explanation_text(explanations))
    return {True: options.GOOD, False: options.BROKEN, None: options.UNKNOWN}[explanations.explained]
