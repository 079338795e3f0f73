"""`ccmatic verify`: verify that controllers ensure a property."""

from pathlib import Path

import click

from ccmatic.base import InputError
from ccmatic.cli import options, spellings
from ccmatic.cli.command import command


@command(
    example="""
ccmatic verify cc_qdel --on 'ccac, buffer 1 bdp, jitter 1 rtt' \\
    --expect 'queue <= 4 bdp'
"""
)
@options.controllers
@options.question
@click.option(
    "--query",
    "query_file",
    shell_complete=options.names_of("queries"),
    help="Read the network and the property from this query.",
)
@options.model
@options.buffer
@options.horizon
@options.jitter
@click.option(
    "--property",
    shell_complete=options.names_of("properties"),
    help="The property: a name in properties/, a file that defines a PROPERTY, or a VNN-LIB file (.vnnlib) about one "
    "decision of ONNX networks.  [default: synthesis_invariant]",
)
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a threshold of the property, such as inflight_rates=3; repeatable.",
)
@click.option("--utilisation", help="The least share of the link that must be used.  [default: 1/2]")
@click.option(
    "--constrain-loss",
    type=click.Choice(["never", "always", "large-buffer"]),
    help="When to forbid large losses even while beliefs shrink.  [default: never]",
)
@options.delay
@options.period
@options.solver
@options.fresh
@click.option("--smt2", type=click.Path(), help="Write the solver's questions to this file, as SMT-LIB 2.")
@click.option("--out", default="ccmatic-traces", show_default=True, help="The folder for traces of violations.")
@click.option(
    "--plot",
    metavar="FILE",
    help="Draw the trace to this file (.png, .svg or .pdf). With several questions, a number is added to each name.",
)
@options.jobs
@options.cluster
@options.verbose
@options.as_json
def verify(
    controllers, query_file, solver, smt2, out, plot, jobs, cluster, verbose, as_json, thresholds, on, expect, **network
):
    """Verify that controllers meet expectations on a network.

    Each expectation holds, or a trace shows how the network breaks it. A property can replace the expectations.
    """
    if Path(network["property"] or "").suffix == ".vnnlib":
        others = {name: value for name, value in network.items() if name != "property"}
        others |= {"on": on, "expect": expect, "query": query_file, "threshold": thresholds, "smt2": smt2, "plot": plot}
        options.refuse(others, "--property and --timeout alone, because a VNN-LIB file is about one decision")
        return _decide(controllers, network["property"], solver.timeout, as_json)
    from ccmatic.answers.explanation import explain
    from ccmatic.answers.verification import answer_all, verify_all
    from ccmatic.cli import reports as report
    from ccmatic.questions.query import load_controller

    if plot is not None:
        from ccmatic.networks.traces import require

        require(plot or None)
    how = {"smt2": smt2, "jobs": jobs, "cluster": cluster, "solver": solver}
    start, period, horizon = (network.pop(name) for name in ("start", "period", "horizon"))
    if on or expect:
        questions = _questions(
            controllers,
            on,
            expect,
            start,
            horizon,
            period,
            {**network, "query": query_file, "threshold": thresholds},
        )
        judgements = answer_all([question for _, question in questions], **how)
    else:
        options.refuse({"from": start, "period": period}, "--on and --expect as well")
        query = _query(query_file, {**network, "horizon": horizon}, thresholds)
        loaded = [load_controller(name, query) for name in controllers]
        questions = [(name, None) for name in controllers]
        judgements = verify_all(loaded, query, **how)
    outcomes = set()
    for number, (name, question) in enumerate(questions, 1):
        with options.Waiting(f"{name}, {number} of {len(questions)}"):
            judgement = next(judgements)
        outcomes.add(judgement.verdict)
        trace, file = judgement.trace or judgement.unmodelled, None
        if trace:
            file = report.saved(trace, report.trace_file(out, judgement.controller, trace))
            picture = _picture(plot, file, number if len(questions) > 1 else None)
            if picture:
                report.drawn(trace, picture, judgement.report.query.model)
        explanation = trace and explain(trace, report=judgement.report)
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


def _decide(files, property, timeout, as_json):
    """Decide a property of one decision for each network. Return the exit code."""
    from ccmatic.cli import reports as report
    from ccmatic.language.neural import decide

    verdicts = set()
    for file in files:
        with options.Waiting(file):
            decision = decide(file, property, timeout=timeout)
        verdicts.add(decision.verdict)
        text = report.decision_json if as_json else report.decision_text
        click.echo(text(file, property, decision))
    return options.outcome(verdicts)


def _picture(plot, file, number):
    """Return the file to which a trace is drawn, or None.

    Args:
        plot: The value of --plot. BESIDE stands for a picture beside the file of the trace.
        file: The file of the trace; None if it could not be saved.
        number: The number of the question; None if there is only one question.
    """
    if plot is None or plot == spellings.BESIDE:
        return file.with_suffix(".png") if file and plot is not None else None
    return Path(plot) if number is None else Path(plot).with_stem(f"{Path(plot).stem}-{number}")


def _questions(controllers, on, expectations, start, horizon, period, others):
    """Return a pair (name, Question) for each combination of a controller and an expectation."""
    from ccmatic.questions import ask

    expectations = options.expectations(on, expectations)
    options.refuse(others, "--on and --expect alone")
    horizon = options.whole(horizon, "horizon")
    return [
        (name, ask(name, on, expect, start=start, horizon=horizon, period=period))
        for expect in expectations
        for name in controllers
    ]


def _query(file, network, thresholds):
    from ccmatic.questions.query import load, make

    given = {name: value for name, value in network.items() if value is not None}
    if file:
        if given or thresholds:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in (*given, *{"threshold" for _ in thresholds}))
            raise InputError(f"--query and {flags} exclude each other; expected one or the other")
        return load(file)
    missing = [f"--{name}" for name in ("model", "buffer", "horizon") if name not in given]
    options.require_network(missing, [*given, *thresholds])
    named = {name: given.pop(name) for name in ("utilisation", "constrain_loss") if name in given}
    for threshold in thresholds:
        name, sign, value = threshold.partition("=")
        if not sign or name in named:
            problem = f"the threshold {name} is given twice" if sign else f"the threshold is '{threshold}'"
            raise InputError(f"{problem}; expected NAME=VALUE once for each, such as inflight_rates=3")
        named[name] = value
    return make(**given, thresholds=named)
