"""`ccmatic export`: compile a controller to C."""

import click

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
