"""`ccmatic worst`: find the worst value that a network can force on a controller."""

from contextlib import nullcontext
from dataclasses import replace

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(
    example="""
ccmatic worst cc_qdel --on 'ccac, buffer 1 bdp, jitter 1 rtt' \\
    --expect 'queue <= 4 bdp'
"""
)
@options.controllers
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
@click.option("--at", help="Decide the question for this x only.")
@click.option("--low", help="The lower end of the search for x.  [default: 0]")
@click.option(
    "--high", help="The upper end of the search for x.  [default: 1 for shares, 16 for bytes, (T-1)/2 for delay]"
)
@click.option(
    "--resolution",
    help="The largest distance between the proved bound and the value that a trace reaches.  [default: 1/100; 1 for "
    "delay]",
)
@options.solver
@options.fresh
@click.option("--out", default="ccmatic-traces", show_default=True, help="The folder for the trace.")
@options.jobs
@options.cluster
@options.verbose
@options.as_json
def worst(controllers, of, on, expect, out, jobs, cluster, verbose, as_json, solver, **network):
    """Find the worst value that a network can force.

    The solver decides both sides of this edge. One controller runs on all flows of the network; with several
    controllers, each runs on one flow. Each expectation has its own edge.
    """
    from ccmatic.answers.explanation import explain
    from ccmatic.answers.worst_case import worst_all
    from ccmatic.cli import reports as report

    named = " ".join(controllers)

    def progress(value):
        waiting.what = f"{named}, {of} at {value}"

    among = {name: network.pop(name) for name in ("at", "low", "high", "resolution")}
    how = {**among, "told": progress, "solver": solver}
    if on or expect:
        questions = _questions(controllers, of, on, expect, network)
        pending = [(question.text, question) for question in questions]
        results = worst_all(questions, jobs=jobs, cluster=cluster, **how)
    else:
        options.refuse({"jobs": jobs > 1, "cluster": cluster}, "--on and --expect as well")
        of = of or "utilisation"
        pending = [(of, None)]
        results = _edge(controllers, _about(of, **network), how, network["horizon"] is None)
    outcomes = set()
    for of, question in pending:
        with options.Waiting(f"{named}, {of}") as waiting:
            result = next(results)
        outcomes.add(question.met(result) if question else _verdict(result))
        file = shown = None
        if result.trace:
            about = of if of.isidentifier() else "worst"
            file = report.saved(result.trace, report.trace_file(out, result.controller, result.trace, about))
            shown = report.of_edge(explain(result.trace, report=result.report), of, result)
        if as_json:
            click.echo(report.worst_json(of, result, file, shown, question))
            continue
        text = report.worst_text(of, result, file, question)
        if shown and verbose:
            text = f"{text}\n{report.trace_text(result.trace, result.report.query, shown)}"
        elif shown and len(pending) == 1:
            text = report.on_a_screen(text, shown)
        click.echo(text)
    return options.outcome(outcomes)


def _edge(controllers, about, how, is_usual):
    """Yield the WorstCase of a quantity. `is_usual` states whether the query has the default horizon."""
    from ccmatic.answers import worst_case
    from ccmatic.questions import usual_horizon

    with usual_horizon(about["network"], about["period"]) if is_usual else nullcontext():
        found = worst_case.worst(controllers, **about, **how)
    yield found


def _verdict(result):
    """Return the verdict on a WorstCase without an expectation, for the exit code."""
    if result.verdict == "unknown":
        return "unknown"
    return "violated" if result.none is None else "holds"


def _questions(controllers, of, on, expect, network):
    """Return the Questions for `--on` and each `--expect`."""
    from ccmatic.questions import ask

    start, given, period, horizon = (network.pop(name) for name in ("start", "given", "period", "horizon"))
    expectations = options.expectations(on, expect)
    options.refuse({**network, "of": of}, "--on and --expect alone")
    about = {"start": start, "given": given, "period": period, "horizon": options.whole(horizon, "horizon")}
    decides = list(controllers) if len(controllers) > 1 else controllers[0]
    return [ask(decides, on, expectation, **about) for expectation in expectations]


def _about(of, model, buffer, horizon, jitter, delay, period, start, given):
    """Return the network and the question as arguments of `cm.worst`. If no horizon is given, the period decides it."""
    from ccmatic.questions import least_of_period
    from ccmatic.questions.query import LONGEST, Network

    missing = [f"--{name}" for name, each in (("model", model), ("buffer", buffer)) if each is None]
    missing += ["--horizon or --period"] if horizon is None and not period else []
    options.require_network(missing, [each for each in (model, buffer, horizon, period) if each is not None])
    network = Network(model, buffer, horizon or LONGEST, jitter=jitter, delay=delay or "executions")
    if horizon is None:
        network = replace(network, horizon=least_of_period(network, period))
    return {"network": network, "of": of, "period": period, "start": start or "any", "given": given}
