"""`ccmatic starve`: find which flow starves on a shared link, by how much, for how long, and why."""

import click

from ccmatic.base import write_text
from ccmatic.cli import options
from ccmatic.cli.command import command


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
    from ccmatic.answers import starvation
    from ccmatic.answers.explanation import trace_page
    from ccmatic.cli import reports as report
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
            file = report.saved(answer.trace, report.trace_file(out, answer.controller, answer.trace, "starve"))
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
