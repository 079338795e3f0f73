"""`ccmatic emulate`: real flows over an emulated link."""

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
    from ccmatic.emulation import as_text

    measures = api.emulate(flows, seconds=seconds, warmup=warmup, out=out, plot=plot, **link)
    click.echo((records.line if as_json else as_text)(measures))
    return options.GOOD if measures.valid else options.UNKNOWN
