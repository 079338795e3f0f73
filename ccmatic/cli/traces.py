"""`ccmatic replay`, `estimate`, `trace export` and `workbench`: what a trace shows."""

import click

from ccmatic.base import InputError, located, quantities, write_bytes, write_text
from ccmatic.cli import asking, options
from ccmatic.cli.command import Command, command


@command("replay", example="ccmatic replay results/gallery/late_drain.json --html late_drain.html")
@click.argument("files", nargs=-1, required=True, metavar="TRACE.json…")
@click.option("--plot", type=click.Path(), help="Draw the trace to this file (.png, .svg or .pdf).")
@click.option("--html", type=click.Path(), help="Write a page that shows the trace step by step to this file.")
@click.option("--csv", "csv_file", type=click.Path(), help="Write the trace as CSV to this file.")
@click.option(
    "--expect",
    multiple=True,
    metavar="EXPECTATION",
    help="Judge the trace by this expectation, such as 'utilisation >= 80%'; repeatable.",
)
@options.allow_code
@options.as_json
def replay_command(files, plot, html, csv_file, expect, allow_code, as_json):
    """Check traces by exact arithmetic, without a solver.

    The check covers every law of the network, and runs the controller's own Python.
    """
    if len(files) > 1:
        options.refuse({"plot": plot, "html": html, "csv": csv_file}, "one trace beside it")
    codes = set()
    for number, file in enumerate(files):
        if number and not as_json:
            click.echo()
        codes.add(_replay(file, plot, html, csv_file, expect, allow_code, as_json))
    return next(code for code in (options.BROKEN, options.UNKNOWN, options.GOOD) if code in codes)


def _replay_witness(file, allow_code, as_json):
    """Run a witness again, and print whether it obeys every law and shows its value."""
    from ccmatic import judging, records

    line = judging.replay_witness(file, allow_code=allow_code)
    if as_json:
        click.echo(records.line(line))
    else:
        verdict = "passes" if line.passes else "does not pass"
        shown = "nothing" if line.measured is None else f"{line.measured:.4g}"
        click.echo(
            f"{file} {verdict}: {line.subject} ({line.version}), {line.rule}: {shown}; the file says {line.value:.4g}"
        )
        click.echo("".join(f"    breaks a law: {fault}\n" for fault in line.faults), nl=False)
        click.echo("".join(f"    {difference}\n" for difference in line.differs), nl=False)
    return options.GOOD if line.passes else options.BROKEN


def _replay(file, plot, html, csv_file, expect, allow_code, as_json):
    from ccmatic.answers import reports as report
    from ccmatic.answers.explanation import explain, trace_page
    from ccmatic.answers.verification import Outcome, replay
    from ccmatic.judging import is_witness
    from ccmatic.networks import traces
    from ccmatic.questions import measure

    if is_witness(file):
        options.refuse({"plot": plot, "html": html, "csv": csv_file, "expect": expect}, "a trace beside it")
        return _replay_witness(file, allow_code, as_json)
    trace = traces.Trace.load(file)
    with located(file):
        outcome = replay(trace, allow_code=allow_code)
        judged = [measure(trace, text, allow_code=allow_code) for text in expect]
    if outcome.faults:
        judged = [each.withheld("the trace breaks a law") for each in judged]
    if plot:
        traces.draw_trace(trace, plot, outcome.query.model)
    if html:
        write_text(html, trace_page(trace, report=outcome))
    if csv_file:
        write_text(csv_file, trace.to_csv())
    explanation = explain(trace, report=outcome)
    if as_json:
        shown = report.replay_json(file, outcome, explanation, judged)
    else:
        shown = "\n".join(
            [*map(report.expectation_text, judged), report.replay_text(file, trace, outcome, explanation)]
        )
    click.echo(shown)
    if outcome.faults:
        return options.BROKEN
    if judged:
        return options.expected(judged)
    return options.UNKNOWN if outcome.outcome is Outcome.CANNOT_BE_JUDGED else options.GOOD


@command(example="ccmatic estimate results/gallery/late_drain.json --plot estimates.png")
@click.argument("trace", metavar="TRACE.json")
@asking.model
@asking.buffer
@asking.jitter
@click.option(
    "--horizon",
    help="How many steps of observations the sender keeps. It never forgets what it knows about C.  [default: all]",
)
@click.option("--plot", type=click.Path(), help="Draw the estimates to this file (.png, .svg or .pdf).")
@options.allow_code
@options.as_json
def estimate(trace, model, buffer, jitter, horizon, plot, allow_code, as_json):
    """Find what a sender can know about its path.

    The command prints the exact smallest and largest values that the sender's observations allow, and its beliefs. The
    network is the trace's unless options change it.
    """
    from ccmatic import base, records
    from ccmatic.answers import estimation
    from ccmatic.networks import traces

    if plot:
        traces.require(plot)
    loaded = traces.Trace.load(trace)
    settings = {"model": model, "buffer": buffer, "jitter": jitter, "horizon": horizon}
    network = estimation.network_of(loaded, **settings, allow_code=allow_code)

    def progress(step):
        if as_json:
            click.echo(records.line(estimation.line(step)))

    with base.located(trace):
        estimates = estimation.estimate(loaded, network, told=progress)
    if not as_json:
        click.echo(estimation.text(estimates))
    if plot:
        estimation.draw(estimates, network.model, plot)
    return options.GOOD


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


@command(example="ccmatic workbench examples/controllers/late_drain.py")
@click.argument("file", required=False, metavar="[FILE]", shell_complete=options.names_of("controllers"))
@click.option(
    "--folder",
    type=click.Path(),
    default=".",
    show_default=True,
    help="The folder in which the page saves controllers; it writes nowhere else.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="any that is free",
    help="The port of this machine on which the page is served.",
)
@click.option(
    "--timeout",
    type=options.Seconds(min=0.001),
    default=60,
    show_default=True,
    help="The seconds that each expectation may take.",
)
def workbench(file, folder, port, timeout):
    """Edit and verify a controller on a local web page.

    The page steps through each counterexample beside the source, and marks the lines that ran. FILE is a controller, or
    a file that the page shared; without FILE, the page begins with an example. The command prints the link to open, and
    serves the page only to this machine, until Ctrl-C.
    """
    from ccmatic import workbench as bench

    # No browser is started, because other users of this machine would see the token among the browser's arguments.
    def ready(link):
        click.echo(f"Open {link}\nCtrl-C ends it.")

    bench.serve(bench.begin(file), folder, port=port, timeout=timeout, ready=ready)
