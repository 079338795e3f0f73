"""`ccmatic workbench`: explore counterexamples on a local web page."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


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
