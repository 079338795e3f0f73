"""Commands whose help has an example, and which accept the old spellings of their options."""

from functools import partial

import click

from ccmatic.cli import spellings


class Command(click.Command):
    """A command with an example.

    Args:
        example: A command line that runs; a backslash ends each line but the last.
    """

    def __init__(self, *arguments, example, **settings):
        super().__init__(*arguments, **settings)
        self.example = example.strip()

    def format_help_text(self, context, formatter):
        """Write the description, then the example as a user types it."""
        super().format_help_text(context, formatter)
        with formatter.section("Example"):
            for line in self.example.splitlines():
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")

    def parse_args(self, context, arguments):
        """Parse arguments, including old spellings."""
        return super().parse_args(context, spellings.current(self.name, arguments))


command = partial(click.command, cls=Command)
