"""`ccmatic emulate`, `ccmatic evaluate` and `ccmatic fit`: links that are measured."""

import click

from ccmatic.cli import options


@click.command()
@click.option("--rate", help="C, such as 24mbit.")
@click.option("--rtt", help="R_m, such as 40ms.")
@click.option("--buffer", help="β, such as 2bdp, 30000 (bytes), or infinite; a BDP is C·R_m.")
@click.option("--jitter", help="D, such as 40ms: packets are held for at most that long.  [default: none]")
@click.option("--pattern", help="How: uniform or aggregation.  [default: aggregation]")
@click.option(
    "--change", "changes", multiple=True, metavar="TIME=RATE", help="The link's rate from then on; repeatable."
)
@click.option(
    "--schedule",
    help="Take the link from this file instead: a schedule or holds of `ccmatic trace export`, or, with --rtt, a link "
    "trace of mahimahi, whose buffer is infinite unless --buffer says otherwise.",
)
@click.option(
    "--flow",
    "flows",
    multiple=True,
    default=["cubic"],
    show_default=True,
    help="Who sends: one of the kernel's, udp:CONTROLLER.py, bpf:CONTROLLER.py or policy:FILE; then maybe when, and "
    "over which R_m, as in cubic@10s-30s,rtt=80ms; repeatable.",
)
@click.option(
    "--seconds",
    type=options.Seconds(min=0.1, max=3600),
    help="How long, from the first packet on.  [default: as long as the schedule; else 10, or as a longer link trace]",
)
@click.option(
    "--warmup",
    type=options.Seconds(min=0),
    help="Seconds that are not measured.  [default: windows until beliefs have converged; a third of flows without, or "
    "whose beliefs do not; with a schedule, none]",
)
@click.option("--seed", type=click.IntRange(min=0, max=2**62), help="Seed of the jitter.  [default: 0]")
@click.option("--out", type=click.Path(), help="Folder for the log of packets and what was measured.")
@click.option("--plot", type=click.Path(), help="Draw the run to this file (.png, .svg or .pdf).")
@options.as_json
def emulate(flows, seconds, warmup, out, plot, as_json, **link):
    """Run real flows over an emulated link, in network namespaces of this machine; needs root and Linux."""
    from ccmatic import api, records
    from ccmatic.emulation.command import as_text

    found = api.emulate_link(flows, seconds=seconds, warmup=warmup, out=out, plot=plot, **link)
    click.echo((records.line if as_json else as_text)(found))
    return options.GOOD if found.valid else options.UNKNOWN


@click.command()
@click.argument("senders", nargs=-1, required=True, metavar="SENDER…")
@click.option("--real", is_flag=True, help="On this machine's stack, SENDERs being flows of `emulate`; a smaller grid.")
@click.option("--out", default="evaluation", show_default=True, help="Folder for results and figures; goes on there.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Simulate on so many processes.")
@options.as_json
def evaluate(senders, real, out, jobs, as_json):
    """Run exported controllers on the paper's grid of links, beside the bounds that are proved of them."""
    from ccmatic import api, records
    from ccmatic.evaluation import runs

    grid = api.evaluate_senders(senders, out, real=real, jobs=jobs)
    for number, row in enumerate(grid, 1):
        said = runs.line(row, as_json)
        click.echo(said if as_json else f"{number:>{len(str(grid.count))}}/{grid.count}  {said}")
    for file in grid.draw():
        click.echo(records.line(records.FigureLine(str(file))) if as_json else file)
    return options.BROKEN if grid.is_outside else options.GOOD


@click.command()
@click.argument("log", metavar="LOG")
@click.option(
    "--model",
    "models",
    multiple=True,
    shell_complete=options.names_of("models"),
    help="Whose link is fitted; repeatable.  [default: cbr_delay, ccac, and those of the proofs of a --controller]",
)
@click.option("--rtt", help="R_m, a step, such as 40ms.  [default: the least delay in the log]")
@click.option(
    "--horizon", type=click.IntRange(min=2, max=1000), default=10, show_default=True, help="T: windows last T-1 steps."
)
@click.option("--two-clocks", is_flag=True, help="Sender and receiver have clocks of their own, a constant apart.")
@click.option("--received", metavar="FILE", help="LOG is a capture at the sender, this one at the receiver.")
@click.option(
    "--controller",
    "controllers",
    multiple=True,
    shell_complete=options.names_of("controllers"),
    help="Say which shipped proofs of this controller cover the path; repeatable.",
)
@click.option("--plot", type=click.Path(), help="Draw jitter and rate over time to this file (.png, .svg or .pdf).")
@options.as_json
def fit(log, models, rtt, horizon, two_clocks, received, controllers, plot, as_json):
    """Find the least jitter with which a link of each model leaves a log of packets, and the link's rate then."""
    from ccmatic import api, fitting, guarantees, records, traces

    if plot:
        traces.require(plot)
    asked = {"rtt": rtt, "horizon": horizon, "two_clocks": two_clocks, "received": received}
    fitted, covered = api.fit(log, models, controllers=controllers, **asked)
    if plot:
        fitting.draw(fitted, plot)
    if as_json:
        for line in (*fitting.lines(fitted), *covered):
            click.echo(records.line(line))
    else:
        click.echo(fitting.text(fitted))
        for line in covered:
            click.echo(guarantees.sentence(line))
    return options.GOOD
