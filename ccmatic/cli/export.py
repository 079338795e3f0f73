"""`ccmatic export`: a controller as C."""

import click

from ccmatic.cli import options


@click.command()
@click.argument("controller", metavar="CONTROLLER.py", shell_complete=options.names_of("controllers"))
@click.option(
    "--target",
    type=options.Names("ccmatic.exporting", "names", "onnx"),
    required=True,
    help="c: a header, and functions to link; bpf: for the kernel; udp: a sender and a receiver; onnx: of a policy.",
)
@click.option("--out", help="Folder for the files.  [default: the controller's name]")
@click.option("--model", help="Whose beliefs are computed.  [default: the one of fewest that are enough]")
@click.option(
    "--horizon",
    type=click.IntRange(min=3, max=1000),
    default=10,
    show_default=True,
    help="T: beliefs time out every T-1 steps.",
)
@click.option("--jitter", default="1", show_default=True, help="By how much delay may vary, in R_m, but for queueing.")
@click.option("--around", help="Of an envelope in the kernel: what runs within it, cubic, bbr or reno.")
@options.as_json
def export(controller, target, out, model, horizon, jitter, around, as_json):
    """Compile a controller to C: integers only, beliefs computed from acknowledgements; or a trained policy's file."""
    from ccmatic import api, records

    files = api.export(controller, target, out, model=model, horizon=horizon, jitter=jitter, around=around)
    for file in files:
        about = records.ExportLine(files[0].stem, target, str(file))
        click.echo(records.line(about) if as_json else file)
    return options.GOOD
