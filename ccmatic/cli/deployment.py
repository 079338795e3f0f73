"""`ccmatic export`, `emulate`, `evaluate` and `fit`: controllers on real links."""

from itertools import groupby

import click

from ccmatic.base import InputError
from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic export cc_qdel --target bpf --jitter '1 rtt'")
@click.argument("controller", metavar="CONTROLLER.py", shell_complete=options.names_of("controllers"))
@click.option(
    "--target",
    type=options.Names("ccmatic.deployment.exporting", "names", "onnx"),
    required=True,
    help="c: a header and functions to link; bpf: a program for the kernel; udp: a sender and a receiver; onnx: a "
    "policy's file.",
)
@click.option("--out", help="The output folder.  [default: the controller's name]")
@click.option(
    "--model",
    help="The model whose beliefs the C code computes.  [default: among the models that have all beliefs of the "
    "controller, the model with the fewest beliefs]",
)
@click.option(
    "--horizon",
    type=click.IntRange(min=3, max=1000),
    default=10,
    show_default=True,
    help="The window T: beliefs time out every T-1 steps.",
)
@click.option(
    "--jitter",
    default="1",
    show_default=True,
    help="The largest variation of delay from causes other than queueing, in R_m.",
)
@click.option(
    "--around",
    help="The sender whose rates the envelope limits: cubic, bbr or reno of the kernel, or policy:FILE.",
)
@options.as_json
def export(controller, target, out, model, horizon, jitter, around, as_json):
    """Compile a controller, or a trained policy, to C code.

    The C code uses integers only, and computes beliefs from acknowledgements.
    """
    from ccmatic import records
    from ccmatic.deployment import policies

    files = policies.export(controller, target, out, model=model, horizon=horizon, jitter=jitter, around=around)
    for file in files:
        about = records.ExportLine(files[0].stem, target, str(file))
        click.echo(records.line(about) if as_json else file)
    return options.GOOD


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
    from ccmatic.answers.reports import expectation_text
    from ccmatic.deployment import emulation

    measures = emulation.emulate(flows, seconds=seconds, warmup=warmup, out=out, plot=plot, **link)
    judged = measures.expectations or ()
    if as_json:
        click.echo(records.line(measures))
    else:
        added = [f"{each.flow} was added, because an expectation names it" for each in measures.flows[len(flows) :]]
        click.echo("\n".join([*map(expectation_text, judged), *added, emulation.as_text(measures)]))
    return options.expected(judged) if measures.valid else options.UNKNOWN


@command(example="ccmatic evaluate cc_qdel cc_probe_slow --jobs 2")
@click.argument("senders", nargs=-1, required=True, metavar="SENDER…")
@click.option(
    "--real",
    is_flag=True,
    help="Run on this machine's network stack: each SENDER is a flow of `emulate`, and the grid is smaller.",
)
@click.option(
    "--out",
    default="evaluation",
    show_default=True,
    help="The folder for results and figures; the same command resumes there.",
)
@options.jobs
@options.cluster
@options.as_json
def evaluate(senders, real, out, jobs, cluster, as_json):
    """Run exported controllers on the paper's grid of links.

    The results are compared with the proved bounds of the controllers.
    """
    from ccmatic import evaluation, records

    grid = evaluation.evaluate(senders, out, real=real, jobs=jobs, cluster=cluster)
    for number, row in enumerate(grid, 1):
        text = evaluation.line(row, as_json)
        click.echo(text if as_json else f"{number:>{len(str(grid.count))}}/{grid.count}  {text}")
    for file in grid.draw():
        click.echo(records.line(records.FigureLine(str(file))) if as_json else file)
    return options.BROKEN if grid.is_outside else options.GOOD


@command(
    example="""
ccmatic fit examples/links/cellular.mahimahi --rtt 40ms \\
    --controller cc_qdel
"""
)
@click.argument("log", metavar="LOG")
@click.option(
    "--model",
    "models",
    multiple=True,
    shell_complete=options.names_of("models"),
    help="The model of the link; repeatable.  [default: cbr_delay, ccac, and the models in the proofs of each "
    "--controller]",
)
@click.option(
    "--rtt",
    help="The propagation delay R_m, such as 40ms; it is the length of a step.  [default: the least delay in the log]",
)
@click.option(
    "--horizon",
    type=click.IntRange(min=2, max=1000),
    default=10,
    show_default=True,
    help="The number T, which gives the length of a window: T-1 steps.",
)
@click.option("--two-clocks", is_flag=True, help="The clocks of sender and receiver differ by a constant.")
@click.option("--received", metavar="FILE", help="The capture at the receiver; LOG is then the capture at the sender.")
@click.option(
    "--controller",
    "controllers",
    multiple=True,
    shell_complete=options.names_of("controllers"),
    help="Report which shipped proofs of this controller cover the path; repeatable.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Report which networks explain every packet, the simplest first, instead of the table of jitters.",
)
@click.option(
    "--jitter",
    metavar="TIME",
    help="With --explain: the largest jitter of an explanation, such as 4ms or 1/2rtt.  [default: 1/4rtt]",
)
@click.option("--plot", type=click.Path(), help="Draw jitter and rate over time to this file (.png, .svg or .pdf).")
@options.as_json
def fit(log, models, rtt, horizon, two_clocks, received, controllers, explain, jitter, plot, as_json):
    """Find the smallest jitter that explains a packet log.

    The command fits a link of each model, and reports the link rate that goes with the jitter. With
    --explain it reports which networks explain every packet; the exit code is 1 if none does.
    """
    from ccmatic import fitting, records
    from ccmatic.networks import traces
    from ccmatic.proving import guarantees

    if explain:
        given = {"--model": models, "--controller": controllers, "--plot": plot}
        if unused := [name for name, value in given.items() if value]:
            raise InputError(f"--explain ignores {', '.join(unused)}; expected --explain without")
        return _explain(log, as_json, rtt=rtt, jitter=jitter, two_clocks=two_clocks, received=received)
    if jitter:
        raise InputError("--jitter limits explanations; expected --explain, too")
    if plot:
        traces.require(plot)
    settings = {"rtt": rtt, "horizon": horizon, "two_clocks": two_clocks, "received": received}
    fitted, covered = fitting.fit_file(log, models, controllers=controllers, **settings)
    if plot:
        fitting.draw(fitted, plot)
    if as_json:
        for line in (*fitting.lines(fitted), *covered):
            click.echo(records.line(line))
    else:
        click.echo(fitting.text(fitted))
        for _, lines in groupby(covered, lambda line: line.controller):
            click.echo(guarantees.text(lines))
    return options.GOOD


def _explain(log, as_json, **settings):
    from ccmatic import fitting, records

    explanations = fitting.explain_log(log, **settings)
    if as_json:
        for line in fitting.explanation_lines(explanations):
            click.echo(records.line(line))
    else:
        click.echo(fitting.explanation_text(explanations))
    return {True: options.GOOD, False: options.BROKEN, None: options.UNKNOWN}[explanations.explained]
