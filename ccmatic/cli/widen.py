"""`ccmatic widen`: find all maximal envelopes around a controller."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic widen cc_qdel --query g3 --out wider")
@click.argument("controller", metavar="CONTROLLER.py", shell_complete=options.names_of("controllers"))
@click.option("--query", required=True, shell_complete=options.names_of("queries"), help="The query that must hold.")
@click.option(
    "--step",
    default="1/8",
    show_default=True,
    help="The step between factors: the lower end of a rate is multiplied by 1, 1 - step, …, 0, and the upper end by "
    "1, 1 + step, …, --most.",
)
@click.option(
    "--most", default="2", show_default=True, help="The largest factor by which to multiply the upper end of a rate."
)
@click.option(
    "--out", help="The folder for the envelopes; the same command resumes there.  [default: CONTROLLER-wider]"
)
@options.jobs
@options.cluster
@options.solver
@options.as_json
def widen(controller, query, step, most, out, jobs, cluster, solver, as_json):
    """Find all maximal envelopes around a controller.

    Each of the envelopes ensures the query's property.
    """
    from ccmatic import records
    from ccmatic.questions.query import load
    from ccmatic.synthesis import widening

    loaded_query = load(query)
    loaded = loaded_query.controller(controller)
    folder = out or f"{loaded.name}-wider"
    with options.Waiting(f"widening {loaded.name}") as waiting:

        def progress(point, left):
            waiting.what = f"widening {loaded.name}, {left:,} envelopes to decide"

        how = {"jobs": jobs, "cluster": cluster, "told": progress, "solver": solver}
        result = widening.widen(loaded, loaded_query, folder, step=step, most=most, **how)
    lines = list(widening.lines(result, folder))
    summary = records.WideningLine(
        summary=True,
        verdict="unknown" if result.undecided else "holds" if result.maximal else "violated",
        envelopes=len(result.maximal),
        grid=result.grid.size,
        questions=result.questions,
        undecided=result.undecided,
        seconds=round(result.seconds, 3),
    )
    click.echo("\n".join(map(records.line, [*lines, summary]) if as_json else _text(result, lines, summary, folder)))
    return options.outcome([summary.verdict])


def _text(result, lines, summary, folder):
    """Yield the result of the search as lines for people."""
    for line, point in zip(lines, result.maximal, strict=True):
        yield f"{line.file}"
        yield from (f"    {text}" for text in result.grid.envelope(point).pretty().splitlines())
        for end, trace in line.wider.items():
            at, which = end.split(".")
            outcome = f"broken by {trace}" if trace else "timed out"
            yield f"    {which} in line {at}, a step wider: {outcome}"
    left = f", {summary.undecided:,} timed out" if summary.undecided else ""
    count = f"{summary.envelopes} maximal of {summary.grid:,} envelopes{left}"
    if not lines and not summary.undecided:
        count = f"{result.grid.controller.name} breaks the property, and so does every envelope around it"
    yield f"{count}; {summary.questions} checked by a solver, {summary.seconds:.1f} s"
    yield f"in {folder}   (check it: ccmatic check-widening {folder})"
