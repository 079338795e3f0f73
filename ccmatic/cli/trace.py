"""`ccmatic trace export`: a trace in the format of another tool."""

import click

from ccmatic.base import InputError, quantities, write_bytes
from ccmatic.cli import options


@click.group("trace")
def trace_group():
    """Traces for other tools."""


@trace_group.command("export")
@click.argument("trace", metavar="TRACE.json")
@click.option(
    "--format",
    "kind",
    type=options.Names("ccmatic.trace_export", "FORMATS"),
    required=True,
    help="A link trace of mahimahi, a schedule of the emulator, or holds of flows, or arrays, an element a step.",
)
@click.option("--rate", required=True, help="What the trace's C is, such as 24mbit.")
@click.option("--rtt", required=True, help="What the trace's R_m is, such as 40ms.")
@click.option("--mss", type=click.IntRange(min=1), default=1500, show_default=True, help="Bytes in a packet.")
@click.option(
    "--lead", default="0ms", show_default=True, help="Silence before a link trace, in which to fill the queue."
)
@click.option("--out", type=click.Path(), help="The file to write.  [default: standard output]")
@options.allow_code
@options.as_json
def trace_export(trace, kind, rate, rtt, mss, lead, out, allow_code, as_json):
    """Write a trace, at a concrete scale, as others read it; what their format leaves out is said."""
    from ccmatic import api
    from ccmatic import trace_export as exporting

    if out is None and (as_json or kind == "npz"):
        raise InputError(f"{'--json' if as_json else 'npz'} needs --out, the file to write")
    settings = {"rate": rate, "rtt": rtt, "mss": mss, "lead": lead, "allow_code": allow_code}
    content, notes = api.export_trace(trace, kind, **settings)
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
