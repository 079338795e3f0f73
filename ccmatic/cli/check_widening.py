"""`ccmatic check-widening`: check that a folder of envelopes is complete."""

import click

from ccmatic.base import counted
from ccmatic.cli import options
from ccmatic.cli.command import command


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
    from ccmatic.synthesis import widening

    report = widening.check_widening(folder, verify_envelopes=verify_envelopes, allow_code=allow_code, solver=solver)
    if as_json:
        about = {"complete": report.complete, "envelopes": report.envelopes, "traces": report.traces}
        about |= {"grid": report.grid, "faults": list(report.faults), "uncovered": report.uncovered}
        about |= {"envelopes_verified": report.verified, "undecided": list(report.undecided)}
        click.echo(records.line(records.WideningCheckLine(folder=folder, **about)))
    else:
        click.echo("\n".join(_checked(folder, report)))
    if not report.complete:
        return options.BROKEN
    return options.UNKNOWN if report.undecided else options.GOOD


def _checked(folder, report):
    one = "its 1 envelope is the only maximal one"
    only = one if report.envelopes == 1 else f"its {report.envelopes} envelopes are the only maximal ones"
    if not report.complete:
        yield f"{folder}: does not show that {only}"
        yield from (f"    {fault}" for fault in report.faults)
        if report.uncovered:
            yield "    nothing decides this envelope:"
            yield from (f"    {line}" for line in report.uncovered.splitlines())
        return
    claim = f"{only} among {report.grid:,}"
    yield f"{folder}: {counted(report.traces, 'trace')} replayed; {claim}"
    if not report.verified:
        yield "    the envelopes are trusted to hold; --verify-envelopes verifies them again"
    elif report.undecided:
        yield f"    timed out on whether these hold: {', '.join(report.undecided)}"
    else:
        yield "    each was verified again"
