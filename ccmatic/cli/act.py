"""`ccmatic act`: answer the questions of a program in any language by a trained policy."""

import sys

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(example="ccmatic act policy.json")
@click.argument("policy", metavar="POLICY.json", type=click.Path())
def act(policy):
    """Answer observations on standard input by actions.

    Each line is a JSON object, and so is each answer: an observation has an action as its answer, and a measured
    interval has a rate. A wrong line has an error as its answer, and the command continues
    (docs/reference/learning.md#actions-line-by-line).
    """
    from ccmatic import records
    from ccmatic.deployment import policies

    sys.stdin.reconfigure(errors="replace")  # a byte that is no text must not end the command
    for answer in policies.actions(policy, sys.stdin):
        click.echo(records.line(answer))
        sys.stdout.flush()
    return options.GOOD
