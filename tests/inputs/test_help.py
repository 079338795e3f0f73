"""The help: groups of commands, an example for each, and no line that a terminal of 80 columns cuts off."""

import re
import shlex

import click
import pytest

from ccmatic.cli.commands import COMMANDS, GROUPS, cli, summary
from support.cli import run


def commands(group=cli, before=()):
    """The words and the Command of each command."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield (*before, name), command


EVERY = [pytest.param(words, command, id=" ".join(words)) for words, command in commands()]


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_the_program_shows_groups_with_a_line_for_each_command():
    code, out, _ = run("--help")
    assert code == 0
    groups = dict(re.findall(r"^(\w+):\n((?:  .*\n)+)", f"{out}\n", re.MULTILINE))
    groups.pop("Options")
    shown = {title: [line.split()[0] for line in text.splitlines()] for title, text in groups.items()}
    assert shown == {title: [*names] for title, names in GROUPS.items()}
    assert sum(map(len, shown.values())) == len(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_line_of_the_program_is_whole(name):
    line = next(line for line in run("--help")[1].splitlines() if line.split()[:1] == [name])
    first = re.match(r"[^.]*", cli.commands[name].help)[0].strip()
    assert line.endswith(f"{' '.join(first.split())}.") and len(line) <= 80
    assert summary(cli.commands[name])[0].isupper()


@pytest.mark.parametrize("words, command", EVERY)
def test_no_line_is_cut_off(words, command):
    code, out, _ = run(*words, "--help")
    assert code == 0 and "..." not in out.partition("\n")[2]
    assert [line for line in out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("words, command", EVERY)
def test_the_example_is_shown_and_is_parsed(words, command):
    lines = command.example.splitlines()
    assert 1 <= len(lines) <= 2 and all(line.endswith("\\") for line in lines[:-1])
    shown = run(*words, "--help")[1].partition("Example:\n")[2].splitlines()
    assert [line.strip() for line in shown[: len(lines)]] == [line.strip() for line in lines]
    program, *arguments = shlex.split(command.example.replace("\\\n", " "))
    assert (program, *arguments[: len(words)]) == ("ccmatic", *words)
    command.make_context(command.name, arguments[len(words) :])


@pytest.mark.parametrize("words, command", EVERY)
def test_the_help_of_an_option_is_a_sentence(words, command):
    for option in command.params:
        if isinstance(option, click.Option):
            assert re.match(r"[A-Z]|[a-z]+: ", option.help), (option.name, option.help)
            assert re.search(r"[.\]]$", option.help), (option.name, option.help)


@pytest.mark.parametrize("words, command", EVERY)
def test_the_help_says_how_often_an_option_may_be_given(words, command):
    """The help of `prove` called --expect repeatable, and `prove` refused a second one."""
    for option in command.params:
        if isinstance(option, click.Option):
            once = (words, option.name) == (("prove",), "expect")
            assert ("repeatable" in option.help) == (option.multiple and not once), option.name
            assert ("only one per command" in option.help) == once
    if words == ("prove",):
        asked = ["--on", "ccac, buffer 1 bdp", *(f"--expect=queue <= {size} bdp" for size in (4, 5))]
        assert "expected it once" in run(*words, "aimd", *asked)[2]
