"""`ccmatic synth`: find a controller that ensures a property, in each class of a template that has one."""

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
    from ccmatic.cli import synthesis_reports as report
    from ccmatic.questions.query import load
    from ccmatic.synthesis import synthesise

    loaded_query = load(query)
    folder = Path(out or f"{loaded_query.name}-solutions")
    steps = synthesise(loaded_query, out=folder, run=run_file, jobs=jobs, cluster=cluster, solver=solver)
    progress = (report.SynthesisJson if as_json else report.SynthesisText)(loaded_query)
    with progress:
        for now in steps:
            progress.update(now, folder / f"{now.controller.name}.py" if now.controller else None)
    return options.UNKNOWN if now.undecided else options.GOOD if now.solutions else options.BROKEN
