"""`ccmatic worst`: the worst value that a network can force on a controller."""

import click

from ccmatic.base import InputError
from ccmatic.cli import options
from ccmatic.cli.command import command


@command(
    example="""
ccmatic worst cc_qdel --on 'ccac, buffer 1 bdp, jitter 1 rtt' \\
    --expect 'queue <= 4 bdp'
"""
)
@click.argument(
    "controllers",
    nargs=-1,
    required=True,
    metavar="CONTROLLER.py…",
    shell_complete=options.names_of("controllers"),
)
@options.question
@click.option(
    "--of",
    help="The quantity: utilisation, loss (per R_m), queue, delay or window; for several flows also share or jain; or "
    "a condition on x, such as 'S[-1] < x * C * (T-1)'.  [default: utilisation]",
)
@options.model
@options.buffer
@options.horizon
@options.jitter
@options.delay
@options.period
@click.option("--given", default="", help="Only consider executions that satisfy these conditions, separated by ';'.")
@click.option("--at", help="Decide this x only.")
@click.option("--low", help="The lower end of the search for x.  [default: 0]")
@click.option(
    "--high", help="The upper end of the search for x.  [default: 1 for shares, 16 for bytes, (T-1)/2 for delay]"
)
@click.option(
    "--resolution", help="The largest distance between the two sides of the edge.  [default: 1/100; 1 for delay]"
)
@options.solver
@click.option("--out", default="ccmatic-traces", show_default=True, help="The folder for the trace.")
@options.verbose
@options.as_json
def worst(controllers, of, on, expect, out, verbose, as_json, solver, **network):
    """Find the worst value that a network can force.

    The solver decides both sides of this edge. One controller decides for all flows of the network; several controllers
    decide for a flow each.
    """
    from ccmatic import api
    from ccmatic.cli import reports as report

    among = {name: network.pop(name) for name in ("at", "low", "high", "resolution")}
    question = _question(controllers, of, on, expect, network) if on or expect else None
    of = question.text if question else of or "utilisation"
    named = " ".join(controllers)
    with options.Waiting(f"{named}, {of}") as waiting:

        def progress(value):
            waiting.what = f"{named}, {of} at {value}"

        if question:
            result = api.worst(question, **among, told=progress, solver=solver)
        else:
            result = api.worst(controllers, **_about(of, **network), **among, told=progress, solver=solver)
    file = shown = None
    if result.trace:
        about = of if of.isidentifier() else "worst"
        file = report.saved(result.trace, report.trace_file(out, result.controller, result.trace, about))
        shown = api.explain(result.trace, report=result.report)
    if as_json:
        click.echo(report.worst_json(of, result, file, shown, question))
    else:
        text = report.worst_text(of, result, file, question)
        if shown and verbose:
            text = f"{text}\n{report.trace_text(result.trace, result.report.query, shown)}"
        elif shown:
            text = report.on_a_screen(text, shown)
        click.echo(text)
    if question:
        return options.outcome({question.met(result)})
    if result.verdict == "unknown":
        return options.UNKNOWN
    return options.BROKEN if result.none is None else options.GOOD


def _question(controllers, of, on, expect, network):
    """The Question of `--on` and `--expect`."""
    from ccmatic import api

    start, given, period, horizon = (network.pop(name) for name in ("start", "given", "period", "horizon"))
    (expectation,) = options.expectations(on, expect, most=1)
    options.refuse({**network, "of": of}, "--on and --expect alone")
    about = {"start": start or "any", "given": given, "period": period, "horizon": options.whole(horizon, "horizon")}
    return api.ask(list(controllers) if len(controllers) > 1 else controllers[0], on, expectation, **about)


def _about(of, model, buffer, horizon, jitter, delay, period, start, given):
    """The network and what is asked about it, as `cm.worst` takes them; a period says how long traces are."""
    from ccmatic import api

    if horizon is None and period:
        horizon = 2 * period + 1
    missing = [f"--{name}" for name, each in (("model", model), ("buffer", buffer)) if each is None]
    missing += ["--horizon or --period"] if horizon is None else []
    if missing:
        raise InputError(f"{', '.join(missing)} missing; expected each, or --on and --expect")
    network = api.Network(model, buffer, horizon, jitter=jitter, delay=delay or "executions")
    return {"network": network, "of": of, "period": period, "start": start or "any", "given": given}
