"""`ccmatic train`: train a policy or an adversary in an environment."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic train custard.toml --seed 1 --out custard.json")
@click.argument("query", metavar="NAME.toml", type=click.Path())
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**31),
    default=0,
    show_default=True,
    help="The seed of all random numbers.",
)
@click.option(
    "--out",
    help="The policy's file. The same command resumes from OUT.checkpoint beside it.  [default: NAME.json]",
)
@options.as_json
def train(query, seed, out, as_json):
    """Train a policy or an adversary.

    PPO or TD3 trains it in the environment that a file describes (docs/learned.md). The command needs the extra rl.
    """
    from ccmatic.cli.interrupts import left_in_time

    with left_in_time():
        from ccmatic import api, records

        def progress(line):
            click.echo(records.line(line) if as_json else _text(line))

        file = api.train(query, out, seed=seed, told=progress)
    click.echo(records.line(records.PolicyLine(str(file))) if as_json else file)
    return options.GOOD


def _text(line):
    measured = f"reward {line.reward:9.3f}   utilisation {line.utilisation:5.3f}   RTT {line.rtt_ms:7.2f} ms"
    return f"{line.episode:>{len(str(line.episodes))}}/{line.episodes}   {line.seconds:6.0f} s   {measured}"
