"""`ccmatic replay`, `ccmatic estimate` and `ccmatic trace export`: what is done with a trace."""

import click

from ccmatic.base import InputError, quantities, write_bytes, write_text
from ccmatic.cli import options


@click.command("replay")
@click.argument("trace", metavar="TRACE.json")
@click.option("--plot", type=click.Path(), help="Draw the trace to this file (.png, .svg or .pdf).")
@click.option("--html", type=click.Path(), help="Write a page to this file that shows the trace step by step.")
@click.option("--csv", "csv_file", type=click.Path(), help="Write the trace as CSV to this file.")
@options.allow_code
@options.as_json
def replay_command(trace, plot, html, csv_file, allow_code, as_json):
    """Check a trace by exact arithmetic, law by law, with no solver, running the controller's own Python."""
    from ccmatic import explanation, traces, verification
    from ccmatic.cli import reports as report
    from ccmatic.contracts import load_definition
    from ccmatic.traces import Trace

    loaded = Trace.load(trace)
    outcome = verification.replay(loaded, trace, allow_code)
    if plot:
        traces.draw_trace(loaded, plot, load_definition("models", "MODEL", loaded.query["model"], allow_code))
    if html:
        write_text(html, explanation.page(loaded, outcome))
    if csv_file:
        write_text(csv_file, loaded.to_csv())
    told = explanation.explain(loaded, outcome)
    shown = report.replay_json(trace, outcome, told) if as_json else report.replay_text(trace, loaded, outcome, told)
    click.echo(shown)
    if outcome.faults:
        return options.BROKEN
    return options.UNKNOWN if outcome.outcome is verification.Outcome.CANNOT_BE_JUDGED else options.GOOD


@click.command()
@click.argument("trace", metavar="TRACE.json")
@options.model
@options.buffer
@options.jitter
@click.option("--horizon", help="On how many steps the sender looks back, but for what it knows of C.  [default: all]")
@click.option("--plot", type=click.Path(), help="Draw it to this file (.png, .svg or .pdf).")
@options.allow_code
@options.as_json
def estimate(trace, model, buffer, jitter, horizon, plot, allow_code, as_json):
    """Find what a sender can know of its path: the least and most that is possible, given what it has seen, exactly,
    beside its beliefs. The network is the trace's where options do not say another."""
    from ccmatic import records, traces
    from ccmatic.learning import estimation
    from ccmatic.traces import Trace

    if plot:
        traces.require(plot)
    loaded = Trace.load(trace)
    network = estimation.network_of(loaded, model, buffer, jitter, horizon, allow_code)
    found = []
    for each in estimation.estimates(loaded, network):
        found.append(each)
        if as_json:
            click.echo(records.line(estimation.line(each)))
    if not as_json:
        click.echo(estimation.text(found))
    if plot:
        estimation.draw(found, network.model, plot)
    return options.GOOD


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
    asked = {"rate": rate, "rtt": rtt, "mss": mss, "lead": lead, "allow_code": allow_code}
    content, notes = api.export_trace(trace, kind, **asked)
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
