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
    help="utilisation, loss (in an R_m), queue, delay or window; of several flows share or jain; or a condition on x, "
    "such as 'S[-1] < x * C * (T-1)'.  [default: utilisation]",
)
@options.model
@options.buffer
@options.horizon
@options.jitter
@options.delay
@click.option("--period", type=click.IntRange(min=1), help="For ever: of executions that repeat after so many steps.")
@options.question
@click.option("--given", default="", help="Only executions that meet these conditions, separated by ';'.")
@click.option("--at", help="Ask about this x alone.")
@click.option("--low", help="Look for x from here on.  [default: 0]")
@click.option("--high", help="Look for x up to here.  [default: 1 for shares, 16 for bytes, (T-1)/2 for delay]")
@click.option("--resolution", help="How near the two sides of the edge are.  [default: 1/100; 1 for delay]")
@options.solver
@click.option("--save", default="ccmatic-traces", show_default=True, help="Folder for the trace.")
@options.verbose
@options.as_json
def worst(controllers, of, on, expect, save, verbose, as_json, solver, **network):
    """Find the worst value that the network can force on a controller: an edge, both sides of which are decided.

    Each of several controllers decides for a flow of the network; one alone decides for all.

        ccmatic worst cc_qdel --on 'ccac, buffer 1 bdp, jitter 1 rtt' --expect 'queue <= 4 bdp'
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
        file = report.saved(result.trace, report.trace_file(save, result.controller, result.trace, about))
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
    options.refuse({**network, "of": of}, "--on and --expect without it")
    (expectation,) = options.expectations(on, expect, most=1)
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
