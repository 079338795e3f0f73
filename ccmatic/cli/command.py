"""Commands whose help contains an example, and which accept old spellings of their options for one more version."""

from functools import partial
from pathlib import Path

import click

from ccmatic.base import definitions

#: The new spelling of each old spelling, by command.
OLD = {
    "attack": {"--on": "--against"},
    "tradeoff": {"--from": "--initial-rate", "--up-to": "--final-rate"},
    "verify": {"--save": "--out"},
    "worst": {"--save": "--out"},
}

#: Options that now take a FILE, by command. Without FILE, as in the old spelling, each result's file is beside it.
FLAGS = {"verify": ("--plot",)}

#: The value that such an option has without a FILE.
BESIDE = ""


def current(command, arguments):
    """Return the words after the name of a command in the current spelling.

    For each old spelling, print the new one.
    """
    old, flags = OLD.get(command, {}), FLAGS.get(command, ())
    words = [*arguments]
    end = words.index("--") if "--" in words else len(words)
    for place, word in enumerate(words[:end]):
        name, equals, value = word.partition("=")
        if name in old:
            _hint(name, old[name])
            words[place] = f"{old[name]}{equals}{value}"
        elif word in flags and not _is_file(words[place + 1 : place + 2]):
            _hint(word, f"{word} FILE")
            words[place] = f"{word}={BESIDE}"
    return words


def _is_file(words):
    """Return whether the word after an option is the option's file: neither another option nor a controller."""
    if not words or words[0].startswith("-"):
        return False
    is_shipped = any(words[0] in definitions.shipped(folder) for folder in definitions.CONTROLLERS)
    return not is_shipped and Path(words[0]).suffix not in (".py", ".onnx")


def _hint(old, new):
    click.echo(f"ccmatic: {old} is now spelled {new}; the old spelling works in this version only", err=True)


class Command(click.Command):
    """A command with an example: a command line that can be run. Each line except the last one ends in a backslash."""

    def __init__(self, *arguments, example, **settings):
        super().__init__(*arguments, **settings)
        self.example = example.strip()

    def format_help_text(self, context, formatter):
        super().format_help_text(context, formatter)
        with formatter.section("Example"):
            for line in self.example.splitlines():
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")

    def parse_args(self, context, arguments):
        return super().parse_args(context, current(self.name, arguments))


command = partial(click.command, cls=Command)
