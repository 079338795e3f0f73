"""`ccmatic check-cover`: check that a run of synthesis misses no class with a solution."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


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
    from ccmatic.cli import synthesis_reports as report

    outcome = synthesis.check_cover(run, verify_solutions=verify_solutions, allow_code=allow_code, solver=solver)
    click.echo((report.cover_json if as_json else report.cover_text)(run, outcome))
    if not outcome.covered:
        return options.BROKEN
    return options.UNKNOWN if outcome.undecided else options.GOOD
