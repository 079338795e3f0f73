"""`ccmatic bench`: measure senders and policies on the held-out links of a benchmark."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic bench policy:custard.json cubic --out leaderboard.jsonl")
@click.argument("players", metavar="[PLAYER…]", nargs=-1)
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="Play only this suite; repeatable.")
@click.option("--file", type=click.Path(), help="The file of the benchmark.  [default: ccmatic-bench-v1]")
@click.option("--out", type=click.Path(), help="Add the lines to this leaderboard, a file of JSON lines.")
@options.as_json
def bench(players, suites, file, out, as_json):
    """Measure players on the held-out links of a benchmark.

    A player is a sender's name, policy:FILE, envelope:NAME:low, envelope:NAME:high or guard:NAME:SENDER. Without
    players, the baselines play. The command needs the extra rl (docs/reference/bench.md).
    """
    from ccmatic.cli.interrupts import left_in_time

    with left_in_time():
        from ccmatic import records
        from ccmatic.learning import bench as benchmarks

        for line in benchmarks.bench(players, suites, file=file, out=out):
            click.echo(records.line(line) if as_json else _text(line))
    return options.GOOD


def _text(line):
    measured = f"score {line.score:6.3f} ± {line.score_ci:.3f}   utilisation {line.utilisation:6.1%}"
    queued = f"queueing {line.queue_rtt:5.2f} R_m   lost {line.loss:6.2%}"
    return f"{line.suite:<16} {line.player:<28} {measured}   {queued}"
