"""`ccmatic synth`: every controller of a template that ensures a property."""

from pathlib import Path

import click

from ccmatic.cli import options


@click.command()
@click.argument("query", metavar="QUERY.toml", shell_complete=options.names_of("queries"))
@click.option("--out", help="Folder for the controllers that are found.  [default: QUERY-solutions]")
@click.option("--run", "run_file", help="Keep what is learned in this file; the same command then goes on.")
@options.jobs
@options.cluster
@options.solver
@options.as_json
def synth(query, out, run_file, jobs, cluster, solver, as_json):
    """Find every controller of the query's template that ensures its property, one of each class."""
    from ccmatic import api
    from ccmatic.cli import synthesis_reports as report

    loaded_query = api.load_query(query)
    folder = Path(out or f"{loaded_query.name}-solutions")
    steps = api.synthesise(loaded_query, out=folder, run=run_file, jobs=jobs, cluster=cluster, solver=solver)
    progress = (report.SynthesisJson if as_json else report.SynthesisText)(loaded_query)
    with progress:
        for now in steps:
            progress.update(now, folder / f"{now.controller.name}.py" if now.controller else None)
    return options.UNKNOWN if now.undecided else options.GOOD if now.solutions else options.BROKEN
