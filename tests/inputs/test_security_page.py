"""The page on security names every command, and everything by which one reads a file."""

import re

import click
import pytest

from ccmatic.cli.commands import cli
from support import ROOT

PAGE = (ROOT / "docs/reference/security.md").read_text()

#: Options that name no file to be read: numbers, choices, and what is written only.
READ_NOTHING = {
    "--buffer", "--horizon", "--jitter", "--utilisation", "--constrain-loss", "--delay", "--solver", "--timeout",
    "--seed", "--smt2", "--plot", "--csv", "--json", "--jobs", "--format", "--rate", "--rtt", "--mss",
    "--certify", "--target", "--pattern", "--change", "--seconds", "--warmup", "--real", "--buffer-time", "--from",
    "--initial-rate", "--final-rate",
    "--html", "--allow-code", "--verify-solutions", "kinds", "--lead",
    "--two-clocks", "--of", "--period", "--given", "--at", "--low", "--high", "--resolution", "--most",
    "--step", "--verify-envelopes", "--around", "--verbose", "--expect", "--explain",
    "--folder", "--port", "--event", "--flows", "--rule", "--budget", "--runs", "--tolerance", "--to", "--junit",
    "--language", "--fresh", "--prove", "--seeds", "--suite", "--tensorboard",
}  # fmt: skip

#: Where --out is a folder in which a command goes on, it is read, too.
GOES_ON = ("prove", "evaluate", "train", "front", "widen", "judge table", "bench")


def commands(group=cli, before=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


def row(name):
    [found] = re.findall(rf"^\| `{name}` \| (.*) \|$", PAGE, re.MULTILINE)
    return found.split(" | ")


@pytest.mark.parametrize("name, command", list(commands()), ids=lambda value: value if isinstance(value, str) else "")
def test_every_command_has_a_row_with_all_that_it_reads(name, command):
    reads, believes, can = row(name)
    named = set(re.findall(r"`([^`]+)`", reads))
    given = {
        option if option.startswith("--") else parameter.name
        for parameter in command.params
        for option in parameter.opts[:1]
    } - READ_NOTHING
    if name not in GOES_ON:
        given -= {"--out"}
    assert named == given
    assert believes and can


def test_no_row_is_of_a_command_that_is_gone():
    table = re.findall(r"^\| `([a-z -]+)` \|", PAGE, re.MULTILINE)
    assert sorted(table) == sorted(name for name, _ in commands())


def test_the_readme_leads_there():
    assert "docs/trust.md" in (ROOT / "README.md").read_text()
    assert "reference/security.md" in (ROOT / "docs/trust.md").read_text()
