"""`ccmatic trace export`: convert a trace to the format of another tool."""

import click

from ccmatic.base import InputError, quantities, write_bytes
from ccmatic.cli import options
from ccmatic.cli.command import Command


@click.group("trace")
def trace_group():
    """Convert traces for other tools."""


@trace_group.command(
    "export",
    cls=Command,
    example="""
ccmatic trace export results/gallery/late_drain.json --format mahimahi \\
    --rate 24mbit --rtt 40ms --out link.trace
""",
)
@click.argument("trace", metavar="TRACE.json")
@click.option(
    "--format",
    "kind",
    type=options.Names("ccmatic.networks.trace_export", "FORMATS"),
    required=True,
    help="The output: a mahimahi link trace, a schedule for the emulator, the times for which the emulator holds each "
    "flow's bytes, or arrays with one element per step.",
)
@click.option("--rate", required=True, help="The link rate C of the trace, such as 24mbit.")
@click.option("--rtt", required=True, help="The propagation delay R_m of the trace, such as 40ms.")
@click.option("--mss", type=click.IntRange(min=1), default=1500, show_default=True, help="Bytes in a packet.")
@click.option(
    "--lead",
    default="0ms",
    show_default=True,
    help="How long the link delivers nothing before the link trace begins, so that a sender can fill the queue.",
)
@click.option("--out", type=click.Path(), help="The output file.  [default: standard output]")
@options.allow_code
@options.as_json
def trace_export(trace, kind, rate, rtt, mss, lead, out, allow_code, as_json):
    """Convert a trace for another tool, at a concrete scale.

    Notes on standard error name what the format leaves out or rounds.
    """
    from ccmatic.networks import trace_export as exporting

    if out is None and (as_json or kind == "npz"):
        raise InputError(f"{'--json' if as_json else 'npz'} needs --out, the file to write")
    settings = {"rate": rate, "rtt": rtt, "mss": mss, "lead": lead, "allow_code": allow_code}
    content, notes = exporting.export_trace(trace, kind, **settings)
    if out is None:
        click.echo(content, nl=False)
    else:
        write_bytes(out, content)
    if as_json:
        scale = exporting.Scale(quantities.rate(rate), quantities.duration(rtt), mss)
        click.echo(exporting.answer(trace, kind, scale, out, notes))
    else:
        click.echo("".join(f"note: {note}\n" for note in notes), nl=False, err=True)
    return options.GOOD
