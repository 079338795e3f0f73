"""`ccmatic worst`: the worst value that a network can force on a controller."""

import click

from ccmatic.base import InputError
from ccmatic.cli import options


@click.command()
@click.argument(
    "controllers",
    nargs=-1,
    required=True,
    metavar="CONTROLLER.py…",
    shell_complete=options.names_of("controllers"),
)
@click.option(
    "--of",
    default="utilisation",
    show_default=True,
    help="utilisation, loss (in an R_m), queue, delay or window; of several flows share or jain; or a condition on x, "
    "such as 'S[-1] < x * C * (T-1)'.",
)
@options.model
@options.buffer
@options.horizon
@options.jitter
@options.delay
@click.option("--period", type=click.IntRange(min=1), help="For ever: of executions that repeat after so many steps.")
@click.option("--from", "start", default="any", help="any start, or empty: nothing waits or was lost.  [default: any]")
@click.option("--given", default="", help="Only executions that meet these conditions, separated by ';'.")
@click.option("--at", help="Ask about this x alone.")
@click.option("--low", help="Look for x from here on.  [default: 0]")
@click.option("--high", help="Look for x up to here.  [default: 1 for shares, 16 for bytes, (T-1)/2 for delay]")
@click.option("--resolution", help="How near the two sides of the edge are.  [default: 1/100; 1 for delay]")
@options.solver
@click.option("--save", default="ccmatic-traces", show_default=True, help="Folder for the trace.")
@options.verbose
@options.as_json
def worst(controllers, of, model, buffer, horizon, period, save, verbose, as_json, solver, **asked):
    """Find the worst value that the network can force on a controller: an edge, both sides of which are asked. Of
    several controllers each decides for a flow of the network; one alone decides for all."""
    from ccmatic import api
    from ccmatic.cli import reports as report

    jitter, delay = asked.pop("jitter"), asked.pop("delay") or "executions"
    network = api.Network(*_sizes(model, buffer, horizon, period), jitter=jitter, delay=delay)
    named = " ".join(controllers)
    with options.Waiting(f"{named}, {of}") as waiting:

        def told(value):
            waiting.what = f"{named}, {of} at {value}"

        found = api.worst(controllers, network, of, period=period, told=told, **asked, solver=solver)
    file = shown = None
    if found.trace:
        question = of if of.isidentifier() else "worst"
        file = report.saved(found.trace, report.trace_file(save, found.controller, found.trace, question))
        shown = api.explain(found.trace, report=found.report)
    if as_json:
        click.echo(report.worst_json(of, found, file, shown))
    else:
        text = report.worst_text(of, found, file)
        if shown and verbose:
            text = f"{text}\n{report.told_text(found.trace, found.report.query, shown)}"
        elif shown:
            text = report.on_a_screen(text, shown)
        click.echo(text)
    if found.verdict == "unknown":
        return options.UNKNOWN
    return options.BROKEN if found.none is None else options.GOOD


def _sizes(model, buffer, horizon, period):
    """The model, the buffer and the horizon, for which a period is enough."""
    if horizon is None and period:
        horizon = 2 * period + 1
    missing = [f"--{name}" for name, each in (("model", model), ("buffer", buffer)) if each is None]
    missing += ["--horizon or --period"] if horizon is None else []
    if missing:
        raise InputError(f"{', '.join(missing)} missing; expected each")
    return model, buffer, horizon
