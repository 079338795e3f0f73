"""Commands whose help contains an example, and which accept old spellings of their options."""

from functools import partial

import click

from ccmatic.cli import spellings


class Command(click.Command):
    """A command with an example.

    Args:
        example: A command line that can be run. Each line except the last one ends in a backslash.
    """

    def __init__(self, *arguments, example, **settings):
        super().__init__(*arguments, **settings)
        self.example = example.strip()

    def format_help_text(self, context, formatter):
        """Write the description, and then the example in the form in which a user types it."""
        super().format_help_text(context, formatter)
        with formatter.section("Example"):
            for line in self.example.splitlines():
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")

    def parse_args(self, context, arguments):
        """Parse the arguments, which may contain old spellings."""
        return super().parse_args(context, spellings.current(self.name, arguments))


command = partial(click.command, cls=Command)
