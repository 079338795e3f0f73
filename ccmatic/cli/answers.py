"""`ccmatic verify`, `worst` and `starve`: what a network can do to controllers."""

import hashlib
import json
import re
from pathlib import Path

import click

from ccmatic.base import Unreadable, writable_folder, write_text
from ccmatic.cli import asking, options
from ccmatic.cli.command import BESIDE, command


def trace_file(folder, controller, trace, question=None):
    """Return the path in a folder at which a command saves a trace.

    The name contains the controller, the model, the horizon and the question, and ends in a digest of the query, the
    controller and the path. So a repeated query about a controller uses the same path, and any other query or
    controller uses another path.
    """
    from ccmatic import records

    names = trace.query["model"], question or trace.query["property"]["name"]
    model, question_name = (Path(name).stem if Path(name).is_absolute() else name for name in names)
    about = [trace.query, trace.controller, *([records.data(trace.path)] if trace.path else [])]
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
    parts = (controller.name, model, f"T{trace.horizon}", question_name)
    return Path(folder) / "-".join([*(re.sub(r"[^\w.+]+", "_", part)[:60] for part in parts), f"{digest[:8]}.json"])


def _saved(trace, file):
    """Save a trace, and return its file; None after a message if it cannot be written. The verdict is not affected."""
    try:
        writable_folder(file.parent)
        trace.save(file)
        return file
    except Unreadable as error:
        options.complain(f"{error}; the trace is not saved, expected a folder for it in --out")
        return None


def _drawn(trace, file, model):
    """Draw a trace to a file. If this fails, print the reason on standard error; the verdict stays valid."""
    from ccmatic.networks.traces import draw_trace

    try:
        draw_trace(trace, file, model)
    except Unreadable as error:
        options.complain(f"{error}; the trace is not drawn, expected a file for it in --plot")


@command(
    example="""
ccmatic verify cc_qdel --on 'ccac, buffer 1 bdp, jitter 1 rtt' \\
    --expect 'queue <= 4 bdp'
"""
)
@options.controllers
@asking.question
@click.option(
    "--query",
    "query_file",
    shell_complete=options.names_of("queries"),
    help="Read the network and the property from this query.",
)
@asking.model
@asking.buffer
@asking.horizon
@asking.jitter
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
@asking.delay
@asking.period
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
    from ccmatic.answers import reports as report
    from ccmatic.answers.explanation import explain
    from ccmatic.answers.verification import answer_all, verify_all
    from ccmatic.questions.query import load_controller

    if plot is not None:
        from ccmatic.networks.traces import require

        require(plot or None)
    how = {"smt2": smt2, "jobs": jobs, "cluster": cluster, "solver": solver}
    start, period, horizon = (network.pop(name) for name in ("start", "period", "horizon"))
    if on or expect:
        others = {**network, "query": query_file, "threshold": thresholds}
        about = {"start": start, "horizon": horizon, "period": period}
        questions = asking.questions(controllers, on, expect, others, **about)
        judgements = answer_all([question for _, question in questions], **how)
    else:
        options.refuse({"from": start, "period": period}, "--on and --expect as well")
        query = asking.query(query_file, {**network, "horizon": horizon}, thresholds)
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
            file = _saved(trace, trace_file(out, judgement.controller, trace))
            picture = _picture(plot, file, number if len(questions) > 1 else None)
            if picture:
                _drawn(trace, picture, judgement.report.query.model)
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
    """Decide a property of one decision for each network."""
    from ccmatic.answers import reports as report
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

    BESIDE stands for a picture beside `file`, that of the trace. `number` counts questions, if there are several.
    """
    if plot is None or plot == BESIDE:
        return file.with_suffix(".png") if file and plot is not None else None
    return Path(plot) if number is None else Path(plot).with_stem(f"{Path(plot).stem}-{number}")


@command(
    example="""
ccmatic worst cc_qdel --on 'ccac, buffer 1 bdp, jitter 1 rtt' \\
    --expect 'queue <= 4 bdp'
"""
)
@options.controllers
@asking.question
@click.option(
    "--of",
    help="The quantity: utilisation, loss (per R_m), queue, delay or window; for several flows also share or jain; or "
    "a condition on x, such as 'S[-1] < x * C * (T-1)'.  [default: utilisation]",
)
@asking.model
@asking.buffer
@asking.horizon
@asking.jitter
@asking.delay
@asking.period
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
    from ccmatic.answers import reports as report
    from ccmatic.answers import worst_case
    from ccmatic.answers.explanation import explain

    named = " ".join(controllers)

    def progress(value):
        waiting.what = f"{named}, {of} at {value}"

    among = {name: network.pop(name) for name in ("at", "low", "high", "resolution")}
    how = {**among, "told": progress, "solver": solver}
    if on or expect:
        about = {name: network.pop(name) for name in ("start", "given", "period", "horizon")}
        deciders = [list(controllers) if len(controllers) > 1 else controllers[0]]
        questions = [each for _, each in asking.questions(deciders, on, expect, {**network, "of": of}, **about)]
        pending = [(question.text, question) for question in questions]
        results = worst_case.worst_all(questions, jobs=jobs, cluster=cluster, **how)
    else:
        options.refuse({"jobs": jobs > 1, "cluster": cluster}, "--on and --expect as well")
        of = of or "utilisation"
        pending = [(of, None)]
        results = _edge(controllers, of, network, how)
    outcomes = set()
    for of, question in pending:
        with options.Waiting(f"{named}, {of}") as waiting:
            result = next(results)
        outcomes.add(question.met(result) if question else _verdict(result))
        file = shown = None
        if result.trace:
            about = of if of.isidentifier() else "worst"
            file = _saved(result.trace, trace_file(out, result.controller, result.trace, about))
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


def _edge(controllers, of, network, how):
    """Yield the WorstCase of a quantity once it is asked for, when progress can be shown."""
    from ccmatic.answers.worst_case import worst

    with asking.edge(**network) as about:
        found = worst(controllers, of=of, **about, **how)
    yield found


def _verdict(result):
    """Return the verdict on a WorstCase without an expectation, for the exit code."""
    if result.verdict == "unknown":
        return "unknown"
    return "violated" if result.none is None else "holds"


@command(example="ccmatic starve vegas --plot vegas.png --html vegas.html")
@options.controllers
@click.option(
    "--beside",
    metavar="CONTROLLER.py",
    shell_complete=options.names_of("controllers"),
    help="The controller of the other flow.  [default: the same]",
)
@click.option(
    "--on",
    metavar="NETWORK",
    help="The network, such as 'two_flows_constant_rate, buffer 1 bdp'.  [default: separate jitter of one R_m per "
    "flow; an infinite buffer, or 1/4 bdp for controllers that slow down only after losses]",
)
@click.option(
    "--period",
    "periods",
    type=click.IntRange(min=1),
    multiple=True,
    help="Try executions that repeat after this many steps; repeatable.  [default: 1, 2, 3 and 4]",
)
@options.solver_within
@options.fresh
@click.option("--out", default="ccmatic-traces", show_default=True, help="The folder for the traces.")
@click.option("--plot", type=click.Path(), help="Draw the flows to this file (.png, .svg or .pdf).")
@click.option("--html", type=click.Path(), help="Write a page that shows the flows step by step to this file.")
@options.as_json
def starve(controllers, beside, on, periods, solver, out, plot, html, as_json):
    """Find which flow starves on a shared link, and why.

    The command finds the smallest share of the link that a network can leave to a flow for ever. All flows run the same
    controller, unless --beside names another. If no execution repeats, the command searches one window. Exit code 1: a
    flow gets less than a tenth of its fair share; 0: no flow does, for the periods that were tried; 3: not decided.
    """
    from ccmatic.answers import reports as report
    from ccmatic.answers import starvation
    from ccmatic.answers.explanation import trace_page
    from ccmatic.networks import traces

    if (plot or html) and len(controllers) > 1:
        options.refuse({"plot": plot, "html": html}, "one controller beside it")
    if plot:
        traces.require(plot)
    verdicts = set()
    for name in controllers:
        with options.Waiting(name) as waiting:

            def progress(what, name=name, waiting=waiting):
                waiting.what = f"{name}, {what}"

            chosen = {"periods": periods} if periods else {}
            answer = starvation.starve(name, beside, on=on, **chosen, told=progress, solver=solver)
        verdicts.add(answer.verdict)
        file = None
        if answer.trace:
            file = _saved(answer.trace, trace_file(out, answer.controller, answer.trace, "starve"))
            replayed = answer.attempt.worst.report
            if plot:
                traces.draw_trace(answer.trace, plot, replayed.query.model)
            if html:
                write_text(html, trace_page(answer.trace, report=replayed))
        click.echo(report.starve_json(answer, file) if as_json else report.starve_text(answer, file))
    if len(controllers) > 1 and not beside and not as_json:
        first, second, *_ = controllers
        click.echo(f"    each runs beside itself; for one beside the other: starve {first} --beside {second}")
    return options.BROKEN if "starves" in verdicts else options.UNKNOWN if "unknown" in verdicts else options.GOOD
