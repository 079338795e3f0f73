"""`ccmatic synth`, `runs`, `check-cover`, `widen` and `check-widening`: controllers of a template."""

from pathlib import Path

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic synth g6 --run g6.db --jobs 2")
@click.argument("query", metavar="QUERY.toml", shell_complete=options.names_of("queries"))
@click.option("--out", help="The folder for the solutions.  [default: QUERY-solutions]")
@click.option("--run", "run_file", help="The file that records the search; the same command resumes from it.")
@options.jobs
@options.cluster
@options.solver
@options.as_json
def synth(query, out, run_file, jobs, cluster, solver, as_json):
    """Find controllers of a template that ensure a property.

    The query names the template and the property. Controllers of a class differ only in coefficients of constants, such
    as MSS. For each class that contains a controller with this property, the command writes one such controller. The
    other controllers of the class may violate the property.
    """
    from ccmatic.questions.query import load
    from ccmatic.synthesis import reports as report
    from ccmatic.synthesis import synthesise

    loaded_query = load(query)
    folder = Path(out or f"{loaded_query.name}-solutions")
    steps = synthesise(loaded_query, out=folder, run=run_file, jobs=jobs, cluster=cluster, solver=solver)
    progress = (report.SynthesisJson if as_json else report.SynthesisText)(loaded_query)
    with progress:
        for now in steps:
            progress.update(now, folder / f"{now.controller.name}.py" if now.controller else None)
    return options.UNKNOWN if now.undecided else options.GOOD if now.solutions else options.BROKEN


@command(example="ccmatic runs g6.db")
@click.argument("run", metavar="RUN")
@options.as_json
def runs(run, as_json):
    """Show what a run of synthesis has learned so far."""
    from ccmatic.synthesis import read_run
    from ccmatic.synthesis import reports as report

    show = report.run_json if as_json else report.run_text
    click.echo(show(run, *read_run(run)))
    return options.GOOD


@command("check-cover", example="ccmatic check-cover g6.db --verify-solutions")
@click.argument("run", metavar="RUN")
@click.option(
    "--verify-solutions",
    is_flag=True,
    help="Verify each solution again. Without this option the solutions are trusted.",
)
@options.solver
@options.allow_code
@options.as_json
def check_cover(run, verify_solutions, solver, allow_code, as_json):
    """Check that a synthesis misses no class with a solution.

    Each candidate must be broken by a counterexample, belong to the class of a solution, or be skipped. The check
    needs no generator. It needs a solver only for skipped candidates, which it decides again.
    """
    from ccmatic import synthesis
    from ccmatic.synthesis import reports as report

    outcome = synthesis.check_cover(run, verify_solutions=verify_solutions, allow_code=allow_code, solver=solver)
    click.echo((report.cover_json if as_json else report.cover_text)(run, outcome))
    if not outcome.covered:
        return options.BROKEN
    return options.UNKNOWN if outcome.undecided else options.GOOD


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
    from ccmatic.synthesis import reports as texts
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
    shown = texts.widening_text(result, lines, summary, folder)
    click.echo("\n".join(map(records.line, [*lines, summary]) if as_json else shown))
    return options.outcome([summary.verdict])


@command("check-widening", example="ccmatic check-widening wider --verify-envelopes")
@click.argument("folder", metavar="FOLDER")
@click.option(
    "--verify-envelopes",
    is_flag=True,
    help="Verify each envelope again. Without this option the envelopes are trusted to hold.",
)
@options.solver
@options.allow_code
@options.as_json
def check_widening(folder, verify_envelopes, solver, allow_code, as_json):
    """Check that a folder of `widen` has all maximal envelopes.

    The check replays the traces of the folder, which must break all other envelopes.
    """
    from ccmatic import records
    from ccmatic.synthesis import reports as texts
    from ccmatic.synthesis import widening

    report = widening.check_widening(folder, verify_envelopes=verify_envelopes, allow_code=allow_code, solver=solver)
    if as_json:
        about = {"complete": report.complete, "envelopes": report.envelopes, "traces": report.traces}
        about |= {"grid": report.grid, "faults": list(report.faults), "uncovered": report.uncovered}
        about |= {"envelopes_verified": report.verified, "undecided": list(report.undecided)}
        click.echo(records.line(records.WideningCheckLine(folder=folder, **about)))
    else:
        click.echo("\n".join(texts.widening_check_text(folder, report)))
    if not report.complete:
        return options.BROKEN
    return options.UNKNOWN if report.undecided else options.GOOD
