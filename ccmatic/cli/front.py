"""`ccmatic front`: find the controllers of a query that no other controller dominates."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic front g1_t11 --jobs 2")
@click.argument("query", metavar="QUERY.toml", shell_complete=options.names_of("queries"))
@click.option(
    "--out", help="The folder for run, proofs and figure; the same command resumes there.  [default: QUERY-front]"
)
@click.option(
    "--step",
    help="Also prove the maximal envelopes around the controllers on the front. This number has the same meaning "
    "as in `ccmatic widen --step`.",
)
@options.jobs
@options.cluster
@options.solver
@options.as_json
def front(query, out, step, jobs, cluster, solver, as_json):
    """Find the controllers that no other one dominates.

    The command begins with a synthesis. It takes each controller that no counterexample breaks, proves guarantees for
    it, and compares the guarantees.
    """
    from ccmatic.cli import proof_reports as report
    from ccmatic.proving import find_front
    from ccmatic.questions.query import load

    loaded_query = load(query)
    with options.Waiting(f"reading {query}") as waiting:

        def begun(what):
            waiting.what = what

        def decided(point, number, of):
            waiting.tell(f"{number} of {of}, {point.name}: {report.decided(point)}")

        where = {"step": step, "jobs": jobs, "cluster": cluster, "begun": begun, "decided": decided}
        result = find_front(loaded_query, out, **where, solver=solver)
    for point in result.points:
        click.echo(report.front_point(point, result.dominated.get(point.name), as_json))
    click.echo(report.front_end(result.points, result.dominated, result.figure, as_json))
    if not result.points:
        return options.BROKEN
    return options.GOOD if result.dominated else options.outcome({point.verdict for point in result.points})
