"""`ccmatic emulate`: real flows over an emulated link."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(
    example="""
ccmatic emulate --on '24 mbit, rtt 40 ms, buffer 2 bdp, jitter 40 ms' \\
    --flow bpf:cc_qdel --expect 'utilisation >= 80%' --plot run.png
"""
)
@click.option("--on", metavar="PATH", help="The path, such as '24 mbit, rtt 40 ms, buffer 1 bdp, jitter 4 ms'.")
@click.option(
    "--expect",
    multiple=True,
    metavar="EXPECTATION",
    help="Judge the run by this expectation, such as 'loss <= 1%' or 'share >= 20% beside cubic'; repeatable.",
)
@click.option("--rate", help="The link rate C, such as 24mbit; --on can give it instead.")
@click.option("--rtt", help="The propagation delay R_m, such as 40ms; --on can give it instead.")
@click.option(
    "--buffer",
    help="The buffer β: infinite, or a size such as 2bdp or 30000 (bytes); a BDP is C·R_m. --on can give it instead.",
)
@click.option(
    "--jitter",
    help="The jitter D, such as 40ms or '1 rtt': the longest time that a packet is held; --on can give it instead.  "
    "[default: none]",
)
@click.option("--pattern", help="The pattern of the jitter: uniform or aggregation.  [default: aggregation]")
@click.option(
    "--change", "changes", multiple=True, metavar="TIME=RATE", help="Change the link rate at this time; repeatable."
)
@click.option(
    "--schedule",
    help="Read the link from this file: a file that `ccmatic trace export` wrote with --format schedule or holds, or "
    "a mahimahi link trace. A link trace needs --rtt; its buffer is infinite unless --buffer is given.",
)
@click.option(
    "--flow",
    "flows",
    multiple=True,
    default=["cubic"],
    show_default=True,
    help="A sender: a kernel algorithm, udp:CONTROLLER.py, bpf:CONTROLLER.py or policy:FILE. Start, end and R_m may "
    "follow, as in cubic@10s-30s,rtt=80ms; repeatable.",
)
@click.option(
    "--seconds",
    type=options.Seconds(min=0.1, max=3600),
    help="The length of the run, from the first packet on.  [default: with a schedule, its length; with a link "
    "trace, its length, but at least 10; otherwise 10]",
)
@click.option(
    "--warmup",
    type=options.Seconds(min=0),
    help="Seconds that are not measured.  [default: until the beliefs have converged; a third of the run if they never "
    "converge, or if no flow has beliefs; 0 with a schedule]",
)
@click.option("--seed", type=click.IntRange(min=0, max=2**62), help="The seed of the jitter.  [default: 0]")
@click.option("--out", type=click.Path(), help="The folder for the packet log and the measurements.")
@click.option("--plot", type=click.Path(), help="Draw the run to this file (.png, .svg or .pdf).")
@options.as_json
def emulate(flows, seconds, warmup, out, plot, as_json, **link):
    """Run real flows over an emulated link.

    The flows run in network namespaces of this machine, which needs Linux and root.
    """
    from ccmatic import records
    from ccmatic.cli.reports import expectation_text
    from ccmatic.deployment import emulation

    measures = emulation.emulate(flows, seconds=seconds, warmup=warmup, out=out, plot=plot, **link)
    judged = measures.expectations or ()
    if as_json:
        click.echo(records.line(measures))
    else:
        added = [f"{each.flow} was added, because an expectation names it" for each in measures.flows[len(flows) :]]
        click.echo("\n".join([*map(expectation_text, judged), *added, emulation.as_text(measures)]))
    return options.expected(judged) if measures.valid else options.UNKNOWN
