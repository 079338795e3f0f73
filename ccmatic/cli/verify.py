"""`ccmatic verify`: whether controllers ensure a property."""

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
    "--query",
    "query_file",
    shell_complete=options.names_of("queries"),
    help="Take network and property from this query instead.",
)
@options.model
@options.buffer
@options.horizon
@options.jitter
@click.option(
    "--property",
    shell_complete=options.names_of("properties"),
    help="What must hold: a name in properties/, or a file that defines a PROPERTY.  [default: synthesis_invariant]",
)
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="NAME=VALUE",
    help="One of the property's thresholds, such as inflight_rates=3; repeatable.",
)
@click.option("--utilisation", help="Least share of the link to be used.  [default: 1/2]")
@click.option(
    "--constrain-loss",
    type=click.Choice(["never", "always", "large-buffer"]),
    help="Whether large losses are forbidden even while beliefs shrink.  [default: never]",
)
@options.delay
@options.question
@click.option("--period", type=click.IntRange(min=1), help="For ever: of executions that repeat after so many steps.")
@options.solver
@click.option("--smt2", type=click.Path(), help="Write the questions as SMT-LIB 2 to this file.")
@click.option("--save", default="ccmatic-traces", show_default=True, help="Folder for the traces of violations.")
@click.option("--plot", is_flag=True, help="Draw each trace beside its file, as PNG.")
@options.verbose
@options.as_json
def verify(controllers, query_file, solver, smt2, save, plot, verbose, as_json, thresholds, on, expect, **network):
    """Verify that controllers meet expectations, or a property, on a network.

    Each holds, or a trace shows how the network breaks it.

        ccmatic verify cc_qdel --on 'ccac, buffer 1 bdp, jitter 1 rtt' --expect 'queue <= 4 bdp'
    """
    from ccmatic import api
    from ccmatic.cli import reports as report
    from ccmatic.traces import require

    if plot:
        require()
    start, period, horizon = (network.pop(name) for name in ("start", "period", "horizon"))
    if on or expect:
        questions = _questions(
            controllers, on, expect, start or "any", horizon, period, {**network, "query": query_file}
        )
        judgements = api.answer_all([question for _, question in questions], smt2=smt2, solver=solver)
    else:
        options.refuse({"from": start, "period": period}, "--on and --expect beside it")
        query = _query(query_file, {**network, "horizon": horizon}, thresholds)
        loaded = [api.load_controller(name, query) for name in controllers]
        questions = [(name, None) for name in controllers]
        judgements = api.verify_all(loaded, query, smt2=smt2, solver=solver)
    outcomes = set()
    for number, (name, question) in enumerate(questions, 1):
        with options.Waiting(f"{name}, {number} of {len(questions)}"):
            judgement = next(judgements)
        outcomes.add(judgement.verdict)
        trace, file = judgement.trace or judgement.unmodelled, None
        if trace:
            model = judgement.report.query.model if plot else None
            file = report.saved(trace, report.trace_file(save, judgement.controller, trace), model)
        explanation = trace and api.explain(trace, report=judgement.report)
        if as_json:
            click.echo(report.judgement_json(name, judgement, file, explanation, question))
            continue
        text = report.answer_text(question, judgement, file) if question else report.judgement_text(judgement, file)
        if trace and verbose:
            text = f"{text}\n{report.trace_text(trace, judgement.report.query, explanation)}"
        elif trace and len(questions) == 1:
            text = report.on_a_screen(text, explanation)
        click.echo(text)
    return options.outcome(outcomes)


def _questions(controllers, on, expectations, start, horizon, period, others):
    """(name, Question) for each controller and expectation."""
    from ccmatic import api

    options.refuse(others, "--on and --expect without it")
    horizon = options.whole(horizon, "horizon")
    return [
        (name, api.ask(name, on, expect, start=start, horizon=horizon, period=period))
        for expect in options.expectations(on, expectations)
        for name in controllers
    ]


def _query(file, network, thresholds):
    from ccmatic.query import load, make

    given = {name: value for name, value in network.items() if value is not None}
    if file:
        if given or thresholds:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in (*given, *{"threshold" for _ in thresholds}))
            raise InputError(f"--query says what {flags} would; expected one or the other")
        return load(file)
    missing = [f"--{name}" for name in ("model", "buffer", "horizon") if name not in given]
    if missing:
        raise InputError(f"{', '.join(missing)} missing; expected --model, --buffer and --horizon, or --query")
    named = {name: given.pop(name) for name in ("utilisation", "constrain_loss") if name in given}
    for threshold in thresholds:
        name, sign, value = threshold.partition("=")
        if not sign or name in named:
            problem = f"the threshold {name} is given twice" if sign else f"the threshold is '{threshold}'"
            raise InputError(f"{problem}; expected NAME=VALUE once for each, such as inflight_rates=3")
        named[name] = value
    return make(**given, thresholds=named)
