"""`ccmatic attack`: test senders against trained adversaries."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic attack vegas-1.json --against cubic --out traces")
@click.argument("adversaries", metavar="FILE.json…", nargs=-1, required=True, type=click.Path())
@click.option(
    "--against",
    "senders",
    multiple=True,
    metavar="SENDER",
    help="Also test this sender, written in the same form as `target` in an adversary file; repeatable.",
)
@click.option("--out", type=click.Path(), help="The folder for the traces, which are mahimahi link traces.")
@options.as_json
def attack(adversaries, senders, out, as_json):
    """Test senders against trained adversaries.

    If the adversaries choose traces, all senders are tested on the worst trace of each adversary. The command needs
    the extra rl (docs/reference/adversary.md).
    """
    from ccmatic.cli.interrupts import left_in_time

    with left_in_time():
        from ccmatic import records
        from ccmatic.learning import adversaries as learned

        for line in learned.attack(adversaries, senders, out):
            click.echo(records.line(line) if as_json else _attacked(line))
    return options.GOOD


def _attacked(line):
    trace = "baseline" if line.against is None else f"against {line.against} ({line.seed})"
    measured = (
        f"{line.utilisation:6.1%}   queueing {line.delay_ms:6.2f} ms, p95 {line.p95_ms:6.2f}   lost {line.lost:6.2%}"
    )
    return f"{line.sender:<16} {trace:<24} {measured}{'' if line.constrained else '   (delays less than the baseline)'}"
