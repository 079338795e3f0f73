"""`ccmatic synth`, and what looks at its runs: `runs` and `check-cover`."""

import click

from ccmatic.cli import options


@click.command()
@click.argument("query", metavar="QUERY.toml", shell_complete=options.names_of("queries"))
@click.option("--out", help="Folder for the controllers that are found.  [default: QUERY-solutions]")
@click.option("--run", "run_file", help="Keep what is learned in this file; the same command then goes on.")
@options.jobs
@options.cluster
@options.solver
@options.timeout
@options.seed
@options.as_json
def synth(query, out, run_file, jobs, cluster, solver, timeout, seed, as_json):
    """Find every controller of the query's template that ensures its property, one of each class."""
    from ccmatic.api import load_query, synthesise
    from ccmatic.cli import synthesis_reports as report
    from ccmatic.synthesis import Folder

    asked = load_query(query)
    folder = Folder(out or f"{asked.name}-solutions", asked)
    steps = synthesise(asked, run=run_file, jobs=jobs, cluster=cluster, **options.asking(solver, timeout, seed))
    progress = (report.SynthesisJson if as_json else report.SynthesisText)(asked)
    with progress:
        for now in steps:
            file = folder.add(now) if now.controller else None
            progress.update(now, file)
        folder.complete()
    return options.UNKNOWN if now.undecided else options.GOOD if now.solutions else options.BROKEN


@click.command()
@click.argument("run", metavar="RUN")
@options.as_json
def runs(run, as_json):
    """What a run of synthesis has learned so far."""
    from ccmatic import api
    from ccmatic.cli import synthesis_reports as report

    show = report.run_json if as_json else report.run_text
    click.echo(show(run, *api.read_run(run)))
    return options.GOOD


@click.command("check-cover")
@click.argument("run", metavar="RUN")
@click.option("--verify-solutions", is_flag=True, help="Verify each solution again; else they are believed.")
@options.solver
@options.timeout
@options.seed
@options.allow_code
@options.as_json
def check_cover(run, verify_solutions, solver, timeout, seed, allow_code, as_json):
    """Check, without generator and solver, that a run's counterexamples and solutions decide every candidate."""
    from ccmatic import api
    from ccmatic.cli import synthesis_reports as report

    asking = options.asking(solver, timeout, seed)
    outcome = api.check_cover(run, verify_solutions=verify_solutions, allow_code=allow_code, **asking)
    click.echo((report.cover_json if as_json else report.cover_text)(run, outcome))
    if not outcome.covered:
        return options.BROKEN
    return options.UNKNOWN if outcome.undecided else options.GOOD
